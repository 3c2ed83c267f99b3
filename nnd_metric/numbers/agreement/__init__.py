"""Agreement of pass rates with human scores."""
