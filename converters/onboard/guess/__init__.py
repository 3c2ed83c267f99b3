"""Guessing what the columns of a file mean."""
