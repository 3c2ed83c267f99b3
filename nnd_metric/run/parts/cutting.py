"""Cut data into parts of about equal work, a piece at a time.

All pairs of one context go into one part, because a model reads and truncates the context once for
all of them. The work of a context is about the length of its text and of its distinct candidates,
in bytes of UTF-8: no tokenizer is needed, so one plan serves all models. Contexts keep their order:
a part is a contiguous range of the data if equal contexts are adjacent, as in all output of
`nnd convert`.

Only runs of rows with equal contexts are held in memory, never texts.
"""

from math import ceil
from typing import NamedTuple

import polars as pl

from nnd.metric.data import (
    Digests,
    PairStream,
    has_contexts,
    no_pairs,
    sum_digests,
    version_of,
)
from nnd.schemas import have_equal_texts

PARTS = 64
"""Approximate smallest number of parts, if there are enough contexts."""

PART_BYTES = 4_000_000
"""Approximate largest size of a part: a million tokens, a minute of a large model."""

SPANS = pl.Schema(
    {
        "table": pl.String(),
        "part": pl.Int64(),
        "start": pl.Int64(),
        "stop": pl.Int64(),
        "digest": pl.UInt64(),
    }
)
"""Columns of `Cut.spans`: rows from `start` to before `stop` of a table belong to `part`; `digest`
is their `digest_of`."""


class Cut(NamedTuple):
    """Data cut into parts.

    Attributes:
        spans: The part of every row: columns of SPANS, in the order of the rows.
        version: Version of the data (`PairSet.version`).
        equal: Number of pairs with two equal texts, which are in no part.
        has_contexts: Whether any context is more than an empty text.
    """

    spans: pl.DataFrame
    version: str
    equal: int
    has_contexts: bool


def cut_into_parts(stream: PairStream) -> Cut:
    """Cut data into parts; the same data gives the same parts."""
    runs, total, dropped, found = [], 0, len(stream.about.equal), False
    for table in stream.tables:
        for pairs, digests in stream.pieces(table):
            equal = _are_dropped(pairs, stream)
            found = found or has_contexts(pairs)
            runs.append(_runs(pairs, digests, equal).with_columns(table=pl.lit(table)))
            total += 0 if table else sum_digests(digests[~equal.to_numpy()])
            dropped += int(equal.sum())
    together = pl.concat(runs)
    different = together.filter(~pl.col("equal"))
    if different.is_empty():
        raise no_pairs(stream.about.name)
    places = _place_contexts(different)
    placed = together.join(places, on="context", how="left", maintain_order="left")
    version = stream.about.version or version_of(total)
    return Cut(_join_neighbours(placed), version, dropped, found)


def _are_dropped(pairs: pl.DataFrame, stream: PairStream) -> pl.Series:
    if stream.is_own:
        return have_equal_texts(pairs)
    return pl.repeat(value=False, n=pairs.height, eager=True).rename("equal")


def digest_of(digests: Digests) -> int:
    """Return a number that almost certainly changes when a row does."""
    return int(digests[:, 0].sum(dtype="uint64"))


def _runs(pairs: pl.DataFrame, digests: Digests, equal: pl.Series) -> pl.DataFrame:
    """Return a row per run of equal contexts: hash and sizes of its texts, and a digest.

    Pairs with two equal texts (`equal`) are runs of their own.
    """
    sides = ("candidate_high", "candidate_low")
    run = pl.struct("text", "equal").rle_id()
    rows = pairs.select(*sides, equal, text=pl.col("context")).with_columns(run=run)
    candidates = pl.concat([rows.select("run", text=pl.col(side)) for side in sides])
    distinct = candidates.select("run", pl.col("text").hash(), size=pl.col("text").str.len_bytes())
    sizes = distinct.unique().group_by("run").agg(candidate_bytes=pl.col("size").sum())
    runs = rows.with_columns(digest=pl.Series(digests[:, 0], dtype=pl.UInt64))
    return (
        runs.group_by("run", maintain_order=True)
        .agg(
            context=pl.col("text").first().hash(),
            context_bytes=pl.col("text").first().str.len_bytes(),
            rows=pl.len().cast(pl.Int64),
            digest=pl.col("digest").sum(),
            equal=pl.col("equal").first(),
        )
        .join(sizes, on="run", maintain_order="left")
        .drop("run")
    )


def _place_contexts(runs: pl.DataFrame) -> pl.DataFrame:
    contexts = runs.group_by("context", maintain_order=True).agg(
        size=pl.col("context_bytes").first() + pl.col("candidate_bytes").sum() + 1
    )
    total = contexts["size"].sum()
    parts = min(max(PARTS, ceil(total / PART_BYTES)), contexts.height)
    size = pl.col("size").cast(pl.Float64)
    place = (size.cum_sum() - size / 2) * parts / total
    return contexts.select("context", part=place.floor().rank("dense").cast(pl.Int64) - 1)


def _join_neighbours(runs: pl.DataFrame) -> pl.DataFrame:
    """Return the columns of SPANS: adjacent runs of one table and part become one span.

    Runs of equal texts are in none.
    """
    stop = pl.col("rows").cum_sum().over("table")
    spans = runs.with_columns(start=stop - pl.col("rows"), stop=stop)
    block = pl.struct("table", "part", "equal").rle_id()
    return (
        spans.with_columns(block=block)
        .filter(~pl.col("equal"))
        .group_by("block", maintain_order=True)
        .agg(
            pl.col("table", "part", "start").first(),
            pl.col("stop").last(),
            pl.col("digest").sum(),
        )
        .select(pl.col(name).cast(dtype) for name, dtype in SPANS.items())
    )
