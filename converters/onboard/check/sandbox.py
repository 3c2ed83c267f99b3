"""Sandboxes of the system for a convert.py: bubblewrap, or a namespace without a network.

Neither is required: if none works, the code runs without a sandbox, and the check says so.
"""

import os
import shutil
import site
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

_KEPT = ("LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "PYTHONHOME")
"""Variables that Python itself may need; none holds a token."""

_LONGEST_PROBE_S = 20.0


class Sandbox(NamedTuple):
    """A way to run a program.

    Attributes:
        command: The command before it.
        description: What it is, for messages.
        holds: Whether the system itself keeps the program from the network and from changing files,
            whatever its code does to Python.
    """

    command: tuple[str, ...]
    description: str
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
