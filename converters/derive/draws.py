"""What is drawn for a text: a function of its id, and never of the order of rows."""

from hashlib import sha256
from random import Random


def random_of(seed: int, split: str, name: str, operation: str, variant: int) -> Random:
    """Return the source of randomness of a text.

    Args:
        seed: Seed of all that is drawn.
        split: Split of the text.
        name: Id of the context or candidate.
        operation: What changes the text.
        variant: Number of the variant.
    """
    key = (seed, split, name, operation, variant)
    return Random(sha256("\x00".join(map(str, key)).encode()).digest())  # noqa: S311 - no secret
