"""Tests of significance for two models on the same pairs, and how many pairs one would need.

McNemar's test takes pairs as independent. Pairs of one context are not, so it claims somewhat too
much wherever contexts hold several; the interval over contexts beside it (`differences`) does not.
"""

import math
from collections.abc import Sequence
from statistics import NormalDist

from nnd.schemas import ScoringError

POWER, LEVEL = 0.8, 0.05

_BITS = 512
_LARGE = 1 << 2 * _BITS
"""Binomials from here on lose their last _BITS; what is left of them is exact to 2^-500."""


def mcnemar_exact(only_a: int, only_b: int) -> float:
    """Return the two-sided p-value of McNemar's test, in its exact form.

    Given that two models differ in a test, each is as likely to be the one that passes it: the
    smaller count is binomial (b + c, 1/2), and p is twice its tail, at most 1. Q. McNemar (1947),
    Psychometrika 12(2), 153-157; exact as in Agresti (2013), Categorical data analysis, sec. 11.1.

    Args:
        only_a: b, the tests that only the first model passes.
        only_b: c, the tests that only the second passes.

    Returns:
        The p-value; 1.0 where they differ in no test.

    Raises:
        ScoringError: If a count is below 0.
    """
    if only_a < 0 or only_b < 0:
        raise ScoringError(f"{only_a} and {only_b} discordant tests: counts cannot be below 0")
    n, smaller = only_a + only_b, min(only_a, only_b)
    term = tail = 1
    dropped = 0
    for k in range(smaller):  # whole numbers: nothing is rounded before the division
        term = term * (n - k) // (k + 1)
        tail += term
        if term >= _LARGE:  # so that the time for a term does not grow with their number
            term, tail, dropped = term >> _BITS, tail >> _BITS, dropped + _BITS
    return min(1.0, 2 * tail / (1 << n - dropped))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust p-values of one family of tests, by Holm's step-down method.

    S. Holm (1979), A simple sequentially rejective multiple test procedure, Scandinavian Journal of
    Statistics 6(2), 65-70: the k-th smallest of m, times m - k + 1; never less than one before it,
    and at most 1.

    Args:
        p_values: In any order; None is no test and does not count as one.

    Returns:
        The adjusted p-values in the same order, None where there was none.

    Raises:
        ScoringError: If one is not from 0 to 1.
    """
    tests = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    if any(not 0 <= p <= 1 for p, _ in tests):  # also NaN, which sorting would hide
        raise ScoringError(f"p-values lie from 0 to 1, got {list(p_values)}")
    adjusted: list[float | None] = [None] * len(p_values)
    least = 0.0
    for rank, (p, place) in enumerate(tests):
        least = max(least, min(1.0, p * (len(tests) - rank)))
        adjusted[place] = least
    return adjusted


def pairs_needed(
    discordance: float,
    difference: float,
    *,
    design_effect: float = 1.0,
    power: float = POWER,
    level: float = LEVEL,
) -> int:
    """Return how many pairs show a difference of pass rates with the given power.

    n = (z_level/2 sqrt(psi) + z_power sqrt(psi - delta^2))^2 / delta^2 for independent tests, with
    psi the discordance and delta the difference: R. J. Connor (1987), Sample size for testing
    differences in proportions for the paired-sample design, Biometrics 43(1), 207-211, after
    Miettinen (1968), Biometrics 24(2), 339-352. Times the design effect (Kish 1965, Survey
    sampling, sec. 5.4) where tests come in contexts.

    Args:
        discordance: Share of tests that one model alone passes. A difference needs at least as much
            discordance, so a smaller one is taken for the difference.
        difference: Of the pass rates, between 0 and 1.
        design_effect: Variance of the difference over what independent tests would give; less than
            1, which chance alone brings about easily, is taken for 1.
        power: Chance to find the difference.
        level: Chance to find one where there is none, two-sided.

    Raises:
        ScoringError: If a number is out of its range.
    """
    if not (0 < difference < 1 and 0 <= discordance <= 1 and 0 < power < 1 and 0 < level < 1):
        raise ScoringError(
            f"discordance {discordance}, difference {difference}, power {power}, level {level}: "
            "give shares of 1"
        )
    if not 0 <= design_effect < math.inf:
        raise ScoringError(f"design effect {design_effect}: give a number from 0")
    psi = max(discordance, difference)
    z_level, z_power = (NormalDist().inv_cdf(share) for share in (1 - level / 2, power))
    reach = z_level * math.sqrt(psi) + z_power * math.sqrt(psi - difference**2)
    return math.ceil(max(1.0, design_effect) * reach**2 / difference**2)
