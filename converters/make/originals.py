"""The right texts that negatives are made from.

preferred         a candidate that is better in a human pair under the aspect, and worse in none
references        a reference that people wrote
fake_references   the candidate of each context with the highest ROUGE-L F1 against the context, or
                  the first of equal ones in the order of the annotations
"""

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias, get_args

import polars as pl

from nnd.converters.folder import best_rouge
from nnd.converters.make.suite_folder import Parents
from nnd.converters.pairs import reference_id
from nnd.schemas import (
    CONTEXT,
    NNDError,
    check_known,
    cluster_keys,
    find_frame,
    find_manifest,
    polars_schema,
    read_frame,
)

GoodTexts: TypeAlias = Literal["preferred", "references", "fake_references"]

_PAIR = polars_schema("pair")

_OF_CONTEXT = ("source", "language", *CONTEXT, "context", "inputs", "category", "metadata")


def good_texts(parents: Parents, which: GoodTexts, aspect: str | None) -> pl.DataFrame:
    """Return a row for each text, with the columns of a pair except those of the low side.

    A preferred candidate names the first pair, by pair_id, in which it is better.
    """
    check_known("texts", [which], get_args(GoodTexts), code="option.unknown-value")
    aspect = _aspect(parents, aspect)
    texts = _TEXTS[which](parents, aspect)
    if texts.is_empty():
        raise NNDError(
            "make.no-such-texts",
            f"has no {which.replace('_', ' ')} to make negatives "
            f"of{(f' under {aspect}' if which == 'preferred' else '')}",
            parents.folder,
            "choose other texts: "
            f"{', '.join(each for each in get_args(GoodTexts) if each != which)}",
        )
    empty = [pl.lit(None, _PAIR[name]).alias(name) for name in _PAIR if name not in texts.columns]
    cluster = pl.coalesce("cluster", "context_id").alias("cluster")
    return texts.with_columns(empty).with_columns(cluster, aspect=pl.lit(aspect))


def _aspect(parents: Parents, aspect: str | None) -> str:
    known = parents.pairs["aspect"].unique().sort().to_list()
    if aspect is None and len(known) == 1:
        return str(known[0])
    if aspect in known:
        return str(aspect)
    problem = "several aspects" if aspect is None else f'no pairs of the aspect "{aspect}"'
    raise NNDError(
        "make.no-such-texts",
        f"has {problem}",
        parents.folder,
        f"choose the one that the change makes worse with --aspect: {', '.join(known)}",
    )


def _preferred(parents: Parents, aspect: str) -> pl.DataFrame:
    pairs = parents.pairs.filter(pl.col("aspect") == aspect)
    better = pairs.sort("pair_id").unique(["split", "high_id"], keep="first", maintain_order=True)
    never_worse = better.join(
        pairs, left_on=["split", "high_id"], right_on=["split", "low_id"], how="anti"
    )
    kept = (*_OF_CONTEXT, "candidate_high", "high_id", "system_high", "label_high", "group")
    return never_worse.select(*kept, "cluster", parent_id="pair_id").sort("split", "high_id")


def _references(parents: Parents, _aspect: str) -> pl.DataFrame:
    references = find_frame(parents.folder, "references")
    if references is None:
        return pl.DataFrame(schema=_PAIR)
    human = references.filter(pl.col("origin") == "human").drop("source")
    contexts = _annotations(parents).unique(CONTEXT, keep="first", maintain_order=True)
    with_context = human.join(contexts, on=CONTEXT, maintain_order="left")
    return with_context.select(
        *_OF_CONTEXT,
        candidate_high="reference",
        high_id=reference_id(),
        cluster=_clusters(parents, with_context),
    )


def _fake_references(parents: Parents, _aspect: str) -> pl.DataFrame:
    candidates = _annotations(parents).unique(
        ["split", "candidate_id"], keep="first", maintain_order=True
    )
    by_context = candidates.group_by("context", maintain_order=True).agg(pl.all())
    rouge = best_rouge()
    closeness = [
        [0.0 if scores is None else scores.rouge_l for scores in rouge(own, [context])]
        for own, context in by_context.select("candidate", "context").iter_rows()
    ]
    closest = (
        by_context.with_columns(closeness=pl.Series(closeness, dtype=pl.List(pl.Float64)))
        .explode(pl.selectors.exclude("context"))
        .sort("closeness", descending=True, maintain_order=True)
        .unique(CONTEXT, keep="first", maintain_order=True)
    )
    ordered = closest.sort("split", "candidate_id")
    return ordered.select(
        *_OF_CONTEXT,
        cluster=_clusters(parents, ordered),
        candidate_high="candidate",
        high_id="candidate_id",
        system_high="system",
    )


def _clusters(parents: Parents, contexts: pl.DataFrame) -> pl.Series | pl.Expr:
    """Return what the contexts share by the source's declaration, null without one."""
    name = find_manifest(parents.folder).get("source", {}).get("cluster")
    return pl.lit(None, pl.String) if name is None else cluster_keys(contexts, name)


def _annotations(parents: Parents) -> pl.DataFrame:
    columns = (*_OF_CONTEXT, "candidate_id", "candidate", "system")
    return read_frame(parents.folder, "annotations", columns)


_TEXTS: Mapping[GoodTexts, Callable[[Parents, str], pl.DataFrame]] = {
    "preferred": _preferred,
    "references": _references,
    "fake_references": _fake_references,
}
