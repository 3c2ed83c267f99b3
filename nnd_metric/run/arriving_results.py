"""Results that are written as they arrive, so that a killed sweep loses almost nothing."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import TracebackType
from typing import Final

from nnd.metric.run.evaluation import Evaluation
from nnd.metric.run.model_result import ScoredModel
from nnd.schemas import exclusive

_SHARE: Final = 0.1
"""Largest share of the time spent on writing before the end."""


class Outputs:
    """The results so far, written to the folders of their datasets.

    A folder is written as a whole, with the agreement of all models so far, which takes longer with
    every model. So it is written only when all writing has taken less than a tenth of the time.
    Models that another process has added to the folder are kept: one process at a time reads what
    is there, adds its own models, and replaces the folder.
    This is a context manager: results that are not written yet are written on leaving, also after
    an error.

    Args:
        join: Makes the evaluation of a dataset from the results of the models.
        folders: Dataset → its folder, where results are written.

    Attributes:
        evaluations: Dataset → results of the models; complete once the context is left.
    """

    def __init__(
        self, join: Callable[[str, Sequence[ScoredModel]], Evaluation], folders: Mapping[str, Path]
    ) -> None:
        self.evaluations: dict[str, Evaluation] = {}
        self._join, self._folders = join, folders
        self._done: dict[str, list[ScoredModel]] = {}
        self._unwritten: set[str] = set()
        self._start, self._spent = time.perf_counter(), 0.0

    def add(self, dataset: str, scored: ScoredModel) -> None:
        """Add the result of a model on a dataset, and write the folder if there is time."""
        self._done.setdefault(dataset, []).append(scored)
        self._unwritten.add(dataset)
        if self._folders and self._spent <= _SHARE * (time.perf_counter() - self._start):
            self._write()

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._write()

    def _write(self) -> None:
        start = time.perf_counter()
        for dataset in sorted(self._unwritten):
            folder = self._folders.get(dataset)
            with nullcontext() if folder is None else exclusive(folder):
                found = self._join(dataset, self._done[dataset])
                if folder is not None:
                    found.write(folder)
            self.evaluations[dataset] = found
        self._unwritten.clear()
        self._spent += time.perf_counter() - start
