"""The linter of data cards: every count is computed again."""
