"""Chat templates: a context as the turn of a user, the candidate as that of the assistant."""
