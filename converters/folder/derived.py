"""What follows from annotations and a source's rule: pairs, human scores, counts.

`convert` writes this, and `validate` derives it again from the content of a folder.
"""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import polars as pl

from nnd.converters.folder.description.candidate_sides import report_texts
from nnd.converters.pairs import (
    DropReason,
    annotator_agreement,
    find_contradictions,
    make_pairs,
    report_form,
    report_hygiene,
    same_text,
)
from nnd.converters.source import Source
from nnd.schemas import (
    CONTEXT,
    DISTINCT,
    SLICE_TITLES,
    cluster_keys,
    distinct_in_order,
    make_human_scores,
)


class DerivedRows(NamedTuple):
    """What follows from the annotations of a source.

    `dropped` has every reason to drop something, including those that dropped nothing; `facts` are
    their part of the manifest: counts, dropped, agreement, hygiene.
    """

    pairs: pl.DataFrame
    human_scores: pl.DataFrame
    dropped: list[DropReason]
    facts: Mapping[str, Any]


class Part(NamedTuple):
    """A slice of the pairs of a source, by their ids."""

    name: str
    pair_ids: Collection[str]


def derive(
    annotations: pl.DataFrame,
    references: pl.DataFrame,
    source: Source,
    *,
    keep_equal: bool,
    part: Part | None = None,
) -> DerivedRows:
    """Derive pairs, human scores and counts by the rule of a source.

    Only the hygiene report reads the references. `keep_equal` says whether two candidates of the
    same text make a pair. Without a `part`, all pairs are kept.
    """
    pairs, dropped, texts = make_pairs(
        annotations,
        source.rules,
        source.taxonomy,
        constructed=source.is_constructed,
        keep_equal=keep_equal,
        cluster=source.cluster,
    )
    if part is not None:
        n, pairs = pairs.height, pairs.filter(pl.col("pair_id").is_in([*part.pair_ids]))
        why = f"they are not in the slice {part.name}"
        dropped = [*dropped, DropReason("other_slice", "pairs", n - pairs.height, why)]
    hygiene = report_hygiene(annotations, pairs) | {"texts": report_texts(pairs)}
    if not references.is_empty():
        hygiene["references"] = report_form(references["reference"])
    facts = {
        "counts": _count(annotations, pairs, texts, source.cluster),
        "dropped": [entry._asdict() for entry in dropped if entry.n],
        "agreement": annotator_agreement(annotations),
        "hygiene": hygiene,
    }
    return DerivedRows(pairs, make_human_scores(annotations, source.facts), dropped, facts)


def _count(
    annotations: pl.DataFrame, pairs: pl.DataFrame, texts: pl.DataFrame, cluster: str | None
) -> dict[str, Any]:
    lowered = texts.with_columns(pl.col("text").str.to_lowercase())
    alike = pairs.filter(same_text(pairs, lowered))
    equal = same_text(alike, texts).sum()
    both, highest = find_contradictions(pairs)
    systems = annotations["system"].unique().str.split("|").explode()
    return {
        "annotations": annotations.height,
        "contexts": annotations.select(pl.struct(CONTEXT).n_unique()).item(),
        **({} if cluster is None else {"clusters": _count_clusters(annotations, cluster)}),
        "candidates": texts.height,
        "empty_candidates": texts.filter(pl.col("text") == "").height,
        "systems": systems.drop_nulls().n_unique(),
        "pairs": pairs.height,
        "distinct_pairs": distinct_in_order(pairs.select(DISTINCT)).height,
        "both_directions": both,
        "highest_pass_rate": highest,
        "equal_pairs": equal,
        "same_after_lowercase": alike.height - equal,
        **{
            f"by_{name}": dict(pairs[name].drop_nulls().value_counts().sort(name).iter_rows())
            for name in SLICE_TITLES
        },
    }


def _count_clusters(annotations: pl.DataFrame, cluster: str) -> int:
    contexts = annotations.unique(CONTEXT)
    keys = pl.coalesce(cluster_keys(contexts, cluster), "context_id")
    return contexts.select(pl.struct("split", keys.alias("key")).n_unique()).item()  # type: ignore[no-any-return]
