"""A few example pairs or annotations, with the differing words marked."""
