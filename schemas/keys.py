"""The columns that tell contexts and tests apart."""

CONTEXT = ("split", "context_id")

DISTINCT = (*CONTEXT, "high_id", "low_id")
"""Two candidates that differ by several error categories make several pairs, and are one test."""
