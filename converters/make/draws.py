"""Random draws for a text, which depend on its id and not on the order of rows."""

from hashlib import sha256
from random import Random


def random_of(seed: int, split: str, name: str, operation: str, variant: int) -> Random:
    """Return the random generator for a text.

    Args:
        seed: Seed of all draws.
        split: Split of the text.
        name: Id of the context or candidate.
        operation: Name of the operation.
        variant: Number of the variant.
    """
    key = (seed, split, name, operation, variant)
    return Random(sha256("\x00".join(map(str, key)).encode()).digest())  # noqa: S311 - no secret
