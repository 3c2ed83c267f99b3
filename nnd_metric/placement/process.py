"""A process that scores one model: started, listened to and ended."""

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

from nnd.metric.placement.child import Answer, Job
from nnd.schemas import excerpt

Answers: TypeAlias = Queue[tuple[str, Answer | None]]
"""What the processes say, each answer after the name of its model; None is their end."""


class Process:
    """A process of its own for one model.

    It is a fresh interpreter, which does not run the user's script again as those of
    multiprocessing do, and an interrupt at the keyboard reaches it only through the one that asks.

    Args:
        job: What is asked of it.
        answers: Where its answers go, and None when it ends.
    """

    def __init__(self, job: Job, answers: Answers) -> None:
        self._job, self._answers = job, answers
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "nnd.metric.placement.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            start_new_session=True,
        )
        threading.Thread(target=self._listen, daemon=True).start()

    def death(self) -> str:
        """Return how the process ended, and what it said last."""
        code = self._process.wait()
        how = f"exit code {code}" if code >= 0 else signal.Signals(-code).name
        self._said.seek(0)
        last = self._said.read().decode(errors="replace").strip().splitlines()[-1:]
        said = "".join(f": {excerpt(line)}" for line in last)
        return (
            f"{self._job.name}: its process on {self._job.loading.device} ended early ({how}){said}"
        )

    def end(self) -> None:
        """End the process, if it has not ended."""
        self._process.kill()
        self._process.wait()
        self._said.close()

    def _listen(self) -> None:
        try:
            for answer in self._received():
                self._answers.put((self._job.name, answer))
        finally:
            self._answers.put((self._job.name, None))

    def _received(self) -> Iterator[Answer]:
        with (
            suppress(EOFError, OSError, pickle.UnpicklingError),
            cast("BinaryIO", self._process.stdin) as asked,
            cast("BinaryIO", self._process.stdout) as answers,
        ):
            pickle.dump(self._job, asked)
            asked.flush()
            while True:
                yield pickle.load(answers)  # noqa: S301 - of our own process
