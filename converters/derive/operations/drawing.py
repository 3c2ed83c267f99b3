"""Which of several things an operation changes: each with the same probability."""

import math
from collections.abc import Iterator
from random import Random


def draw(n: int, rate: float, random: Random) -> Iterator[int]:
    """Yield which of n things are drawn, each with probability `rate` and on its own.

    The number of things passed over before the next is drawn is geometric, so only those that are
    drawn cost a random number: L. Devroye (1986), Non-uniform random variate generation, ch. X.2.

    Args:
        n: How many things there are.
        rate: Probability, from 0 to 1.
        random: Source of randomness.
    """
    if rate >= 1:
        yield from range(n)
        return
    if rate <= 0:
        return
    scale, at = math.log1p(-rate), -1
    while (passed := math.log(1 - random.random()) / scale) < n - at - 1:
        at += 1 + int(passed)
        yield at
