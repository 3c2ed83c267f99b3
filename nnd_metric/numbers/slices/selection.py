"""The choice of slices: by axes and conditions, or combinations of these."""

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from nnd.metric.numbers.slices.axes import LABELS, read_axes
from nnd.metric.numbers.slices.axis_values import parts_in
from nnd.metric.numbers.slices.conditions import combine, where_true
from nnd.metric.numbers.slices.named_slices import NamedSlice, find_slices
from nnd.schemas import ScoringError

_TRIED = (
    *LABELS,
    *("length", "length:high", "sentences", "turns", "candidates", "novelty", "novelty:low"),
    *("nearness", "nearness:lengths", "margin", "agreement", "shape:high"),
)
"""Axes that are tried by default."""


class Sliced(NamedTuple):
    """The data to slice.

    Attributes:
        pairs: The pairs, with all columns of the data.
        annotations: The annotations behind the pairs, or None.
    """

    pairs: pl.DataFrame
    annotations: pl.DataFrame | None


def choose_slices(
    of: Sliced, by: Sequence[str], where: Sequence[str], names: Sequence[str]
) -> list[NamedSlice]:
    """Return the requested slices.

    Args:
        of: The data to slice.
        by: Axes (`axes.read_axes`).
        where: SQL conditions.
        names: Names of these slices, or combinations of names (`conditions.combine`); empty means
            all.

    Raises:
        ScoringError: If nothing is requested, or a name is unknown.
    """
    if not by and not where:
        raise ScoringError(
            "no axis was given; name an axis (--by length) or a condition (--where), or search "
            "for slices (--find)"
        )
    found = find_slices(of.pairs, read_axes(by), of.annotations) if by else []
    found += [_of_condition(of, condition) for condition in where]
    if not names:
        return found
    known = {each.name: each for each in found}
    members = {name: each.members for name, each in known.items()}
    return [known.get(name) or NamedSlice("", name, combine(name, members)) for name in names]


def _of_condition(of: Sliced, condition: str) -> NamedSlice:
    members = where_true(of.pairs, condition, of.annotations)
    if not members.any():
        raise ScoringError(
            f'--where "{condition}": no pair meets the condition, so the slice is '
            "empty; change the condition"
        )
    return NamedSlice("where", condition, members)


def slices_to_try(of: Sliced) -> list[NamedSlice]:
    """Return the slices of every axis on which the pairs have values; equal ones once."""
    parts = {name for each in parts_in(of.pairs) for name in each}
    found: list[NamedSlice] = []
    for axis in (*_TRIED, *sorted(parts)):
        try:
            found += find_slices(of.pairs, read_axes([axis]), of.annotations)
        except ScoringError:  # the axis has no values here, or too many
            continue
    return distinct_slices(found)


def distinct_slices(slices: Sequence[NamedSlice]) -> list[NamedSlice]:
    """Return the slices without those that hold the same pairs as an earlier one."""
    first: dict[bytes, NamedSlice] = {}
    for each in slices:
        first.setdefault(each.members.tobytes(), each)
    return [*first.values()]
