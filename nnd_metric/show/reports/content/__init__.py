"""What a report shows, gathered from stored runs."""
