"""The effect of choices on verdicts: the same pairs under other protocols, dtypes and texts."""
