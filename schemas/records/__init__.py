"""What is stored is described once, by records: frozen dataclasses whose types have marks."""
