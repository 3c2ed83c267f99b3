"""Tables that need no Python: the `table` section of a source.yaml maps their columns."""
