"""Tables in memory, from any library, as polars frames."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import polars as pl

from nnd.schemas import ScoringError, has_surrogate

_LARGEST = 2**127 - 1
"""The largest integer of polars."""

if TYPE_CHECKING:
    import datasets


class Dataset(Protocol):
    """A `datasets.Dataset`, or another object with a method `to_polars`."""

    def to_polars(self) -> pl.DataFrame:
        """Return the rows."""


class ArrowTable(Protocol):
    """A pandas DataFrame, or another object with the Arrow stream interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the rows."""


Table: TypeAlias = pl.DataFrame | Dataset | ArrowTable | Sequence[Mapping[str, Any]]

Column: TypeAlias = pl.Series | Sequence[Any]

PairData: TypeAlias = str | Path | Table


def to_frame(data: Any) -> pl.DataFrame:  # noqa: ANN401 - anything a user may hand over
    """Return the rows of a table in memory; the index of a pandas frame is not a column."""
    if isinstance(data, pl.DataFrame):
        return data
    if isinstance(data, Mapping):
        raise ScoringError("data.several-splits", f"the dataset has splits ({', '.join(data)})")
    if hasattr(data, "to_polars"):
        return with_class_names(data.to_polars(), getattr(data, "features", None) or {})
    if isinstance(data, list | tuple) and all(isinstance(row, Mapping) for row in data):
        names = dict.fromkeys(name for row in data for name in row)
        return frame_of_lists({name: [row.get(name) for row in data] for name in names})
    if not hasattr(data, "__arrow_c_stream__"):
        raise ScoringError(
            "data.not-a-dataset",
            f"{type(data).__name__} is not a dataset",
            remedy="pass a folder, a file, ORG/name[@revision] of a dataset on the Hub, a polars "
            "or pandas frame, a datasets.Dataset, or a list of dicts",
        )
    try:
        # In Arrow, the index of a pandas frame is a column, and NaN is a number.
        return pl.from_pandas(data) if _is_pandas(data) else pl.DataFrame(data)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        raise ScoringError(
            "data.not-a-dataset",
            f"the frame cannot be read as a table: {str(error).splitlines()[0]}",
            remedy="give each column values of one type",
        ) from error


def with_class_names(frame: pl.DataFrame, features: Mapping[str, Any]) -> pl.DataFrame:
    """Return the rows of a `datasets.Dataset` with the names of classes in place of their numbers.

    `features` are the dataset's; in a ClassLabel a number outside the names, such as -1, is null.
    """
    named = {name: each.names for name, each in features.items() if hasattr(each, "names")}
    return frame.with_columns(
        pl.col(name).replace_strict(dict(enumerate(names)), default=None, return_dtype=pl.String)
        for name, names in named.items()
        if frame[name].dtype.is_integer()
    )


def to_dataset(frame: pl.DataFrame) -> "datasets.Dataset":
    """Return a frame as a `datasets.Dataset`."""
    import datasets  # noqa: PLC0415 - takes a second

    return datasets.Dataset.from_polars(frame)


def name_of(data: object) -> str:
    """Return the name that a table in memory gets in the results."""
    if isinstance(data, list | tuple):
        return "rows"
    return "dataset" if hasattr(data, "to_polars") else "frame"


def frame_of_lists(columns: Mapping[str, Column]) -> pl.DataFrame:
    """Return columns as a frame; `inputs` may hold an object per row, or a list of {key, value}."""
    lists = dict(columns)
    if isinstance(lists.get("inputs"), list):
        lists["inputs"] = [  # of objects, polars would keep only the keys of the first row
            [{"key": key, "value": value} for key, value in parts.items()]
            if isinstance(parts, Mapping)
            else parts
            for parts in lists["inputs"]
        ]
    check_characters(lists)
    try:
        return pl.DataFrame(lists)
    except OverflowError as error:
        raise _too_large(lists) from error
    except (TypeError, pl.exceptions.PolarsError) as error:
        raise ScoringError(
            "data.not-a-dataset",
            f"the columns do not form a table: {str(error).splitlines()[0]}",
            remedy="give each column values of one type",
        ) from error


def _too_large(columns: Mapping[str, Column]) -> ScoringError:
    """Return the error for an integer that no column can hold, which may be inside a list."""
    found = (
        (f"{name} is too large a number", f"row {row}")
        for name, values in columns.items()
        for row, value in enumerate(values)
        if isinstance(value, int) and abs(value) > _LARGEST
    )
    return ScoringError("cell.not-finite", *next(found, ("a number in a list is too large", "")))


def check_characters(columns: Mapping[str, Column]) -> None:
    """Check that no text contains half a surrogate pair, which is not a character."""
    for name, values in columns.items():
        for row, value in enumerate(values):
            if has_surrogate(_texts_in(value)):
                raise ScoringError(
                    "cell.not-text",
                    f"{name} has half a surrogate pair, which is not a character",
                    f"row {row}",
                    "decode the text again, or leave the row out",
                )


def _texts_in(value: Any) -> str:  # noqa: ANN401 - whatever a column holds
    if isinstance(value, Mapping):
        return "".join(map(_texts_in, (*value, *value.values())))
    if isinstance(value, list | tuple):
        return "".join(map(_texts_in, value))
    return value if isinstance(value, str) else ""


def _is_pandas(data: object) -> bool:
    pandas = sys.modules.get("pandas")  # whoever has a pandas frame has imported pandas
    return pandas is not None and isinstance(data, pandas.DataFrame)
