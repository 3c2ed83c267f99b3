"""Bytes to records: text, JSON, delimited tables, workbooks, archives, Parquet, YAML."""
