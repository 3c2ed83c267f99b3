"""The parent's side of a child process that scores one model."""

import pickle
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from queue import Queue
from typing import BinaryIO, TypeAlias, cast

from nnd.metric.run.placement.child_process import Answer, Job
from nnd.schemas import excerpt

Answers: TypeAlias = Queue[tuple[str, Answer | None]]
"""Answers of all processes, each with the name of its model; None means that the process ended."""


class Process:
    """A running child process for one model.

    It is a new interpreter that, unlike those of multiprocessing, does not import the user's script
    again. It has a session of its own, so that Ctrl-C reaches only the parent, which ends it.

    Args:
        job: The model to score.
        answers: Queue for its answers, and for None when it ends.
    """

    def __init__(self, job: Job, answers: Answers) -> None:
        self._job, self._answers = job, answers
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "nnd.metric.run.placement.child_process"],
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
        return (
            f"{self._job.name}: its process on {self._job.loading.device} ended early ({how}){why}"
        )

    def end(self) -> None:
        """Kill the process if it is still running."""
        self._process.kill()
        self._process.wait()
        self._stderr.close()

    def _listen(self) -> None:
        try:
            for answer in self._received():
                self._answers.put((self._job.name, answer))
        finally:
            self._answers.put((self._job.name, None))

    def _received(self) -> Iterator[Answer]:
        with (
            suppress(EOFError, OSError, pickle.UnpicklingError),
            cast("BinaryIO", self._process.stdin) as stdin,
            cast("BinaryIO", self._process.stdout) as stdout,
        ):
            pickle.dump(self._job, stdin)
            stdin.flush()
            while True:
                yield pickle.load(stdout)  # noqa: S301 - written by our own process
