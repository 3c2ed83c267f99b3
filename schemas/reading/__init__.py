"""Bytes to records: YAML and the metadata of cards."""
