"""Files: written so that a kill leaves the old or the new, found, digested and read."""
