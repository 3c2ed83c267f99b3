"""Refusing to work in a forked process, which lacks the threads of polars, torch and Arrow.

The libraries do not notice: in the child they would wait forever for threads of the parent.
"""

import os

from nnd.schemas.errors import NNDError

_process: list[int] = []
"""The process that has used threads, copied by a fork."""


def check_not_forked() -> None:
    """Check that this process may use threads; to be called before it does.

    Raises:
        NNDError: If this process was forked from one that has used threads.
    """
    if not _process:
        _process.append(os.getpid())
    elif _process != [os.getpid()]:
        raise NNDError(
            "this process was forked from one that has used nnd, and would wait forever for its "
            "threads, which a fork does not copy; start processes with "
            'multiprocessing.get_context("spawn"), or fork before the first call of nnd'
        )
