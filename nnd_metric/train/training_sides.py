"""The two sides of a training: the pairs it is on, and those that the model is tested on."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from nnd.metric.data import PairData, PairSet, choose_set, choose_splits, cut_pairs, load_pairs
from nnd.metric.train.transfer_notes import check_apart
from nnd.schemas import ScoringError


class Sides(NamedTuple):
    """What is trained on, and what is tested on; they share no context.

    Attributes:
        training: The pairs to train on.
        tests: The held-out pairs of the same data, of a set of a suite then its held-out human
            pairs, then other data.
    """

    training: PairSet
    tests: tuple[PairSet, ...]


def take_sides(
    data: PairData, set_name: str | None, tests: Sequence[PairData], *, share: float, seed: int
) -> Sides:
    """Cut data by context, and read the other data to test on.

    Args:
        data: The pairs, or a suite.
        set_name: The set of the suite to train on; None means its human pairs.
        tests: Other data to test on.
        share: About this share of the contexts is to train on.
        seed: Another seed makes another cut.

    Raises:
        ScoringError: If a side has no pairs, or a context is on both.
        NNDError: If the share is not between 0 and 1, or leaves a side without a context.
    """
    pairs = load_pairs(data)
    if pairs.pairs.is_empty():
        raise ScoringError(f"{pairs.name}: has no pairs to train on; name data that has some")
    training, held_out = cut_pairs(pairs, share, seed)
    tested = [held_out]
    if set_name is not None:
        training, chosen = choose_set(training, set_name), choose_set(held_out, set_name)
        # Slices and samples hold human pairs themselves.
        held = pl.col("pair_id").is_in(chosen.pairs["pair_id"].implode())
        human = replace(held_out, pairs=held_out.pairs.filter(~held))
        tested = [chosen] if human.pairs.is_empty() else [chosen, human]
    tested += [choose_splits(load_pairs(other)) for other in tests]
    for side in [training, *tested]:
        if side.pairs.is_empty():
            use = "to train on" if side is training else "to test on"
            raise ScoringError(
                f"{side.title}: has no pairs {use}; give other data, or another split"
            )
    for test in tested:
        check_apart(training, test)
    return Sides(training, tuple(replace(test, sets=()) for test in tested))
