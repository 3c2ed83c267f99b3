"""Permutation p-values: could chance pair up human scores and pass rates as well as this?

If pass rates said nothing about the systems, any system's human score could as well be another's.
So the human scores are dealt out again to the same systems, the statistic is computed each
time, and

    p = share of the deals with |statistic| >= |observed statistic|

is two-sided and holds for every statistic, ties and all, without a distribution being assumed
(Fisher 1935, The design of experiments, section 21). Up to `EXACT_UP_TO` systems all n! deals are
made, the observed one among them: p is exact, and never below 1 / n!, so that three systems can
show nothing at 5 %, however well they agree. Above, `RANDOM_DEALS` are drawn, b of them count, and
p = (b + 1) / (RANDOM_DEALS + 1), which is never 0 (Phipson and Smyth 2010, Permutation p-values
should never be zero, Statistical Applications in Genetics and Molecular Biology 9(1), article 39).

For a mean over categories one deal holds for all of them: a system's human scores stay together, as
those of one system are not independent. p is about the systems at hand being interchangeable; the
contexts and the judges are held fixed.
"""

import math
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from nnd.metric.statistics.correlations import BATCHED
from nnd.metric.statistics.intervals import FloatArray

EXACT_UP_TO = 9
"""Systems; 9! = 362,880 deals take a moment."""

RANDOM_DEALS = 10_000

ROUNDING = 1e-10
"""Two ways to add up the same numbers differ by less, two different statistics hardly ever."""

GAPS_AT_ONCE = 200_000
"""Differences of systems held in memory: few enough for a processor's cache."""


class Deals(NamedTuple):
    """Ways to deal out n human scores to n systems.

    Attributes:
        orders: Which score goes to which system, [deals, n].
        method: Whether these are all there are, or drawn at random.
    """

    orders: npt.NDArray[np.intp]
    method: Literal["exact", "monte_carlo"]


def make_deals(n: int, *, seed: int = 0) -> Deals:
    """Return all n! orders of n systems, or random ones where n is above `EXACT_UP_TO`.

    Args:
        n: Systems.
        seed: Seed of `numpy.random.default_rng`; nothing global is touched.
    """
    if n > EXACT_UP_TO:
        straight = np.tile(np.arange(n), (RANDOM_DEALS, 1))
        return Deals(np.random.default_rng(seed).permuted(straight, axis=1), "monte_carlo")
    orders = np.zeros((1, 0), dtype=np.intp)
    for new in range(n):  # every order of the first ones, with the new one in every place
        grown = [np.insert(orders, place, new, axis=1) for place in range(new + 1)]
        orders = np.concatenate(grown)
    return Deals(orders, "exact")


def statistic_by_chance(name: str, x: npt.ArrayLike, y: npt.ArrayLike, deals: Deals) -> FloatArray:
    """Return a statistic of x and y for every deal of y.

    Args:
        name: One of `correlations.BATCHED`.
        x: One score per system, [n].
        y: The other score of the same systems, [n].
        deals: Of n systems.

    Returns:
        The statistic, [deals]; nan where undefined.
    """
    fixed, dealt = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    found = np.empty(len(deals.orders))
    step = max(1, GAPS_AT_ONCE // max(1, fixed.size**2))
    for start in range(0, len(found), step):
        orders = deals.orders[start : start + step]
        found[start : start + step] = BATCHED[name](fixed, dealt[orders])
    return found


def permutation_p(
    observed: float | None, by_chance: FloatArray, method: Literal["exact", "monte_carlo"]
) -> float | None:
    """Return the two-sided p-value of a statistic (module docstring).

    Args:
        observed: The statistic on the scores as they are; None where undefined.
        by_chance: The statistic for every deal, [deals].
        method: How the deals were made.

    Returns:
        A number above 0 and up to 1; None where the statistic is undefined.
    """
    if observed is None or math.isnan(observed):
        return None
    extreme = int(np.count_nonzero(np.abs(by_chance) >= abs(observed) - ROUNDING))
    if method == "exact":
        return extreme / len(by_chance)
    return (extreme + 1) / (len(by_chance) + 1)
