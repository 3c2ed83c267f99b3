"""What scoring costs, known before it starts: tokens, operations, memory and time."""
