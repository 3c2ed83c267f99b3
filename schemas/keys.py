"""The columns that tell tests apart."""

DISTINCT = ("split", "context_id", "high_id", "low_id")
"""Two candidates that differ by several error categories make several pairs, and are one test."""
