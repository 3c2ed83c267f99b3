"""Odd or private parts of texts: reports, normalisation and redaction."""
