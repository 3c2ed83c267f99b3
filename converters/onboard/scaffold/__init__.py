"""Writing the folder of a new source from a guess."""
