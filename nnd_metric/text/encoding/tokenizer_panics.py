"""A tokenizer whose own pattern gives up on a text: an error of the model, in words."""

from collections.abc import Iterator
from contextlib import contextmanager

from nnd.schemas import ScoringError, excerpt

_LONGEST_REASON = 200


@contextmanager
def panics_refused() -> Iterator[None]:
    """Raise ScoringError where the library tokenizers panics, which no `except Exception` catches.

    A pattern of tokenizer.json, such as `(a+)+b`, is stopped by its regular expressions after ten
    million steps.
    """
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        reason = excerpt(" ".join(str(error).split()), _LONGEST_REASON)
        raise ScoringError(
            "model.tokenizer",
            f"the tokenizer gives up on a text: {reason}",
            remedy="use another model, or repair the patterns in its tokenizer.json",
        ) from error
