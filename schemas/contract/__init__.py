"""What files must be: JSON Schemas, checks, keys and quality rules."""
