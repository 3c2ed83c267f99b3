"""Results that are written as they come, so that a killed sweep loses next to nothing."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final

from nnd.metric.evaluation import Evaluation
from nnd.metric.results import Scored

_SHARE: Final = 0.1
"""Of the time, at most, is spent on writing before the end."""


class Outputs:
    """What models did so far, in the folders of their datasets.

    A folder is written whole, with the agreement between all models so far, which takes the longer
    the more models there are. So it is written as soon as all writing took less than a tenth of the
    time. A context: what is not written yet is written on leaving, with an error or without.

    Args:
        join: Makes the evaluation of a dataset from what the models did on it.
        folders: Dataset → its folder, where results are written.

    Attributes:
        evaluations: Dataset → what the models did on it; complete once the context is left.
    """

    def __init__(
        self, join: Callable[[str, Sequence[Scored]], Evaluation], folders: Mapping[str, Path]
    ) -> None:
        self.evaluations: dict[str, Evaluation] = {}
        self._join, self._folders = join, folders
        self._done: dict[str, list[Scored]] = {}
        self._unwritten: set[str] = set()
        self._start, self._spent = time.perf_counter(), 0.0

    def add(self, dataset: str, scored: Scored) -> None:
        """Take what a model did on a dataset, and write it if there is time."""
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
            found = self._join(dataset, self._done[dataset])
            if dataset in self._folders:
                found.write(self._folders[dataset])
            self.evaluations[dataset] = found
        self._unwritten.clear()
        self._spent += time.perf_counter() - start
