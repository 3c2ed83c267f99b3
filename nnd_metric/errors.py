"""The errors of this room: a problem with the model, the data or an option of a scoring run."""

_LONGEST_EXCERPT = 60


def excerpt(text: str) -> str:
    """Return as much of a text as a message can show."""
    return text if len(text) <= _LONGEST_EXCERPT else f"{text[:_LONGEST_EXCERPT]}…"


class ScoringError(ValueError):
    """Says what is wrong, where, and what to do; the command prints it and exits with 2."""


class ScoringWarning(UserWarning):
    """The numbers are what was asked for, but something else is not."""


class CandidateError(ScoringError):
    """A candidate that cannot be scored; who knows the pairs can tell whose it is.

    Attributes:
        candidate: Its text, as the engine got it.
    """

    def __init__(self, message: str, candidate: str) -> None:
        super().__init__(message)
        self.candidate = candidate
