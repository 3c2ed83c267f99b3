"""Pairs made complete: checked, with an id for each row, and a digest of what it says."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from nnd.schemas import ScoringError

REQUIRED = ("context", "candidate_high", "candidate_low")
OPTIONAL = ("split", "aspect", "category", "error_category", "error_group")
IDS = ("context_id", "high_id", "low_id", "pair_id", "cluster")

_READ = (*REQUIRED, "aspect", "error_category")
_ID_OF = {
    "context_id": ("context",),
    "high_id": ("candidate_high",),
    "low_id": ("candidate_low",),
    "pair_id": _READ,
}
"""Column of ids → the columns whose texts make an id where there is none."""

Digests: TypeAlias = npt.NDArray[np.uint32]
"""A SHA-256 for each pair, uint32 [pairs, 8], of all that a template can render of it."""


class Complete(NamedTuple):
    """Pairs with all columns that the metric reads.

    Attributes:
        pairs: The columns of `PairSet.pairs`.
        digests: What each row says.
    """

    pairs: pl.DataFrame
    digests: Digests


def complete_pairs(frame: pl.DataFrame, name: str) -> Complete:
    """Return pairs with the columns that they lack, ids among them.

    Args:
        frame: At least context, candidate_high and candidate_low.
        name: What errors call the data.

    Raises:
        ScoringError: If a column is missing or of another kind, or a text is null.
    """
    check_columns(frame, REQUIRED, name)
    frame = _with_texts(frame, name)
    for column in REQUIRED:
        _check_texts(frame, column, name)
    pairs = frame.with_columns(
        pl.lit(None, pl.String).alias(c)
        for c in (*OPTIONAL, *IDS, "origin")
        if c not in frame.columns
    )
    for column, read in _ID_OF.items():
        if pairs[column].null_count():
            ids = _text_digests(pairs, read)
            pairs = pairs.with_columns(pl.coalesce(column, ids).alias(column))
    return Complete(pairs, _row_digests(_text_digests(pairs, _READ), parts_of(pairs)))


def sum_digests(digests: Digests) -> int:
    """Return the sum of some digests: that of parts of the data, added up, is that of the whole."""
    words = digests.sum(axis=0, dtype=np.uint64)
    return sum(int(word) << 32 * place for place, word in enumerate(words))


def version_of(digest: int) -> str:
    """Return a sum of digests as `PairSet.version` has it: modulo 2^256, in hex digits."""
    return f"{digest % 2**256:064x}"


def parts_of(pairs: pl.DataFrame) -> list[dict[str, str] | None]:
    """Return the parts of every pair's context by name, or None where there are none.

    `inputs` may hold lists of {key, value}, as stored, or objects. Parts that are null are none: a
    table gives every object the keys of all.
    """
    if "inputs" not in pairs.columns:
        return [None] * pairs.height
    return [None if value is None else _parts(value) for value in pairs["inputs"]]


def _parts(value: Any) -> dict[str, str]:  # noqa: ANN401 - as stored, or as JSON rows
    entries = value if isinstance(value, Mapping) else {e["key"]: e["value"] for e in value}
    return {key: text for key, text in entries.items() if text is not None}


def _row_digests(texts: pl.Series, parts: Sequence[Mapping[str, str] | None]) -> Digests:
    said = ("null" if part is None else json.dumps(part, sort_keys=True) for part in parts)
    rows = (
        hashlib.sha256(f"{digest} {inputs}".encode()).digest()
        for digest, inputs in zip(texts, said, strict=True)
    )
    return np.frombuffer(b"".join(rows), dtype="<u4").reshape(-1, 8)


def _with_texts(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """Make text of what stands for it: categories, columns of nulls, keys that are numbers."""
    keys = [column for column in (*OPTIONAL, *IDS) if column in frame.columns]
    nested = [column for column in keys if frame[column].dtype.is_nested()]
    if nested:
        raise ScoringError(
            f"{name}: column {nested[0]} is {frame[nested[0]].dtype}; it must be text"
        )
    texts = [c for c in REQUIRED if frame[c].dtype in (pl.Categorical, pl.Enum, pl.Null)]
    return frame.with_columns(pl.col([*keys, *texts]).cast(pl.String))


def _text_digests(frame: pl.DataFrame, columns: Sequence[str]) -> pl.Series:
    """Return 16 hex digits per row that stand for the texts in some columns."""
    rows = frame.select(columns)
    distinct = rows.unique()  # a context has many pairs
    digests = [
        hashlib.sha256("\x00".join(row).encode()).hexdigest()[:16]
        for row in distinct.fill_null("").iter_rows()
    ]
    known = distinct.with_columns(pl.Series("digest", digests, dtype=pl.String))
    return rows.join(known, on=[*columns], how="left", nulls_equal=True, maintain_order="left")[
        "digest"
    ]


def check_columns(frame: pl.DataFrame, columns: Sequence[str], name: str) -> None:
    """Check that no column is missing.

    Raises:
        ScoringError: If one is.
    """
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise ScoringError(
            f"{name}: column {', '.join(missing)} is missing; there are {', '.join(frame.columns)}"
        )


def _check_texts(frame: pl.DataFrame, column: str, name: str) -> None:
    if frame[column].dtype != pl.String:
        raise ScoringError(f"{name}: column {column} is {frame[column].dtype}; it must be text")
    if frame[column].null_count():
        row = int(frame[column].is_null().arg_max() or 0)
        raise ScoringError(f"{name}: row {row}: {column} is null; leave the row out")
