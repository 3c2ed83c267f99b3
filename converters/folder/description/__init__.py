"""Descriptions of the texts of pairs: better and worse candidates side by side."""
