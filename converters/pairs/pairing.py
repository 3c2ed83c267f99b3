"""From annotations to NND pairs: joins the comparisons of a quality rule with the texts."""

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import polars as pl

from nnd.converters.pairs.quality.quality_order import DropReason, compare
from nnd.schemas import (
    CONTEXT,
    DISTINCT,
    Rule,
    Rules,
    cluster_keys,
    fold_texts,
    polars_schema,
)

ID_FIELDS = (
    "source",
    "split",
    "context_id",
    "aspect",
    "error_category",
    "high_id",
    "low_id",
    "candidate_high",
    "candidate_low",
    "origin",
    "group",
)
"""Fields of a pair_id: the first 16 hex digits of the SHA-256 of these fields, each written as its
length in UTF-8 bytes, a colon, and itself; a null adds nothing."""

_LEFT = ("aspect", "error_category", "group")
"""What distinguishes pairs of the same two candidates."""

_ROWS_AT_A_TIME = 100_000


class Pairs(NamedTuple):
    """The pairs of a source, and what made no pair, and why.

    `texts` has split, candidate_id and the `text` of every candidate after NFC and white-space
    folding.
    """

    frame: pl.DataFrame
    dropped: list[DropReason]
    texts: pl.DataFrame


def make_pairs(
    annotations: pl.DataFrame,
    rules: Rule | Rules,
    taxonomy: Mapping[str, Mapping[str, Any]],
    *,
    constructed: bool = False,
    keep_equal: bool = False,
    cluster: str | None = None,
) -> Pairs:
    """Pair every candidate with the candidates of its context that are worse by the rule.

    Args:
        annotations: Rows of the annotation schema.
        rules: The quality rule of each aspect.
        taxonomy: Error label → {name, group, description}; groups become `error_group`.
        constructed: Whether people made the errors on purpose (`origin` in source.yaml).
        keep_equal: Whether two candidates with the same text may make a pair.
        cluster: What contexts may share (`cluster` in source.yaml); None: nothing.

    Returns:
        Rows of the pair schema in order of context, candidates, aspect and category, and what was
        dropped: by the rule, as a context with fewer than two candidates, or as two candidates with
        the same text after NFC and white-space folding.
    """
    order = compare(annotations, rules)
    kept, key = order.frame, ("split", "candidate_id")
    texts = annotations.select(*key, text="candidate").unique(key, keep="any")
    texts = texts.with_columns(fold_texts(texts["text"]))
    if not keep_equal:
        kept = kept.filter(~same_text(kept, texts))
    kept = kept.sort(*DISTINCT, *_LEFT, nulls_last=True)  # before texts are joined
    groups = {label: entry["group"] for label, entry in taxonomy.items()}
    pairs = _with_texts(kept, annotations, cluster).with_columns(
        error_group=pl.col("error_category").replace_strict(
            groups, default=None, return_dtype=pl.String
        ),
        origin=_origin(constructed=constructed),
        parent_id=pl.lit(None, pl.String),
    )
    pairs = pairs.with_columns(pair_id=pair_ids(pairs))
    sizes = annotations.group_by(CONTEXT).agg(pl.col("candidate_id").n_unique())
    lonely = sizes.filter(pl.col("candidate_id") == 1).height
    dropped = [
        *order.dropped,
        DropReason("one_candidate", "contexts", lonely, "a single candidate has no counterpart"),
        DropReason(
            "same_text",
            "pairs",
            order.frame.height - kept.height,
            "both candidates are the same text after NFC and white-space folding",
        ),
    ]
    return Pairs(pairs.select(polars_schema("pair").names()), dropped, texts)


def _origin(*, constructed: bool) -> pl.Expr:
    if not constructed:
        return pl.lit("human")
    operation = pl.col("error_category").str.to_lowercase().str.replace_all("[^a-z0-9]+", "_")
    return pl.format("constructed:{}", operation)


def same_text(pairs: pl.DataFrame, texts: pl.DataFrame) -> pl.Series:
    """Return, for each row with split, high_id and low_id, whether both texts are the same."""
    shared = texts.filter(pl.col("text").is_duplicated())  # only these few can be equal
    sides = pairs.select("split", "high_id", "low_id")
    for side in ("high", "low"):
        sides = sides.join(
            shared.rename({"text": side}),
            left_on=["split", f"{side}_id"],
            right_on=["split", "candidate_id"],
            how="left",
            maintain_order="left",
        )
    is_same = (pl.col("high") == pl.col("low")).fill_null(value=False)
    return sides.select(is_same | (pl.col("high_id") == pl.col("low_id"))).to_series()


def pair_ids(pairs: pl.DataFrame) -> pl.Series:
    """Return the pair_id of each row (see ID_FIELDS)."""
    ids = [
        hashlib.sha256(key).hexdigest()[:16]
        for rows in pairs.iter_slices(_ROWS_AT_A_TIME)  # as Python bytes, keys take much memory
        for key in _id_keys(rows).cast(pl.Binary).to_list()
    ]
    return pl.Series("pair_id", ids, pl.String)


def _id_keys(pairs: pl.DataFrame) -> pl.Series:
    sizes = pairs.select(pl.col(ID_FIELDS).str.len_bytes())
    longest = sizes.select(pl.max_horizontal(pl.all().max())).item() or 0
    written = pl.select(pl.format("{}:", pl.int_range(longest + 1))).to_series()  # once each
    parts = [part for size in sizes for part in (pl.lit(written.gather(size)), pl.col(size.name))]
    return pairs.select(pl.concat_str(parts, ignore_nulls=True)).to_series()


def _with_texts(
    comparisons: pl.DataFrame, annotations: pl.DataFrame, cluster: str | None
) -> pl.DataFrame:
    """Add contexts, what these share, and candidates to rows with their ids.

    The joins look up row numbers only, because every join would copy wide frames.
    """
    contexts, candidates = (
        annotations.unique(["split", key], keep="first", maintain_order=True)
        for key in ("context_id", "candidate_id")
    )
    keys: pl.Expr | pl.Series = pl.lit(None, pl.String)
    if cluster is not None:
        keys = cluster_keys(contexts, cluster)
    contexts = contexts.with_columns(keys.alias("cluster"))
    rows = comparisons.select("split", "context_id", "high_id", "low_id")
    for of, key, name in (
        (contexts, "context_id", "context_id"),
        (candidates, "candidate_id", "high_id"),
        (candidates, "candidate_id", "low_id"),
    ):
        numbers = of.select("split", pl.col(key).alias(name)).with_row_index(f"{name}_row")
        rows = rows.join(numbers, on=["split", name], maintain_order="left")
    shared = ("source", "language", "context", "inputs", "category", "metadata", "cluster")
    return comparisons.with_columns(
        *contexts.select(shared)[rows["context_id_row"]],
        *(
            candidates[name][rows[f"{side}_id_row"]].alias(f"{name}_{side}")
            for side in ("high", "low")
            for name in ("candidate", "system")
        ),
    )
