"""The content of unknown files: objects in levels, and columns of their fields."""
