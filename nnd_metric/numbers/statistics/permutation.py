"""Permutation p-values: how often does chance give as strong a correlation of two scores?

If pass rates were unrelated to human scores, the human scores could be exchanged between systems.
So they are permuted, the statistic is computed for each permutation, and

    p = share of the permutations with |statistic| >= |observed statistic|

is two-sided, and valid for every statistic, with ties, and without an assumption about the
distribution (Fisher 1935, The design of experiments, section 21). For up to `EXACT_UP_TO` systems,
all n! permutations are used, including the observed one: p is exact, and at least 1 / n!, so three
systems can never be significant at the 5 % level. For more systems, `RANDOM_ORDERS` permutations
are drawn, of which b have such a statistic, and p = (b + 1) / (RANDOM_ORDERS + 1), which is never 0
(Phipson and Smyth 2010, Permutation p-values should never be zero, Statistical Applications in
Genetics and Molecular Biology 9(1), article 39).

For a mean over categories, all categories use the same permutation, because the human scores of one
system are dependent. The hypothesis is that these systems are interchangeable; contexts and
annotators are fixed.
"""

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from nnd.metric.numbers.statistics.correlations import BATCHED
from nnd.metric.numbers.statistics.intervals import FloatArray

EXACT_UP_TO = 9
"""Largest number of systems for all permutations; 9! = 362,880 take a moment."""

RANDOM_ORDERS = 10_000
"""Number of random permutations for more systems."""

ROUNDING = 1e-10
"""Rounding errors of a statistic are smaller; differences between statistics are rarely so."""

GAPS_AT_ONCE = 200_000
"""Number of differences between systems held in memory, to fit into a processor's cache."""


class Orders(NamedTuple):
    """All permutations of n human scores, or random ones, as `method` says.

    `places` has the place of each system's new score, [permutations, n].
    """

    places: npt.NDArray[np.intp]
    method: Literal["exact", "monte_carlo"]


def make_orders(n: int, *, seed: int = 0) -> Orders:
    """Return all permutations of n systems, or random ones if n exceeds `EXACT_UP_TO`."""
    if n > EXACT_UP_TO:
        unpermuted = np.tile(np.arange(n), (RANDOM_ORDERS, 1))
        return Orders(np.random.default_rng(seed).permuted(unpermuted, axis=1), "monte_carlo")
    places = np.zeros((1, 0), dtype=np.intp)
    for new in range(n):  # insert the next number at every position of every permutation
        grown = [np.insert(places, position, new, axis=1) for position in range(new + 1)]
        places = np.concatenate(grown)
    return Orders(places, "exact")


def statistic_by_chance(
    name: str, x: npt.ArrayLike, y: npt.ArrayLike, orders: Orders
) -> FloatArray:
    """Compute a statistic of x and y, [n], for every permutation of y: [permutations].

    The statistic is one of `correlations.BATCHED`; it is nan if undefined.
    """
    fixed, permuted = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    values = np.empty(len(orders.places))
    step = max(1, GAPS_AT_ONCE // max(1, fixed.size**2))
    for start in range(0, len(values), step):
        places = orders.places[start : start + step]
        values[start : start + step] = BATCHED[name](fixed, permuted[places])
    return values


def permutation_p(
    observed: float, by_chance: FloatArray, method: Literal["exact", "monte_carlo"]
) -> float:
    """Return the two-sided p-value of a statistic: the share of values at least as far from 0.

    `by_chance` has its value for every permutation.
    """
    extreme = int(np.count_nonzero(np.abs(by_chance) >= abs(observed) - ROUNDING))
    if method == "exact":
        return extreme / len(by_chance)
    return (extreme + 1) / (len(by_chance) + 1)
