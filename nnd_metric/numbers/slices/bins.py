"""Bins of numbers: half-open intervals [a, b), of which the last is closed.

Edges are numbers, or percentages of the distinct tests: of n values in order, 90% is the one at
place n * 0.9, rounded up and counted from 0. So 90%,100% holds the largest tenth of them, and equal
values are never in two bins. A last edge below 100% is not closed.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from nnd.schemas import ScoringError

_ALL = 100
"""Per cent."""

_LONG = 1e15


class Edge(NamedTuple):
    """An edge as given by the user: a number, or a percentage of the tests."""

    number: Fraction
    is_percentage: bool


Bins: TypeAlias = tuple[tuple[str, ...], npt.NDArray[np.int64]]
"""Names of bins, and the bin of each value, or -1."""


def sort_into(
    values: npt.NDArray[np.float64], edges: Sequence[Edge], distinct: npt.NDArray[np.bool_]
) -> Bins:
    """Sort numbers [n], nan if missing, into half-open bins, of which the last is closed.

    There are at least two edges, in ascending order; `distinct` [n] says whether a value counts for
    percentages.
    """
    known = np.sort(values[distinct & ~np.isnan(values)])
    bounds = [_bound(edge, known) for edge in edges]
    if edges[0].is_percentage:  # equal values would make empty bins
        bounds = [*dict.fromkeys(bounds[:-1]), bounds[-1]]
    closed = not edges[-1].is_percentage or edges[-1].number == _ALL
    places = np.searchsorted(bounds[1:-1], values, side="right").astype(np.int64)
    beyond = values > bounds[-1] if closed else values >= bounds[-1]
    outside = np.isnan(values) | (values < bounds[0]) | beyond
    return _names(bounds, closed=closed), np.where(outside, -1, places)


def _bound(edge: Edge, known: npt.NDArray[np.float64]) -> float:
    if not edge.is_percentage:
        return float(edge.number)
    if not len(known):
        return float("nan")
    place = min(ceil(edge.number * len(known) / 100), len(known) - 1)  # exact
    return float(known[place])


def _names(bounds: Sequence[float], *, closed: bool) -> tuple[str, ...]:
    edges = [
        f"{bound:.0f}" if bound.is_integer() and abs(bound) < _LONG else f"{bound:.4g}"
        for bound in bounds
    ]
    if len({*edges}) < len({*bounds}):  # different edges look different
        edges = [repr(bound) for bound in bounds]
    *others, last = pairwise(edges)
    end = "]" if closed else ")"
    return (*(f"[{a},{b})" for a, b in others), f"[{last[0]},{last[1]}{end}")


def sort_into_tenths(values: npt.NDArray[np.float64]) -> Bins:
    """Sort shares into eleven bins: 0, (0, 0.1], (0.1, 0.2], … (0.9, 1]."""
    bounds = [tenth / 10 for tenth in range(11)]
    names = ("0", *(f"({a:g},{b:g}]" for a, b in pairwise(bounds)))
    places = np.searchsorted(bounds, values, side="left").astype(np.int64)
    return names, np.where(np.isnan(values), -1, places)


def check_edges(edges: Sequence[Edge], where: str) -> None:
    """Check that edges define bins."""
    written = ",".join(
        f"{float(edge.number):g}{'%' if edge.is_percentage else ''}" for edge in edges
    )
    if len(edges) < 2:  # noqa: PLR2004
        raise ScoringError(
            "slice.edges", f"one edge ({written}) does not define a bin", where, "give two or more"
        )
    if len({edge.is_percentage for edge in edges}) > 1:
        raise ScoringError(
            "slice.edges",
            f"{written} mixes numbers and percentages",
            where,
            "give one or the other",
        )
    if any(a.number >= b.number for a, b in pairwise(edges)):
        raise ScoringError(
            "slice.edges",
            f"the edges {written} are not in ascending order",
            where,
            "sort them, and give each once",
        )
    if edges[0].is_percentage and not 0 <= edges[0].number < edges[-1].number <= _ALL:
        raise ScoringError(
            "slice.edges",
            f"the percentages {written} are not between 0 and 100",
            where,
            "correct them",
        )
