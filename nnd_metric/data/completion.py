"""Complete pairs: check them, and add missing ids and a digest of the contents of each row."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, repeat
from operator import itemgetter
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from nnd.schemas import ScoringError, StoredContext

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
"""Column of ids → the columns whose texts are hashed for a missing id."""

_TEXTS = (pl.String, pl.Categorical, pl.Enum)
_FACTS = pl.List(pl.Struct({"key": pl.String, "value": pl.String}))

_ENTRY = itemgetter("key", "value")

Digests: TypeAlias = npt.NDArray[np.uint32]
"""SHA-256 of everything that a template can render, for each pair: uint32 [pairs, 8]."""


class Complete(NamedTuple):
    """Pairs with all columns of `PairSet.pairs`, and a digest of the contents of each row."""

    pairs: pl.DataFrame
    digests: Digests


def complete_pairs(frame: pl.DataFrame, name: str) -> Complete:
    """Return pairs with their missing columns added, ids included; errors name the data.

    The frame has at least context, candidate_high and candidate_low.
    """
    check_columns(frame, REQUIRED, name)
    frame = _with_texts(frame, name)
    for column in REQUIRED:
        _check_texts(frame, column, name)
    for column in frame.columns:
        _check_nul(frame[column], name)
    pairs = frame.with_columns(
        pl.lit(None, pl.String).alias(c)
        for c in (*OPTIONAL, *IDS, "origin")
        if c not in frame.columns
    )
    for column, read in _ID_OF.items():
        if pairs[column].null_count():
            texts = _told_apart(pairs) if column == "context_id" else pairs
            ids = pl.Series(_text_digests(texts, read), dtype=pl.String)
            pairs = pairs.with_columns(pl.coalesce(column, ids).alias(column))
    rows = (
        hashlib.sha256(f"{digest} {inputs}".encode()).digest()
        for digest, inputs in zip(
            _text_digests(pairs, _READ), _as_json(parts_of(pairs)), strict=True
        )
    )
    return Complete(pairs, np.frombuffer(b"".join(rows), dtype="<u4").reshape(-1, 8))


def has_contexts(pairs: pl.DataFrame) -> bool:
    """Whether any context is more than an empty text."""
    return bool((pairs["context"].str.strip_chars() != "").any()) or pairs.is_empty()


def _told_apart(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return pairs with a text in place of every blank context: its parts, else both candidates.

    So a pair without a context is a cluster of its own.
    """
    blank = pairs["context"].str.strip_chars() == ""
    if not blank.any():
        return pairs
    parts = [
        json.dumps(each, sort_keys=True) if each and "".join(each.values()).strip() else None
        for each in parts_of(pairs)
    ]
    candidates = pl.concat_str("candidate_high", "candidate_low", separator="\x00")
    own = pl.coalesce(pl.Series(parts, dtype=pl.String), candidates)
    return pairs.with_columns(context=pl.when(blank).then(own).otherwise("context"))


def sum_digests(digests: Digests) -> int:
    """Return the sum of digests as whole numbers, so that the sums of parts add up."""
    words = digests.sum(axis=0, dtype=np.uint64)
    return sum(int(word) << 32 * place for place, word in enumerate(words))


def version_of(digest: int) -> str:
    """Return a sum of digests as a `PairSet.version`: modulo 2^256, in hexadecimal digits."""
    return f"{digest % 2**256:064x}"


def parts_of(pairs: pl.DataFrame) -> list[dict[str, str] | None]:
    """Return the parts of every pair's context by name, or None if it has none.

    `inputs` may hold lists of {key, value}, as stored, or objects. Null parts count as missing,
    because in a table every object has the keys of all.
    """
    if "inputs" not in pairs.columns:
        return [None] * pairs.height
    parts_of_rows: list[dict[str, str] | None] = []
    before, parts = None, None
    for (value,) in pairs.select("inputs").iter_rows():
        if value != before:  # adjacent rows are mostly of one context
            before, parts = value, None
            if value is not None:
                entries = value.items() if isinstance(value, Mapping) else map(_ENTRY, value)
                parts = {key: text for key, text in entries if text is not None}
        parts_of_rows.append(parts)
    return parts_of_rows


