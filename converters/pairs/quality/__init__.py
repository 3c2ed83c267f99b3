"""Quality as a partial order: which of two candidates is better, if this is known."""
