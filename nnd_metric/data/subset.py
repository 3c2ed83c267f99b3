"""Choose a part of the pairs: small enough for frequent scoring, and the same in every run.

The sets of a suite are chosen with the human pairs: a set that changes or picks human pairs keeps
what comes of those that are chosen. Negatives are made of texts, so they are chosen by their
contexts, whether or not a human pair stands for the text.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import polars as pl

from nnd.metric.data.converted_folder import NEGATIVES, SuiteSet
from nnd.metric.data.human_scores import human_scores_in
from nnd.metric.data.pairs import PairSet, version_of_rows
from nnd.metric.data.splits import check_splits, default_splits, splits_in
from nnd.schemas import CONTEXT, DISTINCT, ScoringError, check_known, cut_together

_Key: TypeAlias = tuple[str | None, ...]

_IN_TURN = 3
"""Tests of a context that `--limit` takes at a time.

Intervals are over contexts, but a context is read once for all its tests.
"""

LIMITED = "the tests were drawn by digest, up to three of each context in turn (--limit)"
"""Note on tests chosen by a limit."""


def choose_contexts(pairs: PairSet, contexts: int) -> PairSet:
    """Return the pairs of a number of contexts: those whose ids have the smallest SHA-256.

    The choice does not depend on the order of rows, and a larger choice contains a smaller one.
    """
    keys = pairs.pairs.select(CONTEXT).unique()
    if keys.height <= contexts:
        return pairs
    chosen = pl.DataFrame(sorted(keys.rows(), key=_digest)[:contexts], keys.schema, orient="row")
    return _with_rows(
        pairs, _of_contexts(pairs.pairs, chosen), lambda of: _of_contexts(of.pairs, chosen)
    )


def choose_splits(pairs: PairSet, names: Sequence[str] | None = ()) -> PairSet:
    """Return the pairs of some splits, with the human scores of these, if they come with the data.

    By default, the splits are those chosen before, else `default_splits`; None means all.
    """
    known = splits_in(pairs.pairs)
    check_splits(pairs.name, names or (), known)
    chosen = known if names is None else [*names] or [*pairs.splits] or default_splits(known)
    pairs = replace(pairs, splits=tuple(split for split in known if split in chosen))
    is_whole = not names and {*known} <= {*chosen}
    if not is_whole:
        pairs = replace(pairs, equal=tuple(split for split in pairs.equal if split in chosen))
    is_chosen = pl.col("split").is_in(chosen)
    rows = pairs.pairs.filter(is_whole or is_chosen)
    if rows.height == pairs.pairs.height:
        return pairs
    return as_part(_with_rows(pairs, rows, lambda of: of.pairs.filter(is_chosen)))


def as_part(pairs: PairSet) -> PairSet:
    """Describe pairs of some splits as a part, with the human scores of these splits."""
    people = pairs.human_scores
    if people is not None and pairs.home is not None:
        people = human_scores_in(pairs.home, people, pairs.splits)
    part = dict(pairs.part) | {"split": "+".join(pairs.splits)}
    return replace(pairs, human_scores=people, part=tuple(part.items()))


def choose_part(
    pairs: PairSet,
    *,
    splits: Sequence[str] = (),
    limit: int | None = None,
    categories: Sequence[str] = (),
    held_out: float | None = None,
    split_seed: int = 0,
) -> PairSet:
    """Return a part of the pairs, described by `PairSet.part`.

    Args:
        pairs: All pairs.
        splits: Keep the pairs of these splits; by default those of `default_splits`, or of all with
            `held_out`, which divides the data in another way.
        limit: Keep at most this many tests, with all their pairs: up to three of each context in
            turn, in the order of the SHA-256 of their ids; None keeps all. A larger limit contains
            a smaller one. Each set of negatives keeps as many, drawn in the same way.
        categories: Keep the pairs of these error categories, and the negatives of their contexts;
            none keeps all.
        held_out: Keep the contexts that `cut_pairs` holds out when this share is used for training;
            applied first.
        split_seed: Same as in `cut_pairs`.
    """
    everything = pairs
    if held_out is not None:
        _, pairs = cut_pairs(pairs, held_out, split_seed)
    pairs = choose_splits(pairs, splits)
    pairs = choose_categories(pairs, categories)
    if limit is not None and limit < 1:
        raise ScoringError("option.bad-value", where=f"limit {limit}", remedy="give 1 test or more")
    if limit is not None and max(map(_n_tests, _limited(pairs))) > limit:
        part = dict(pairs.part) | {"limit": f"{limit}"}
        drawn = _with_rows(pairs, _draw(pairs.pairs, limit), lambda of: _draw(of.pairs, limit))
        pairs = replace(drawn, part=tuple(part.items()))
    if dict(pairs.part).keys() <= {*dict(everything.part), "split"}:
        return pairs
    is_chosen = pl.col("split").is_in(pairs.splits) if pairs.splits else pl.lit(value=True)
    n_whole = _n_tests(everything.pairs.filter(is_chosen))
    return replace(pairs, n_whole=everything.n_whole or n_whole)


def choose_categories(pairs: PairSet, categories: Sequence[str]) -> PairSet:
    """Return the pairs of some error categories; none keeps all."""
    known = pairs.pairs["error_category"].drop_nulls().unique().sort()
    check_known("error category", categories, known.to_list(), pairs.name, family=ScoringError)
    if not categories:
        return pairs
    part = dict(pairs.part) | {"category": "+".join(categories)}
    rows = pairs.pairs.filter(pl.col("error_category").is_in([*categories]))
    chosen = _with_rows(pairs, rows, lambda of: _of_contexts(of.pairs, rows))
    return replace(chosen, part=tuple(part.items()))


def cut_pairs(pairs: PairSet, share: float, seed: int = 0) -> tuple[PairSet, PairSet]:
    """Split pairs into those to train on and those held out, described by `PairSet.part`.

    About this share of the contexts is used for training (`cut_together`). Pairs of the sets of a
    suite follow their human pairs; negatives are cut by their contexts, which may have none.
    """
    pairs = replace(pairs, splits=pairs.splits or tuple(splits_in(pairs.pairs)))
    made = {each.name: each.pairs for each in pairs.sets if each.kind == NEGATIVES}
    human, *others = cut_together(pairs.pairs, [*made.values()], share, seed=seed)

    def take(*, is_training: bool) -> PairSet:
        own = {
            name: rows.filter(side == is_training)
            for (name, rows), side in zip(made.items(), others, strict=True)
        }
        rows = pairs.pairs.filter(human == is_training)
        return _with_rows(pairs, rows, lambda of: own[of.name])

    training, held_out = take(is_training=True), take(is_training=False)
    choices = {"held-out": f"{share:g}"} | ({"split-seed": f"{seed}"} if seed else {})
    return training, replace(held_out, part=(*pairs.part, *choices.items()))


def choose_sets(pairs: PairSet, names: Sequence[str]) -> PairSet:
    """Return the pairs of sets of a suite instead of the human pairs, each pair once."""
    sets = {each.name: each.pairs for each in pairs.sets}
    check_known("set", names, sets, pairs.name, family=ScoringError)
    rows = pl.concat([sets[name] for name in names], how="diagonal_relaxed")
    rows = rows.unique("pair_id", maintain_order=True)
    name, version = f"{pairs.name}-{'+'.join(names)}", version_of_rows(rows)
    return replace(pairs, pairs=rows, name=name, version=version, sets=())


def _limited(pairs: PairSet) -> list[pl.DataFrame]:
    """Return what a limit is of: the human pairs, and each set of negatives."""
    return [pairs.pairs, *(each.pairs for each in pairs.sets if each.kind == NEGATIVES)]


def _n_tests(rows: pl.DataFrame) -> int:
    return rows.select(DISTINCT).n_unique()


def _draw(rows: pl.DataFrame, limit: int) -> pl.DataFrame:
    """Return the rows of at most `limit` tests, a few of each context in turn, by digest."""
    tests = rows.select(DISTINCT).unique()
    keys = tests.rows()
    drawn = (
        tests.with_columns(
            context=pl.Series([_digest(key[: len(CONTEXT)]) for key in keys], dtype=pl.String),
            test=pl.Series([_digest(key) for key in keys], dtype=pl.String),
        )
        .sort("test")
        .with_columns(turn=pl.int_range(pl.len()).over("context") // _IN_TURN)
        .sort("turn", "context", "test")
        .head(limit)
    )
    return rows.join(drawn, on=DISTINCT, how="semi", nulls_equal=True, maintain_order="left")


def _with_rows(
    pairs: PairSet, rows: pl.DataFrame, negatives: Callable[[SuiteSet], pl.DataFrame]
) -> PairSet:
    """Return some of the human pairs, with what the sets have of them, and some negatives."""
    of_chosen = pl.coalesce("parent_id", "pair_id").is_in(rows["pair_id"].implode())
    sets = [
        replace(
            each, pairs=negatives(each) if each.kind == NEGATIVES else each.pairs.filter(of_chosen)
        )
        for each in pairs.sets
    ]
    return replace(pairs, pairs=rows, version=version_of_rows(rows), sets=tuple(sets))


def _of_contexts(rows: pl.DataFrame, chosen: pl.DataFrame) -> pl.DataFrame:
    return rows.join(chosen, on=CONTEXT, how="semi", nulls_equal=True, maintain_order="left")


def _digest(key: _Key) -> str:
    return hashlib.sha256("\x00".join(part or "" for part in key).encode()).hexdigest()
