"""Slices of pairs: the pairs of each value of an axis, and the name of the slice."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from nnd.metric.numbers.slices.axes import MEASURES, Axis, read_axes
from nnd.metric.numbers.slices.axis_values import names_of, numbers_of
from nnd.metric.numbers.slices.bins import sort_into, sort_into_tenths
from nnd.schemas import DISTINCT, ScoringError, excerpt

MOST_VALUES = 100
"""Largest number of names of an axis; with more, slices would be too small."""

Members = npt.NDArray[np.bool_]


class NamedSlice(NamedTuple):
    """A slice: whether each pair, in the order of the pairs, is in it.

    `axis` is without edges; it is "where" or "" for user-defined slices. `value` is the bin or the
    name.
    """

    axis: str
    value: str
    members: Members

    @property
    def name(self) -> str:
        """The axis and the value: length=[0,10)."""
        return f"{self.axis}={self.value}" if self.axis else self.value


def slice_names(
    pairs: pl.DataFrame, by: str, *, annotations: pl.DataFrame | None = None
) -> pl.DataFrame:
    """Return pair_id and slice: a row for every slice that a pair is in.

    Slices are in the order of the axes and of their values, pairs in their order; empty slices have
    no row. `by` lists axes, separated by commas, as `--by` of `nnd slice` does (`axes`); only the
    axis `agreement` needs the annotations.
    """
    slices = find_slices(pairs, read_axes([by]), annotations)
    rows = [(pair, each.name) for each in slices for pair in pairs["pair_id"].filter(each.members)]
    return pl.DataFrame(rows, {"pair_id": pl.String, "slice": pl.String}, orient="row")


def find_slices(
    pairs: pl.DataFrame, axes: Sequence[Axis], annotations: pl.DataFrame | None = None
) -> list[NamedSlice]:
    """Return the slices of some axes, including empty bins.

    Raises ScoringError if no pair has a value on an axis, or if there are more than MOST_VALUES
    names.
    """
    return [each for axis in axes for each in _find(pairs, axis, annotations)]


def _find(pairs: pl.DataFrame, axis: Axis, annotations: pl.DataFrame | None) -> list[NamedSlice]:
    if axis.edges is None and axis.name not in MEASURES:
        return _by_name(pairs, axis)
    values = numbers_of(axis, pairs, annotations)
    if np.isnan(values).all():
        raise _no_value(axis)
    if axis.edges is None:
        names, places = sort_into_tenths(values)
    else:
        distinct = pairs.select(pl.struct(DISTINCT).is_first_distinct()).to_series().to_numpy()
        names, places = sort_into(values, axis.edges, distinct)
    return [NamedSlice(axis.title, name, places == place) for place, name in enumerate(names)]


def _by_name(pairs: pl.DataFrame, axis: Axis) -> list[NamedSlice]:
    places: dict[str, list[int]] = {}
    for place, names in enumerate(names_of(axis, pairs)):
        for name in names:
            places.setdefault(name, []).append(place)
    if not places:
        raise _no_value(axis)
    if len(places) > MOST_VALUES:
        raise ScoringError(
            "slice.too-many-values",
            f'has {len(places):,} values, such as "{excerpt(min(places))}"',
            f'--by "{axis.title}"',
            f"slice by an axis with at most {MOST_VALUES} values, or by numbers with edges",
        )
    numbers = np.arange(pairs.height)
    return [NamedSlice(axis.title, name, np.isin(numbers, places[name])) for name in sorted(places)]


def _no_value(axis: Axis) -> ScoringError:
    return ScoringError(
        "slice.empty",
        "the pairs have no value on this axis",
        f'--by "{axis.title}"',
        "leave it out",
    )
