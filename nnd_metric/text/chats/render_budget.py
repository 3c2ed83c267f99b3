"""A budget for rendering a chat template, which is a program that a stranger wrote.

A template that loops or doubles a text would take the process with it. Another thread looks at the
clock and the memory, and ends the rendering between two steps.
"""

import ctypes
import mmap
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SECONDS = 5.0
BYTES = 1 << 30
_POLL_S = 0.05
_STATM = "/proc/self/statm"


class OverBudgetError(Exception):
    """A template took more time or memory than it may."""

    def __str__(self) -> str:
        return f"it takes more than {SECONDS:g} seconds or {BYTES >> 30} GiB"


@contextmanager
def rendering_budget() -> Iterator[None]:
    """End the block with OverBudgetError when it takes too long or too much memory.

    Memory is only seen on Linux.
    """
    thread, done, lock = threading.get_ident(), threading.Event(), threading.Lock()

    def watch() -> None:
        begin, waited = _memory(), 0.0
        while not done.wait(_POLL_S):
            waited += _POLL_S
            if waited >= SECONDS or _memory() - begin > BYTES:
                with lock:
                    if not done.is_set():
                        _raise_in(thread)
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        with lock:
            done.set()


def _raise_in(thread: int) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread), ctypes.py_object(OverBudgetError)
    )


def _memory() -> int:
    """Return the bytes that the process takes, 0 if it is not known."""
    if sys.platform != "linux":
        return 0
    with open(_STATM, "rb") as file:  # noqa: PTH123 - read often
        return int(file.read().split()[1]) * mmap.PAGESIZE
