"""Running a stranger's code in a sandbox, within limits of time, memory, output and processes.

Sandboxes are bubblewrap, or a namespace without a network. Neither is required: if none works, the
code runs without a sandbox, and the check says so.
"""

import os
import shutil
import signal
import site
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from nnd.schemas import NNDError

ENDED = "was ended"
"""How a message about an exceeded limit begins."""

_TICK_S = 0.1
_SHOWN_BYTES = 2**16

_KEPT = ("LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "PYTHONHOME")
"""Variables that Python itself may need; none holds a token."""

_LONGEST_PROBE_S = 20.0


class Limits(NamedTuple):
    """What a program may use; memory and processes include those that it starts (Linux only)."""

    seconds: float = 900.0
    memory_bytes: int = 4 * 2**30
    output_bytes: int = 4 * 2**20
    processes: int = 32


def run_limited(
    command: Sequence[str], limits: Limits, *, cwd: Path, env: Mapping[str, str]
) -> str | None:
    """Run a program; return how it failed, or None if it finished.

    What it prints goes to a file and not to this process, which watches its memory: a limit of the
    address space would stop polars from starting threads.
    """
    if sys.platform == "win32":
        raise NNDError("platform.unsupported", "Windows cannot limit what a program uses")
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
        output.seek(max(0, os.fstat(output.fileno()).st_size - _SHOWN_BYTES))
        lines = output.read().decode(errors="replace").strip().splitlines()
        last = lines[-1] if lines else "without a message"
        return f"the process ended with {process.returncode}: {last}"


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
        memory_bytes, processes = _usage(process.pid)
        if memory_bytes > limits.memory_bytes:
            return f"because it took more than {limits.memory_bytes / 2**30:g} GiB of memory"
        if processes > limits.processes:
            return f"because it started more than {limits.processes} processes"
        if time.monotonic() > deadline:
            return f"after {limits.seconds:g} s"


def _usage(root: int) -> tuple[int, int]:
    """Return memory in bytes and number of a process and its descendants, by `/proc` if any."""
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
    return used * os.sysconf("SC_PAGE_SIZE"), len(tree)


class Sandbox(NamedTuple):
    """A way to run a program."""

    command: tuple[str, ...]  # the command before it
    description: str  # what it is, for messages
    # Whether the system itself keeps the program from the network and from changing files, whatever
    # its code does to Python.
    holds: bool = False


NONE = Sandbox((), "without a sandbox (neither bwrap nor unshare -rn works here)")


def find_sandbox(place: Path) -> Sandbox:
    """Return the strictest sandbox that works here; code in it may write to one folder."""
    return next(filter(_works, sandboxes(place)), NONE)


def sandboxes(place: Path) -> Iterator[Sandbox]:
    """Yield the sandboxes that are installed, the strictest first; see `find_sandbox`."""
    if bwrap := shutil.which("bwrap"):
        yield Sandbox(
            (
                *(bwrap, "--unshare-all", "--die-with-parent", "--new-session"),
                *("--cap-drop", "ALL"),  # root could make the disk writable again
                *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
                # Services such as docker listen in /run, and act for who connects.
                *("--tmpfs", "/run", "--ro-bind-try", "/run/media", "/run/media"),
                *("--bind", str(place), str(place)),
            ),
            "under bwrap (no network; it can write to a temporary folder only)",
            holds=True,
        )
    if unshare := shutil.which("unshare"):
        yield Sandbox(
            (unshare, "--map-root-user", "--net", "--pid", "--fork", "--kill-child"),
            "under unshare -rn (no network)",
        )


def _works(sandbox: Sandbox) -> bool:
    """Say whether a sandbox is allowed: in containers it often is not."""
    try:
        done = subprocess.run(  # noqa: S603 - our own command
            [*sandbox.command, sys.executable, "-c", ""],
            capture_output=True,
            check=False,
            timeout=_LONGEST_PROBE_S,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def clean_environment(home: Path, work: Path) -> Mapping[str, str]:
    """Return environment variables for a stranger's code, without information about the user."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return kept | {
        "HOME": str(home),
        "TMPDIR": str(work),
        # Libraries stay importable although the home and the working folder change.
        "PYTHONPATH": os.pathsep.join(str(Path(path).absolute()) for path in paths if path),
        "PYTHONUSERBASE": site.getuserbase(),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
