"""Suites: the effect of each set on the pass rate of a model."""
