"""The two sides of a training: the pairs it is on, and those that the model is tested on."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from nnd.metric.data import PairData, PairSet, choose_sets, choose_splits, cut_pairs, load_pairs
from nnd.metric.train.corpora import load_corpus
from nnd.metric.train.transfer_notes import check_apart
from nnd.schemas import ScoringError


class Sides(NamedTuple):
    """What is trained on, and what is tested on; they share no context.

    Attributes:
        held_out: The pairs of the other contexts of the same data, or None for references
            (`load_corpus`).
        tests: The held-out pairs, of each set of a suite then the human ones; then other data.
        by_set: Set → its pairs among those to train on.
    """

    training: PairSet
    held_out: PairSet | None
    tests: tuple[PairSet, ...]
    by_set: Mapping[str, int]


def take_sides(
    data: PairData, sets: Sequence[str], tests: Sequence[PairData], *, share: float, seed: int
) -> Sides:
    """Cut data by context, and read the other data to test on.

    References are all trained on. Of a suite, the given sets are trained on; none means its human
    pairs. About `share` of the contexts is for training; another seed makes another cut.
    """
    (training, of_references), held_out = load_corpus(data), None
    if training.pairs.is_empty():
        raise ScoringError("train.no-texts", "has no pairs to train on", training.name)
    learnt, tested, names = list[PairSet](), list[PairSet](), sorted({*sets})
    if not of_references:
        training, held_out = cut_pairs(training, share, seed)
        tested = [held_out]
    elif not tests:
        raise ScoringError(
            "train.no-texts",
            "all references are trained on, so the model cannot be tested on them",
            training.name,
            "name pairs to test on with --test",
        )
    if names:
        human = held_out or training
        learnt, tested = (
            [choose_sets(side, [name]) for name in names] for side in (training, human)
        )
        training, held_out = choose_sets(training, names), choose_sets(human, names)
        tested += _beside(human, held_out)
    tested = [replace(each, sets=()) for each in [*tested, *map(_of_default_splits, tests)]]
    for purpose, datasets in (("train", [*learnt, training]), ("test", tested)):
        for each in datasets:
            if each.pairs.is_empty():
                raise ScoringError("train.no-texts", f"has no pairs to {purpose} on", each.title)
    for each in tested:
        check_apart(training, each)
    by_set = {name: each.pairs.height for name, each in zip(names, learnt, strict=True)}
    return Sides(training, held_out, tuple(tested), by_set)


def _of_default_splits(data: PairData) -> PairSet:
    return choose_splits(load_pairs(data))


def _beside(human: PairSet, chosen: PairSet) -> list[PairSet]:
    """Return the human pairs that the chosen sets lack; slices and samples hold some."""
    rows = human.pairs.filter(~pl.col("pair_id").is_in(chosen.pairs["pair_id"].implode()))
    return [] if rows.is_empty() else [replace(human, pairs=rows)]
