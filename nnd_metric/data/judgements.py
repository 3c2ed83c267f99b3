"""What people judged: the annotations behind human scores, and which systems wrote each pair."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from nnd.metric.data.data_places import find_place
from nnd.schemas import (
    CONTEXT,
    MANIFEST,
    OVERALL,
    ScoringError,
    category_of,
    cluster_keys,
    find_frame,
    find_manifest,
    judged_numbers,
)

_FILES = (
    *("annotations.parquet", "annotations/*.parquet"),
    *("pairs.parquet", "pairs/*.parquet", MANIFEST),
)
"""Patterns of the files that are read."""

_COLUMNS = (
    *("split", "context_id", "candidate_id", "group", "system", "category", "aspect"),
    *("label", "score", "ratings"),
)
"""Columns of annotations that human scores are computed from; annotators where they are stored."""

_WRITERS = ("system_high", "system_low")


@dataclass(frozen=True, slots=True)
class Judgements:
    """The annotations of a converted or published folder.

    Attributes:
        annotations: The annotations, without texts, with the `cluster` of their context.
        source: The facts of source.yaml, as the manifest has them.
        splits: The splits whose annotations count; None means all.
        folder: The folder.
    """

    annotations: pl.DataFrame
    source: Mapping[str, Any]
    splits: Collection[str] | None
    folder: Path

    def numbers(self, key: str, aspect: str | None) -> pl.DataFrame:
        """Return the numbers behind the human scores of a category (`judged_numbers`), by its key.

        A column `cluster` has what contexts share, or null.

        Like `human_scores_for`, a category that nothing was judged in is taken for an aspect.
        """
        name = category_of(key)
        judged = partial(judged_numbers, self.annotations, self.source, splits=self.splits)
        rows = judged(OVERALL if name is None else name)
        if name is not None and (name == OVERALL or rows.is_empty()):
            rows = judged(OVERALL).filter(aspect=name)
        clusters = self.annotations.select(*CONTEXT, "cluster").unique(CONTEXT)
        rows = rows.join(clusters, on=CONTEXT, how="left", nulls_equal=True, maintain_order="left")
        return rows if aspect is None else rows.filter(aspect=aspect)

    def writers(self) -> pl.DataFrame | None:
        """Return pair_id and writers, the systems that wrote its candidates; None if unknown."""
        pairs = find_frame(self.folder, "pairs", ("pair_id", *_WRITERS))
        if pairs is None:
            return None
        names = pl.concat_list(pl.col(*_WRITERS).fill_null("").str.split("|"))
        return pairs.select("pair_id", writers=names)


def find_judgements(home: str | Path, splits: Collection[str] | None = None) -> Judgements | None:
    """Return the annotations in a folder, or ORG/name@revision on the Hub; None if it has none."""
    try:
        folder = find_place(home, _FILES).path
    except ScoringError:  # the Hub cannot be reached
        return None
    annotations = find_frame(folder, "annotations")
    source = find_manifest(folder).get("source")
    if annotations is None or not isinstance(source, Mapping):
        return None
    if not {*annotations.columns} >= {*_COLUMNS} or not {"name", "quality", "systems"} <= {*source}:
        return None  # written by an older version
    annotations = with_clusters(annotations, source.get("cluster"))
    known = [*_COLUMNS, "cluster", *({"annotators"} & {*annotations.columns})]
    return Judgements(annotations.select(known), source, splits, folder)


def with_clusters(annotations: pl.DataFrame, name: str | None) -> pl.DataFrame:
    """Add what contexts share, as the pairs have it; older annotations have no metadata."""
    if name is None or "metadata" not in annotations.columns:
        return annotations.with_columns(cluster=pl.lit(None, pl.String))
    contexts = annotations.select(*CONTEXT, "inputs", "metadata").unique(CONTEXT)
    keys = contexts.select(*CONTEXT, cluster_keys(contexts, name))
    return annotations.join(keys, on=CONTEXT, nulls_equal=True, maintain_order="left")
