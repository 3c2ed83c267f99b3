"""What a process of its own does with one model: `python -m nnd.metric.placement.child`.

It reads a pickled `Job` from its standard input, and writes pickled answers to its standard output:
(dataset, Scored) as they come, the text of each warning, and at last the list of failures. It ends
when its input does, because then the process that asks has ended.
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
from nnd.metric.engine import Scoring
from nnd.metric.models import Loading
from nnd.metric.placement.in_turn import score_in_turn
from nnd.metric.results import Scored
from nnd.metric.trouble import Failure, Trouble, reason_of
from nnd.schemas import ScoringWarning

Answer: TypeAlias = tuple[str, Scored] | str | list[Failure]


@dataclass(frozen=True, slots=True)
class Job:
    """What is asked.

    Attributes:
        name: What results call the model.
        model: Hub id or folder.
        pairs: Dataset → its pairs.
        scoring: How they are scored.
        loading: How the model is loaded, with its device.
        fatal: Whether the first failure ends it.
    """

    name: str
    model: str
    pairs: Mapping[str, PairSet]
    scoring: Scoring
    loading: Loading
    fatal: bool


def answer(job: Job, answers: BinaryIO) -> None:
    """Score a model, and write what comes of it."""

    def send(found: Answer) -> None:
        pickle.dump(found, answers)
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
                for found in score_in_turn(models, job.pairs, scorings, job.loading, trouble):
                    send(found)
        except Exception as error:  # noqa: BLE001 - it is fatal: the process that asks raises it
            trouble.failures.append(Failure(job.name, None, reason_of(error)))
    send(trouble.failures)


def _end_with_input() -> None:
    os.read(0, 1)  # returns at the end: nothing follows the job
    os._exit(1)


if __name__ == "__main__":
    with os.fdopen(os.dup(1), "wb") as own:
        os.dup2(2, 1)  # what the code of models prints is no answer
        asked = pickle.load(sys.stdin.buffer)  # noqa: S301 - of the process that started this one
        threading.Thread(target=_end_with_input, daemon=True).start()
        answer(asked, own)
