"""The figures: pass rates, their differences, their agreement with human scores."""
