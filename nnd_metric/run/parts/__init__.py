"""Parts of a run: planned once, scored by independent workers, and merged."""
