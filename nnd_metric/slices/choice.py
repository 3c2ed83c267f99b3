"""Which slices are looked at: those of axes and conditions, or what these have in common."""

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from nnd.metric.slices.axes import LABELS, read_axes
from nnd.metric.slices.conditions import combine, where_true
from nnd.metric.slices.naming import NamedSlice, find_slices
from nnd.metric.slices.values import parts_in
from nnd.schemas import ScoringError

_TRIED = (
    *LABELS,
    *("length", "length:high", "sentences", "turns", "candidates", "novelty", "novelty:low"),
    *("nearness", "nearness:lengths", "margin", "agreement", "shape:high"),
)
"""Axes that are tried where none is named."""


class Sliced(NamedTuple):
    """What is sliced.

    Attributes:
        pairs: The pairs, with whatever the data says of them.
        annotations: What they were made of, or None.
    """

    pairs: pl.DataFrame
    annotations: pl.DataFrame | None


def choose_slices(
    of: Sliced, by: Sequence[str], where: Sequence[str], names: Sequence[str]
) -> list[NamedSlice]:
    """Return the slices that were asked for.

    Args:
        of: The pairs.
        by: Axes (`axes.read_axes`).
        where: SQL conditions.
        names: Names of slices of these, or several that signs join (`conditions.combine`); none
            means all of them.

    Raises:
        ScoringError: If nothing is asked for, or something that is not there.
    """
    if not by and not where:
        raise ScoringError(
            "there is nothing to slice by; name an axis (--by length), a condition (--where), or "
            "let slices be found (--find)"
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
        raise ScoringError(f'--where "{condition}": is true of no pair, so the slice is empty')
    return NamedSlice("where", condition, members)


def slices_to_try(of: Sliced) -> list[NamedSlice]:
    """Return the slices of every axis that these pairs have values on; equal ones once."""
    parts = {name for each in parts_in(of.pairs) for name in each}
    found: list[NamedSlice] = []
    for axis in (*_TRIED, *sorted(parts)):
        try:
            found += find_slices(of.pairs, read_axes([axis]), of.annotations)
        except ScoringError:  # it has no values here, or too many
            continue
    return distinct_slices(found)


def distinct_slices(slices: Sequence[NamedSlice]) -> list[NamedSlice]:
    """Return the slices without those that hold the same pairs as one before them."""
    first: dict[bytes, NamedSlice] = {}
    for each in slices:
        first.setdefault(each.members.tobytes(), each)
    return [*first.values()]
