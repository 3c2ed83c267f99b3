"""Pairs that contradict each other, as where raters disagree, and what no model can pass."""

import itertools
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from nnd.schemas import CONTEXT, DISTINCT

_MOST_TEXTS = 16
"""Texts whose rankings are all compared; the work doubles with each."""


class Contradictions(NamedTuple):
    """How far the pairs of a source contradict each other.

    Attributes:
        both_directions: Distinct (high, low) whose reverse is a pair as well.
        highest_pass_rate: The largest share of the distinct (high, low) that any log-likelihoods
            can pass, 1 where nothing is contradictory; None where there is no pair.
    """

    both_directions: int
    highest_pass_rate: float | None


def find_contradictions(pairs: pl.DataFrame) -> Contradictions:
    """Find pairs in both directions, and the highest pass rate that is possible.

    Log-likelihoods rank the texts of a context, so the tests that fail at least are a minimum
    feedback arc set of the graph with an edge from each better text to the worse. Cycles lie within
    strongly connected components; in each, dynamic programming over its subsets finds the minimum
    (Held and Karp 1962; Lawler 1964). In components of more than 16 texts only the texts that are
    compared in both directions are counted, so that the true maximum may be lower.

    Args:
        pairs: Rows of the pair schema.
    """
    tests = pairs.unique(DISTINCT).select(*DISTINCT, "candidate_high", "candidate_low")
    if tests.is_empty():
        return Contradictions(0, None)
    turned = tests.select(*CONTEXT, high_id="low_id", low_id="high_id")
    both = tests.join(turned, on=DISTINCT, how="semi").height
    return Contradictions(both, (tests.height - _failures(tests)) / tests.height)


def _failures(tests: pl.DataFrame) -> int:
    """Return how many tests fail under the best log-likelihoods."""
    sides = [tests.select(*CONTEXT, text=f"candidate_{side}") for side in ("high", "low")]
    texts = pl.concat(sides).unique().with_row_index("node")
    key = [*CONTEXT, "text"]
    high, low = (
        side.join(texts, on=key, maintain_order="left")["node"].to_numpy() for side in sides
    )
    shape = (texts.height, texts.height)
    graph = csr_array((np.ones(len(high), np.int64), (high, low)), shape=shape)  # sums duplicates
    _, component = connected_components(graph, connection="strong")
    same_text = int((high == low).sum())
    members = np.argsort(component, kind="stable")
    sizes = np.bincount(component)
    ends = np.cumsum(sizes)
    return same_text + sum(
        _fewest_backward(graph[nodes][:, nodes].toarray())
        for number in np.flatnonzero(sizes > 1)
        for nodes in [members[ends[number] - sizes[number] : ends[number]]]
    )


def _fewest_backward(better: np.ndarray) -> int:
    """Return the smallest sum of `better[i, j]` over i ranked below j, of all rankings."""
    n = len(better)
    if n > _MOST_TEXTS:
        return int(np.triu(np.minimum(better, better.T), 1).sum())
    sets = np.arange(2**n)
    holds = (sets[:, None] >> np.arange(n)) & 1
    cost = holds @ better.T  # of ranking text v right below the set
    fewest = np.full(2**n, np.iinfo(np.int64).max)
    fewest[0] = 0
    size = holds.sum(axis=1)
    for height, v in itertools.product(range(n), range(n)):
        tops = np.flatnonzero((size == height) & (holds[:, v] == 0))
        grown = tops | (1 << v)
        fewest[grown] = np.minimum(fewest[grown], fewest[tops] + cost[tops, v])
    return int(fewest[-1])
