"""A run as one HTML page, and as figures for papers."""
