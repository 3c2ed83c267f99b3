"""Drawing which of several things an operation changes, with equal probabilities."""

import math
from collections.abc import Iterator
from random import Random


def draw(n: int, rate: float, random: Random) -> Iterator[int]:
    """Yield which of n things are drawn, each independently with probability `rate`.

    The number of things skipped before the next draw is geometric, so only drawn things cost a
    random number: L. Devroye (1986), Non-uniform random variate generation, ch. X.2.

    Args:
        n: Number of things.
        rate: Probability, from 0 to 1.
        random: Random generator.
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
