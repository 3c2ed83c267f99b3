"""A new source from a file: its columns are guessed, its folder is scaffolded."""
