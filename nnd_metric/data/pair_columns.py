"""Pairs passed as columns, the form of input to metrics of `evaluate`."""

from collections.abc import Mapping, Sized
from typing import Any

import polars as pl

from nnd.metric.data.any_frames import frame_of_lists
from nnd.metric.data.completion import IDS, OPTIONAL, REQUIRED
from nnd.schemas import ScoringError

FEATURES = (*REQUIRED, "error_category")
"""The columns that `add` and `add_batch` take."""

_UNUSED = (
    "source",
    "language",
    "context_language",
    "system_high",
    "system_low",
    "label_high",
    "margin",
    "origin",
    "parent_id",
    "group",
    "metadata",
)

COLUMNS = frozenset((*REQUIRED, *OPTIONAL, *IDS, "inputs", *_UNUSED))
"""All columns of a pair that can be passed."""


def frame_of(columns: Mapping[str, Any]) -> pl.DataFrame:
    """Return pairs given as lists, arrays or lazy columns of a Dataset, by name, as a frame.

    `inputs` may hold an object per row, or a list of {key, value}. An empty error category counts
    as missing.
    """
    check_required(columns)
    lists: dict[str, list[Any]] = {}
    for name, values in columns.items():
        if isinstance(values, str | Mapping) or not isinstance(values, Sized):
            raise ScoringError(
                "data.not-a-dataset",
                f"{name} is {type(values).__name__}",
                remedy="give a list, one entry per pair",
            )
        lists[name] = list(values)  # type: ignore[call-overload]
    lengths = {name: len(values) for name, values in lists.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ScoringError(
            "data.not-a-dataset",
            f"the columns differ in length: {listed}",
            remedy="give one entry per pair in each",
        )
    if "error_category" in lists:
        lists["error_category"] = [label or None for label in lists["error_category"]]
    return frame_of_lists(lists)


def check_required(columns: Mapping[str, Any]) -> None:
    """Check that no required column is missing."""
    missing = [name for name in REQUIRED if columns.get(name) is None]
    if missing:
        raise ScoringError(
            "column.missing",
            f"{missing[0]} is missing",
            remedy=f"pass {', '.join(REQUIRED)} together",
        )
