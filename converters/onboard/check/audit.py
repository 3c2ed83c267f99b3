"""Watching what a convert.py requests from the system, by Python's audit events.

This does not confine the code, which runs in the same interpreter and can switch it off with one
line. Requests that are seen are refused and reported; a sandbox lets the system confine the
process.
"""

import _posixsubprocess
import ctypes  # noqa: F401 - it looks up symbols itself when it is first imported
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nnd.schemas import excerpt

_REFUSED = (
    *(
        "socket.connect",
        "socket.getaddrinfo",
        "socket.gethostby",
        "socket.sendto",
        "socket.sendmsg",
    ),
    *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.kill"),
    *("ctypes.dlsym", "sqlite3.load_extension"),
)
"""Prefixes of the events that report a connection, another program, or native code."""

_CHANGES: dict[str, tuple[tuple[int, int | None], ...]] = {
    "os.remove": ((0, 1),),
    "os.rmdir": ((0, 1),),
    "os.mkdir": ((0, 2),),
    "os.rename": ((0, 2), (1, 3)),
    "os.link": ((0, 2), (1, 3)),
    "os.symlink": ((1, 2),),
    "os.truncate": ((0, None),),
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.utime": ((0, 3),),
    "os.setxattr": ((0, None),),
    "os.removexattr": ((0, None),),
    "sqlite3.connect": ((0, None),),
}
"""Event → the positions, in its arguments, of a changed path and of its folder."""

_NAMES = ("os.remove", "os.rmdir", "os.mkdir", "os.rename", "os.link", "os.symlink")
"""Events that change a name itself; the others follow links."""

_READING = ("open", "os.listdir", "os.scandir")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class RefusedError(RuntimeError):
    """A converter requested something that no converter needs."""


def watch(code: Path, place: Path) -> list[str]:
    """Start to refuse and note what no converter needs.

    These are connections, other programs, native code, changes to files outside `place`, and
    reading while convert.py, at `code`, is imported. The returned list grows with each refusal,
    even if a converter catches the error.
    """
    refused: list[str] = []
    inside = place.resolve()

    def refuse(what: str) -> None:
        refused.append(what)
        raise RefusedError(f"{what} was refused")

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event.startswith(_REFUSED) or (event == "ctypes.dlopen" and arguments[0] is not None):
            refuse(f"{event} {_shown(arguments)}")
        elif event in _READING and _is_imported(str(code)):
            refuse(f"import: {event} {arguments[0]}")
        elif event == "open" or event in _CHANGES:
            for path in _changed(event, arguments):
                if not (path.is_relative_to(inside) or path == Path(os.devnull)):
                    refuse(f"{event} {excerpt(str(path), 200)}")

    _replace_fork_exec(refuse)
    sys.addaudithook(hook)
    return refused


def _replace_fork_exec(refuse: Callable[[str], None]) -> None:
    """Report the function below `subprocess`, for which Python has no event."""

    def fork_exec(arguments: object, *_: object) -> None:
        refuse(f"_posixsubprocess.fork_exec {_shown((arguments,))}")

    _posixsubprocess.fork_exec = fork_exec  # type: ignore[assignment]


def _shown(arguments: tuple[Any, ...]) -> str:
    texts = [str(one) for one in arguments if isinstance(one, str | bytes | tuple | list | int)]
    return excerpt(" ".join(texts), 200)


def _is_imported(code: str) -> bool:
    """Say whether the top level of convert.py is the caller, rather than an import in it."""
    frame = sys._getframe(2)  # noqa: SLF001 - no other way leads to the caller of the hook
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith("<frozen importlib"):
            return False
        if name == code and frame.f_code.co_name == "<module>":
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


def _changed(event: str, arguments: tuple[Any, ...]) -> list[Path]:
    """Return the paths that an event changes; open files have none."""
    if event == "open":
        path, mode, flags = arguments
        writes = bool(flags & _WRITING) if mode is None else bool(set(mode) & set("wax+"))
        return [_resolved(path, None)] if writes and not isinstance(path, int) else []
    found = [
        (arguments[path], None if folder is None else arguments[folder])
        for path, folder in _CHANGES[event]
        if not isinstance(arguments[path], int)
    ]
    if event in _NAMES:
        return [_resolved(Path(os.fsdecode(path)).parent, folder) for path, folder in found]
    return [_resolved(path, folder) for path, folder in found]


def _resolved(path: str | bytes | os.PathLike[str], folder: int | None) -> Path:
    """Return the target of a path, which may be relative to an open folder."""
    base = Path() if folder is None or folder < 0 else Path(f"/dev/fd/{folder}")
    return (base / os.fsdecode(path)).resolve()
