"""The pairs that a run is asked to score: the datasets, and which part of each."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from nnd.metric.data import PairData, PairSet, choose_part, load_pairs, no_pairs, read_human_scores
from nnd.metric.run.survival import Trouble

Dataset: TypeAlias = PairData | PairSet


def read_asked(
    keys: Sequence[str],
    datasets: Sequence[Dataset],
    trouble: Trouble,
    *,
    human_scores: PairData | None = None,
    splits: Sequence[str] = (),
    limit: int | None = None,
    categories: Sequence[str] = (),
    held_out: float | None = None,
    split_seed: int = 0,
) -> dict[str, PairSet]:
    """Return the pairs of each dataset that are to be scored.

    Args:
        keys: Names of the datasets in the results.
        datasets: The datasets.
        trouble: Records the datasets that cannot be read.
        human_scores: Same as in `evaluate`.
        splits: Same as in `evaluate`.
        limit: Same as in `evaluate`.
        categories: Same as in `evaluate`.
        held_out: Same as in `evaluate`.
        split_seed: Same as in `evaluate`.
    """
    pairs: dict[str, PairSet] = {}
    for key, data in zip(keys, datasets, strict=True):
        with trouble.survived(None, key):
            found = data if isinstance(data, PairSet) else load_pairs(data)
            if isinstance(data, str | Path) and found.pairs.is_empty():
                raise no_pairs(found.name)
            if human_scores is not None:
                people = read_human_scores(human_scores)
                found = replace(found, human_scores=people, home=None)
            pairs[key] = found
    return {
        key: choose_part(
            each,
            splits=splits,
            limit=limit,
            categories=categories,
            held_out=held_out,
            split_seed=split_seed,
        )
        for key, each in pairs.items()
    }
