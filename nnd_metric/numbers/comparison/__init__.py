"""Models compared on the pairs that all of them were scored on."""
