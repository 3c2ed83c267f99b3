"""Templates of data cards and of the metric card, and the offline card linter."""
