"""The form of a text: prose, JSON, a table, key-values, a dialogue, or data inside prose."""
