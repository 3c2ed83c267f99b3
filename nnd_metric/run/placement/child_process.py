"""The child process that scores one model: `python -m nnd.metric.run.placement.child_process`.

It reads a pickled `Job` from standard input, and writes pickled answers to standard output:
(dataset, Scored) for each dataset when it is scored, the text of each warning, and at the end the
list of failures. It exits when standard input is closed, because then its parent has ended.
"""

import os
import pickle
import sys
import threading
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeAlias

from nnd.metric.data import PairSet
from nnd.metric.likelihood import Loading, Scoring
from nnd.metric.run.model_result import Scored
from nnd.metric.run.placement.in_turn import score_in_turn
from nnd.metric.run.survival import Failure, Trouble, reason_of
from nnd.schemas import ScoringWarning

Answer: TypeAlias = tuple[str, Scored] | str | list[Failure]
"""(dataset, Scored), a warning, or the failures, which come last."""


@dataclass(frozen=True, slots=True)
class Job:
    """A model to be scored by a child process.

    Attributes:
        name: Name of the model in the results.
        model: Hub id or folder.
        pairs: Dataset → its pairs.
        scoring: Scoring options.
        loading: Loading options, which name the device.
        fatal: Whether the first failure ends the job.
    """

    name: str
    model: str
    pairs: Mapping[str, PairSet]
    scoring: Scoring
    loading: Loading
    fatal: bool


def answer(job: Job, answers: BinaryIO) -> None:
    """Score a model, and write the answers.

    Args:
        job: The model, its pairs and options.
        answers: Binary stream for the pickled answers.
    """

    def send(message: Answer) -> None:
        pickle.dump(message, answers)
        answers.flush()

    def show(message: Warning | str, category: type[Warning], *where: Any) -> None:  # noqa: ANN401
        if issubclass(category, ScoringWarning):
            send(str(message))
        else:
            print_warning(message, category, *where)

    trouble, print_warning = Trouble(job.fatal), warnings.showwarning
    models, scorings = {job.name: job.model}, {job.name: job.scoring}
    with warnings.catch_warnings():
        warnings.showwarning = show  # type: ignore[assignment]
        try:
            with trouble.survived(job.name, None):
                for scored in score_in_turn(models, job.pairs, scorings, job.loading, trouble):
                    send(scored)
        except Exception as error:  # noqa: BLE001 - a fatal failure, which the parent raises
            trouble.failures.append(Failure(job.name, None, reason_of(error)))
    send(trouble.failures)


def _exit_with_parent() -> None:
    os.read(0, 1)  # returns when the parent has closed its end: nothing follows the job
    os._exit(1)


if __name__ == "__main__":
    with os.fdopen(os.dup(1), "wb") as stdout:
        os.dup2(2, 1)  # the code of a model may print, which must not mix with the answers
        received = pickle.load(sys.stdin.buffer)  # noqa: S301 - written by the parent
        threading.Thread(target=_exit_with_parent, daemon=True).start()
        answer(received, stdout)
