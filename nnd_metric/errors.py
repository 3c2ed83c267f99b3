"""The one error of this room: a problem with the model, the data or an option of a scoring run."""


class ScoringError(ValueError):
    """Says what is wrong, where, and what to do; the command prints it and exits with 2."""
