"""Pairs that contradict each other, for example if raters disagree, and the best possible rate."""

import itertools
from collections.abc import Iterator

import numpy as np
import polars as pl

from nnd.schemas import CONTEXT, DISTINCT, distinct_in_order

_MOST_TEXTS = 16
"""Most texts whose rankings are all compared; the work doubles with each text."""

_MOST_CELLS = 2**21
"""Most cells of an array, which limits how many components are processed together."""


def find_contradictions(pairs: pl.DataFrame) -> tuple[int, float | None]:
    """Count pairs in both directions, and compute the highest possible pass rate.

    Log-likelihoods rank the texts of a context, so the fewest failing tests are a minimum feedback
    arc set of the graph with an edge from each better text to the worse. Cycles are within strongly
    connected components; in each, dynamic programming over its subsets finds the minimum (Held and
    Karp 1962; Lawler 1964). In components of more than 16 texts only pairs in both directions are
    counted as failures, so the true maximum may be lower.

    The pairs are in the order in which they are stored. Returns the number of distinct (high, low)
    whose reverse is a pair as well, and the largest share of the distinct (high, low) that any
    log-likelihoods can pass; None if there are no pairs.
    """
    tests = distinct_in_order(pairs.select(*DISTINCT, "candidate_high", "candidate_low"))
    if tests.is_empty():
        return 0, None
    n = tests.height
    tests = _within_cycles(tests)
    turned = tests.select(*CONTEXT, high_id="low_id", low_id="high_id")
    both = tests.join(turned, on=DISTINCT, how="semi").height
    return both, (n - _failures(tests)) / n


def _within_cycles(tests: pl.DataFrame) -> pl.DataFrame:
    """Leave out tests of a text that is never better, or never worse: no cycle contains it."""
    for side, other in (("high", "low"), ("low", "high")):
        key = [*CONTEXT, f"candidate_{side}"]
        others = tests.select(*CONTEXT, pl.col(f"candidate_{other}").alias(f"candidate_{side}"))
        tests = tests.join(others, on=key, how="semi")
    return tests


def _failures(tests: pl.DataFrame) -> int:
    """Return the number of tests that fail under the best possible log-likelihoods."""
    if tests.is_empty():
        return 0
    # As slow to import as all else that converts, and most sources have no circle.
    from scipy.sparse import csr_array  # noqa: PLC0415
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    sides = [tests.select(*CONTEXT, text=f"candidate_{side}") for side in ("high", "low")]
    texts = pl.concat(sides).unique().with_row_index("node")
    key = [*CONTEXT, "text"]
    high, low = (
        side.join(texts, on=key, maintain_order="left")["node"].to_numpy() for side in sides
    )
    shape = (texts.height, texts.height)
    graph = csr_array((np.ones(len(high), np.int64), (high, low)), shape=shape)
    _, component = connected_components(graph, connection="strong")
    sizes = np.bincount(component)
    members = np.argsort(component, kind="stable")
    place = np.empty_like(members)  # number of a text within its component
    place[members] = np.arange(len(members)) - (np.cumsum(sizes) - sizes)[component[members]]
    within = (component[high] == component[low]) & (high != low)
    failures = int((high == low).sum())
    for size in np.unique(sizes[sizes > 1]):
        of_size = within & (sizes[component[high]] == size)
        edges = component[high[of_size]], place[high[of_size]], place[low[of_size]]
        failures += sum(map(_fewest_backward, _matrices(*edges, int(size))))
    return failures


def _matrices(
    component: np.ndarray, better: np.ndarray, worse: np.ndarray, size: int
) -> Iterator[np.ndarray]:
    """Yield how many tests have i better than j, for components of one size.

    `component`, `better` and `worse` have a number per test: its component, and the better and the
    worse text within it. The arrays have axes component, i and j, for a limited number of
    components each.
    """
    _, number = np.unique(component, return_inverse=True)
    at_a_time = max(1, _MOST_CELLS // (size * max(size, 2 ** min(size, _MOST_TEXTS))))
    for start in range(0, int(number.max()) + 1, at_a_time):
        chosen = (number >= start) & (number < start + at_a_time)
        shape = (int(number[chosen].max()) + 1 - start, size, size)
        cells = np.ravel_multi_index((number[chosen] - start, better[chosen], worse[chosen]), shape)
        yield np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)


def _fewest_backward(better: np.ndarray) -> int:
    """Return the smallest sum, over all rankings, of `better[i, j]` for i ranked below j.

    The axes are component, i and j; the result is the sum over components.
    """
    n = better.shape[1]
    turned = better.transpose(0, 2, 1)
    if n > _MOST_TEXTS:
        return int(np.triu(np.minimum(better, turned), 1).sum())
    sets = np.arange(2**n)
    holds = (sets[:, None] >> np.arange(n)) & 1
    cost = holds @ turned  # of ranking text v right below the set
    fewest = np.full(cost.shape[:2], np.iinfo(np.int64).max)
    fewest[:, 0] = 0
    size = holds.sum(axis=1)
    for height, v in itertools.product(range(n), range(n)):
        tops = np.flatnonzero((size == height) & (holds[:, v] == 0))
        grown = tops | (1 << v)
        fewest[:, grown] = np.minimum(fewest[:, grown], fewest[:, tops] + cost[:, tops, v])
    return int(fewest[:, -1].sum())
