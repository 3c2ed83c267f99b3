"""What concerns the whole process: its garbage collector, and whether it was forked."""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager

from nnd.schemas.words.errors import NNDError

_process: list[int] = []
"""The process that has used threads, copied by a fork."""


def check_not_forked() -> None:
    """Check that this process may use threads of polars, torch and Arrow, before it does.

    In a forked process, these libraries would wait forever for threads of the parent.
    """
    if not _process:
        _process.append(os.getpid())
    elif _process != [os.getpid()]:
        raise NNDError(
            "process.forked",
            "this process was forked from one that has used nnd, and would wait forever "
            "for its threads, which a fork does not copy",
        )


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the collector, which would visit a million tuples repeatedly and free none of them.

    Objects outside reference cycles are freed as usual. It can be used as a decorator.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
