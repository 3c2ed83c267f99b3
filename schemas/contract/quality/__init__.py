"""Quality rules of sources, and the human scores that follow from them."""
