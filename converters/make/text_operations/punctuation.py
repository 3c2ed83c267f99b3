"""Removing final punctuation."""

from random import Random

_MARKS = ".?!。！？"  # noqa: RUF001 - full-width marks end sentences too


def drop_final(text: str, _random: Random) -> str:
    """Return a text without the final marks that end sentences; white space stays."""
    body = text.rstrip()
    return body.rstrip(_MARKS) + text[len(body) :]
