"""Words: errors, short texts, and how results show themselves."""
