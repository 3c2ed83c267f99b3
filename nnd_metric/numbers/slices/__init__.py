"""Slices of scored pairs: where models fail, without running them again."""
