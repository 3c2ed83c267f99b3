"""Annotation files in, NND pairs and human scores out."""
