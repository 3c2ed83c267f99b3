"""The difference of two rates of different tests, from the interval of each.

    low  = d - sqrt((a - low_a)^2 + (high_b - b)^2)
    high = d + sqrt((high_a - a)^2 + (b - low_b)^2)        with d = a - b

R. G. Newcombe (1998), Interval estimation for the difference between independent proportions:
comparison of eleven methods, Statistics in Medicine 17, 873-890, method 10, there with Wilson's
intervals; G. Y. Zou and A. Donner (2008), Statistics in Medicine 27, 1693-1702, show that the
intervals may be others. Tests of one context may be on both sides: they then vary together, and the
interval is wider than it need be, never narrower.
"""

import math

from nnd.metric.statistics.intervals import Interval


def unpaired_interval(
    a: float, interval_a: Interval | None, b: float, interval_b: Interval | None
) -> Interval | None:
    """Return the interval of a - b; None where a rate has no interval.

    Args:
        a: The first rate.
        interval_a: Its interval.
        b: The second rate.
        interval_b: Its interval.
    """
    if interval_a is None or interval_b is None:
        return None
    (low_a, high_a), (low_b, high_b) = interval_a, interval_b
    below = math.hypot(a - low_a, high_b - b)
    above = math.hypot(high_a - a, b - low_b)
    return a - b - below, a - b + above
