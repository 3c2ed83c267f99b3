"""Intervals, correlations and significance tests: numbers in, numbers out."""
