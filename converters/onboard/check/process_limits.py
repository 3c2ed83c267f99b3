"""Running a stranger's code within limits of time, memory, processes, output and file size."""

import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from nnd.schemas import NNDError

MOST_FILE_BYTES = 4 * 2**30
MOST_THREADS = 512 + 8 * (os.cpu_count() or 1)
"""Threads of all processes of a sandbox; polars and others start some for each core."""

ENDED = "was ended"
"""How a message about an exceeded limit begins."""

_TICK_S = 0.1
_SHOWN_BYTES = 2**16


class Limits(NamedTuple):
    """What a program may use; memory and processes include those that it starts (Linux only)."""

    seconds: float = 900.0
    memory_bytes: int = 4 * 2**30
    output_bytes: int = 4 * 2**20
    processes: int = 32


class _Usage(NamedTuple):
    memory_bytes: int
    processes: int


def run_limited(
    command: Sequence[str], limits: Limits, *, cwd: Path, env: Mapping[str, str]
) -> str | None:
    """Run a program; return how it failed, or None if it finished.

    What it prints goes to a file and not to this process, which watches its memory: a limit of the
    address space would stop polars from starting threads.

    Raises:
        NNDError: On Windows, which has no such limits.
    """
    if sys.platform == "win32":
        raise NNDError("Windows cannot limit what a program uses; check the source on Linux")
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(  # noqa: S603 - our own module
            command,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            exceeded = _watch(process, output, limits)
        finally:
            # What it started ends with it; macOS reports a group that has ended in another way.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if exceeded is not None:
            return f"{ENDED} {exceeded}"
        if process.returncode == 0:
            return None
        last = _last_line(output) or "without a message"
        return f"the process ended with {process.returncode}: {last}"


def limit_files() -> None:
    """Limit the size of the files that this process writes."""
    _lower("RLIMIT_FSIZE", MOST_FILE_BYTES)


def limit_threads() -> None:
    """Limit the threads of this sandbox.

    Linux counts them for each user namespace since 5.14, and before for all programs of the user,
    who may have more. It never limits root of the machine; `run_limited` counts processes too.
    """
    release = re.match(r"(\d+)\.(\d+)", platform.release())
    if sys.platform == "linux" and release and (int(release[1]), int(release[2])) >= (5, 14):
        _lower("RLIMIT_NPROC", MOST_THREADS)


def _lower(name: str, most: int) -> None:
    import resource  # noqa: PLC0415 - not there on Windows

    limit = getattr(resource, name)
    hard = resource.getrlimit(limit)[1]
    lower = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(limit, (lower, lower))


def _watch(process: subprocess.Popen[bytes], output: BinaryIO, limits: Limits) -> str | None:
    """Wait for a process; return the limit that it exceeded, or None once it has ended."""
    deadline = time.monotonic() + limits.seconds
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_TICK_S)
        if os.fstat(output.fileno()).st_size > limits.output_bytes:
            return f"because it printed more than {limits.output_bytes / 2**20:g} MiB"
        if process.returncode is not None:
            return None
        used = _usage(process.pid)
        if used.memory_bytes > limits.memory_bytes:
            return f"because it took more than {limits.memory_bytes / 2**30:g} GiB of memory"
        if used.processes > limits.processes:
            return f"because it started more than {limits.processes} processes"
        if time.monotonic() > deadline:
            return f"after {limits.seconds:g} s"


def _usage(root: int) -> _Usage:
    """Return what a process and its descendants use by `/proc`; nothing where there is none."""
    children: dict[int, list[int]] = {}
    pages: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has just ended
            # Fields 4 and 24 of proc(5); the name before them may contain blanks and brackets.
            fields = path.read_text(errors="replace").rpartition(")")[2].split()
            number = int(path.parent.name)
            children.setdefault(int(fields[1]), []).append(number)
            pages[number] = int(fields[21])
    tree = [root]
    for number in tree:
        tree += children.get(number, [])
    used = sum(pages.get(number, 0) for number in tree)
    return _Usage(used * os.sysconf("SC_PAGE_SIZE"), len(tree))


def _last_line(output: BinaryIO) -> str:
    output.seek(max(0, os.fstat(output.fileno()).st_size - _SHOWN_BYTES))
    lines = output.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""
