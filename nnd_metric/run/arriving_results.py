"""Results that are written as they arrive, so that a killed sweep loses almost nothing."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Final

from nnd.metric.run.evaluation import Evaluation
from nnd.metric.run.model_result import ScoredModel
from nnd.metric.run.scoring_task import ScoredShard
from nnd.schemas import exclusive

_SHARE: Final = 0.1
"""Largest share of the time spent on writing before the end."""


def write_arriving(
    shards: Iterable[ScoredShard],
    join: Callable[[str, Sequence[ScoredModel]], Evaluation],
    folders: Mapping[str, Path],
) -> dict[str, Evaluation]:
    """Write results to the folders of their datasets as they arrive; also after an error.

    A folder is written as a whole, with the agreement of all models so far, which takes longer with
    every model. So it is written only when all writing has taken less than a tenth of the time.
    Models that another process has added to the folder are kept: one process at a time reads what
    is there, adds its own models, and replaces the folder.

    The shards are whole datasets, `join` makes the evaluation of a dataset from the results of its
    models, and `folders` gives dataset → its folder. Returns dataset → results of the models.
    """
    evaluations: dict[str, Evaluation] = {}
    done: dict[str, list[ScoredModel]] = {}
    unwritten: set[str] = set()
    start, spent = time.perf_counter(), 0.0

    def write() -> float:
        """Write what is new, and return the seconds that it took."""
        began = time.perf_counter()
        for dataset in sorted(unwritten):
            folder = folders.get(dataset)
            with nullcontext() if folder is None else exclusive(folder):
                found = join(dataset, done[dataset])
                if folder is not None:
                    found.write(folder)
            evaluations[dataset] = found
        unwritten.clear()
        return time.perf_counter() - began

    try:
        for dataset, _, scored in shards:
            done.setdefault(dataset, []).append(scored)
            unwritten.add(dataset)
            if folders and spent <= _SHARE * (time.perf_counter() - start):
                spent += write()
    finally:
        write()
    return evaluations
