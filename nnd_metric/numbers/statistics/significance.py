"""Significance tests for two models on the same pairs, and the number of pairs they need.

McNemar's test treats pairs as independent. Pairs of one context are dependent, so its p-values are
somewhat too small for contexts with several pairs; a verdict therefore also requires the interval
over contexts (`comparison.differences`).
"""

import math
from collections.abc import Sequence
from statistics import NormalDist

POWER, LEVEL = 0.8, 0.05
"""Probability of detecting a difference, and the two-sided significance level."""

_BITS = 512
_LARGE = 1 << 2 * _BITS
"""Larger binomials lose their last _BITS; the rest is precise to 2^-500."""


def mcnemar_exact(only_a: int, only_b: int) -> float:
    """Return the two-sided p-value of McNemar's test, in its exact form.

    Under the null hypothesis, each of two models is equally likely to pass a test that only one of
    them passes: the smaller of the counts b = `only_a` and c = `only_b` has a binomial distribution
    (b + c, 1/2), and p is twice its tail, at most 1, and 1 if both counts are 0. Q. McNemar (1947),
    Psychometrika 12(2), 153-157; exact as in Agresti (2013), Categorical data analysis, sec. 11.1.
    """
    n, smaller = only_a + only_b, min(only_a, only_b)
    term = tail = 1
    dropped = 0
    for k in range(smaller):  # integers: nothing is rounded before the division
        term = term * (n - k) // (k + 1)
        tail += term
        if term >= _LARGE:  # limits the time per term
            term, tail, dropped = term >> _BITS, tail >> _BITS, dropped + _BITS
    return min(1.0, 2 * tail / (1 << n - dropped))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust the p-values of one family of tests by Holm's step-down method, keeping their order.

    S. Holm (1979), A simple sequentially rejective multiple test procedure, Scandinavian Journal of
    Statistics 6(2), 65-70: the k-th smallest of m is multiplied by m - k + 1; the result is at
    least that of the smaller p-values, and at most 1. None does not count as a test, and remains
    None.
    """
    tests = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    least = 0.0
    for rank, (p, place) in enumerate(tests):
        least = max(least, min(1.0, p * (len(tests) - rank)))
        adjusted[place] = least
    return adjusted


def pairs_needed(discordance: float, difference: float, *, design_effect: float = 1.0) -> int:
    """Return the number of pairs that detects a difference of pass rates with POWER at LEVEL.

    For independent tests, n = (z_level/2 sqrt(psi) + z_power sqrt(psi - delta^2))^2 / delta^2,
    where psi is the discordance and delta the difference: R. J. Connor (1987), Sample size for
    testing differences in proportions for the paired-sample design, Biometrics 43(1), 207-211,
    after Miettinen (1968), Biometrics 24(2), 339-352. For tests in contexts, it is multiplied by
    the design effect (Kish 1965, Survey sampling, sec. 5.4).

    Args:
        discordance: Share of tests that only one of the models passes. It cannot be smaller than
            the difference, so a smaller value is replaced by the difference.
        difference: Difference of the pass rates, between 0 and 1.
        design_effect: Variance of the difference divided by that of independent tests. Values below
            1, which are common by chance, are replaced by 1.
    """
    psi = max(discordance, difference)
    z_level, z_power = (NormalDist().inv_cdf(share) for share in (1 - LEVEL / 2, POWER))
    reach = z_level * math.sqrt(psi) + z_power * math.sqrt(psi - difference**2)
    return math.ceil(max(1.0, design_effect) * reach**2 / difference**2)
