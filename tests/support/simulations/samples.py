"""What all simulated statistics share: sizes of contexts, and tests that go together in them."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import stats

from nnd.metric.numbers.statistics.intervals import Interval

Floats: TypeAlias = npt.NDArray[np.float64]
Draw: TypeAlias = Callable[[np.random.Generator, int, float], dict[str, "Found"]]
"""From a generator, a number of contexts (or of systems) and dependence to statistics."""

DEPENDENCE = {"none": 0.0, "medium": 0.3, "strong": 0.8}


class Found(NamedTuple):
    """A statistic of one data set: its true value (nan: the mean of all), value and interval."""

    truth: float
    value: float | None
    interval: Interval | None


def sizes(rng: np.random.Generator, contexts: int) -> npt.NDArray[np.int64]:
    """Return skewed sizes: 1 + geometric, 5 on average, and one in twenty four times as large."""
    drawn = np.minimum(1 + rng.geometric(0.25, contexts), 40)
    return np.where(rng.random(contexts) < 0.05, 4 * drawn, drawn)


def uniform(rng: np.random.Generator, contexts: npt.NDArray[Any], rho: float, n: int) -> Floats:
    """Return n numbers from 0 to 1 for each test; those of a context depend on each other."""
    of_context = rng.normal(size=(contexts.max() + 1, n)) + rng.normal(size=(contexts.max() + 1, 1))
    own = rng.normal(size=(len(contexts), n))
    numbers = math.sqrt(rho / 2) * of_context[contexts] + math.sqrt(1 - rho) * own
    return np.asarray(stats.norm.cdf(numbers))