def contexts_of(pairs: pl.DataFrame) -> list[StoredContext]:
    """Return the context of every pair; adjacent pairs of one context share one object.

    The language of a context, of translations, is a column `context_language` or, in converted
    data, the fact of this name in `metadata`.
    """
    columns = [c for c in ("category", "language") if pairs.schema.get(c) in _TEXTS]
    kinds = pairs.select(pl.col(columns).cast(pl.String)).iter_rows() if columns else repeat(())
    contexts: list[StoredContext] = []
    both = zip(_texts_in(pairs, "language"), context_languages(pairs), strict=True)
    rows = zip(pairs["context"], parts_of(pairs), both, kinds, strict=False)
    for text, parts, languages, of_pair in rows:
        known = tuple(kind for kind in of_pair if kind is not None)
        context = StoredContext(text, parts, known, *languages)
        contexts.append(contexts[-1] if contexts and contexts[-1] == context else context)
    return contexts


def context_languages(pairs: pl.DataFrame) -> pl.Series:
    """Return the language of the context of each pair, null if it is unknown."""
    if (
        pairs.schema.get("context_language") not in _TEXTS
        and pairs.schema.get("metadata") == _FACTS
    ):
        entry = pl.element().filter(pl.element().struct.field("key") == "context_language")
        return pairs["metadata"].list.eval(entry.struct["value"]).list.first()
    return _texts_in(pairs, "context_language")


def _texts_in(pairs: pl.DataFrame, name: str) -> pl.Series:
    """Return a column, in which texts that are empty are null, as are all if there is none."""
    if pairs.schema.get(name) in _TEXTS:
        return pairs[name].cast(pl.String).replace("", None)
    return pl.repeat(None, pairs.height, dtype=pl.String, eager=True)


def _as_json(parts: Iterable[Mapping[str, str] | None]) -> Iterator[str]:
    """Yield the parts of each context as JSON; equal neighbours are converted once."""
    before, text = None, "null"
    for entry in parts:
        if entry is not before:
            before, text = entry, "null" if entry is None else json.dumps(entry, sort_keys=True)
        yield text


def _with_texts(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """Convert categorical columns, columns of nulls and numeric keys to text."""
    keys = [column for column in (*OPTIONAL, *IDS) if column in frame.columns]
    nested = [column for column in keys if frame[column].dtype.is_nested()]
    if nested:
        raise ScoringError(
            "column.wrong-type", f"column {nested[0]} is {frame[nested[0]].dtype}", name
        )
    numbers = [column for column in keys if frame[column].dtype.is_float()]
    unknown = [column for column in numbers if frame[column].is_nan().any()]
    if unknown:
        where = f"{name}: row {frame[unknown[0]].is_nan().arg_max()}"
        raise ScoringError("cell.not-text", f"{unknown[0]} is NaN", where, "leave it empty")
    texts = [c for c in REQUIRED if frame[c].dtype in (pl.Categorical, pl.Enum, pl.Null)]
    return frame.with_columns(pl.col([*keys, *texts]).cast(pl.String))


def _text_digests(frame: pl.DataFrame, columns: Sequence[str]) -> Iterator[str]:
    """Yield a digest of 16 hexadecimal digits per row, of the texts in some columns.

    The first text, usually a context, is long and the same in many adjacent rows, so it is hashed
    once for all of them.
    """
    first, *others = columns
    texts = [pl.lit("\x00") + pl.col(name).fill_null("") for name in others]
    joined = pl.concat_str(pl.lit(""), *texts).cast(pl.Binary)
    rest = iter(frame.select(first, rest=joined)["rest"])
    for rows, text in frame[first].rle().struct.unnest().iter_rows():
        prefix = hashlib.sha256(text.encode())
        for others_of_row in islice(rest, rows):
            digest = prefix.copy()
            digest.update(others_of_row)
            yield digest.hexdigest()[:16]


def check_columns(frame: pl.DataFrame, columns: Sequence[str], name: str) -> None:
    """Check that no column is missing."""
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise ScoringError(
            "column.missing",
            f"column {', '.join(missing)} is missing",
            name,
            f"the columns are {', '.join(frame.columns)}",
        )


def _check_texts(frame: pl.DataFrame, column: str, name: str) -> None:
    if frame[column].dtype != pl.String:
        raise ScoringError("column.wrong-type", f"column {column} is {frame[column].dtype}", name)
    if frame[column].null_count():
        row = int(frame[column].is_null().arg_max() or 0)
        raise ScoringError("cell.null", f"{column} is null", f"{name}: row {row}")


def _check_nul(column: pl.Series, name: str) -> None:
    """Check that no text has NUL, which separates texts that are hashed."""
    if column.dtype != pl.String or not column.str.contains("\0", literal=True).any():
        return
    row = column.str.contains("\0", literal=True).arg_max()
    what = f"{column.name} has NUL, which is not a character"
    raise ScoringError("cell.not-text", what, f"{name}: row {row}")
