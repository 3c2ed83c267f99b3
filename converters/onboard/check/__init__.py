"""Checking a source as a reviewer would."""
