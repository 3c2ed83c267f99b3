"""A process that scores one model: `python -m nnd.metric.run.launchers.child_process`.

It reads a pickled `ScoringTask` from standard input, and writes pickled answers to standard output:
each shard when it is scored, the text of each warning, and at the end the list of failures, or the
error that is fatal. It exits when standard input is closed, because then its parent has ended.
"""

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import suppress
from queue import Queue
from typing import Any, BinaryIO, TypeAlias, cast

from nnd.metric.run.launchers.here import score_here
from nnd.metric.run.scoring_task import ScoredShard, ScoringTask
from nnd.metric.run.survival import Failure
from nnd.schemas import NNDError, ScoringError, ScoringWarning, excerpt

Answer: TypeAlias = ScoredShard | str | list[Failure] | NNDError
"""The scores of a shard, a warning, or, at last, the failures or a fatal error."""


Answers: TypeAlias = Queue[tuple[str, Answer | None]]
"""Answers of all processes, each with the name of its model; None means that the process ended."""


class Process:
    """A running child process for one model.

    It is a new interpreter that, unlike those of multiprocessing, does not import the user's script
    again. It has a session of its own, so that Ctrl-C reaches only the parent, which ends it.
    """

    def __init__(self, task: ScoringTask, answers: Answers) -> None:
        (self._name,), self._task, self._answers = task.models, task, answers
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "nnd.metric.run.launchers.child_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            start_new_session=True,
        )
        threading.Thread(target=self._listen, daemon=True).start()

    def death(self) -> str:
        """Return an error message: how the process ended, and its last line of standard error."""
        code = self._process.wait()
        how = f"exit code {code}" if code >= 0 else signal.Signals(-code).name
        self._stderr.seek(0)
        last = self._stderr.read().decode(errors="replace").strip().splitlines()[-1:]
        why = "".join(f": {excerpt(line)}" for line in last)
        return f"{self._name}: its process on {self._task.loading.device} ended early ({how}){why}"

    def end(self) -> None:
        """Kill the process if it is still running."""
        self._process.kill()
        self._process.wait()
        self._stderr.close()

    def _listen(self) -> None:
        try:
            for answer in self._received():
                self._answers.put((self._name, answer))
        finally:
            self._answers.put((self._name, None))

    def _received(self) -> Iterator[Answer]:
        with (
            suppress(EOFError, OSError, pickle.UnpicklingError),
            cast("BinaryIO", self._process.stdin) as stdin,
            cast("BinaryIO", self._process.stdout) as stdout,
        ):
            pickle.dump(self._task, stdin)
            stdin.flush()
            while True:
                yield pickle.load(stdout)  # noqa: S301 - written by our own process


def answer(task: ScoringTask, answers: BinaryIO) -> None:
    """Score a model, and write the pickled answers to a binary stream."""

    def send(message: Answer) -> None:
        pickle.dump(message, answers)
        answers.flush()

    def show(message: Warning | str, category: type[Warning], *where: Any) -> None:  # noqa: ANN401
        if issubclass(category, ScoringWarning):
            send(str(message))
        else:
            print_warning(message, category, *where)

    (name,), trouble, print_warning = task.models, task.trouble, warnings.showwarning
    last: Answer = trouble.failures
    with warnings.catch_warnings():
        warnings.showwarning = show  # type: ignore[assignment]
        try:
            with trouble.survived(name, None):
                for scored in score_here(task):
                    send(scored)
        except NNDError as error:  # the parent raises it
            last = error
        except Exception as error:  # noqa: BLE001 - models and their own code may raise anything
            last = ScoringError("worker.failed", repr(error), name)
    send(last)


def _exit_with_parent() -> None:
    os.read(0, 1)  # returns when the parent has closed its end: nothing follows the job
    os._exit(1)


if __name__ == "__main__":
    with os.fdopen(os.dup(1), "wb") as stdout:
        os.dup2(2, 1)  # the code of a model may print, which must not mix with the answers
        received = pickle.load(sys.stdin.buffer)  # noqa: S301 - written by the parent
        threading.Thread(target=_exit_with_parent, daemon=True).start()
        answer(received, stdout)
