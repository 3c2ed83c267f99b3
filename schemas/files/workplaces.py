"""Hidden folders in which files are made before they are moved to their final name.

The folder is next to the target, is called `.NAME.1f2e3d4c`, and has a file that its owner keeps
locked while it runs. The next run for the same target removes what a killed run left, once the lock
is free. A file system may support locks of one host only, so folders of other hosts stay.
"""

import contextlib
import errno
import os
import platform
import re
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

NEW = "new"
"""Name of the new file or folder in a workplace."""

OLD = "old"
"""Name of the old one, if it is moved away first; it is moved back if nothing replaced it."""

_LOCK = ".nnd-lock"
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP}
_LOCKED_BYTE = 4096
"""On Windows, which lets no other process read a locked byte: one after the names of the host."""

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@contextlib.contextmanager
def workplace(target: Path) -> Iterator[Path]:
    """Yield a private folder next to `target`, in which NEW can be made; remove it on leaving.

    Leftovers of killed runs for the same target are removed first.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(target)
    place, lock = _claim(target)
    try:
        yield place
    finally:
        _remove(place, target, lock)


@contextlib.contextmanager
def temporary_folder(name: str) -> Iterator[Path]:
    """Yield an empty folder among the system's temporary files; remove it on leaving.

    Unlike with `tempfile.TemporaryDirectory`, the next run that requests the same name removes a
    folder that a killed run left.
    """
    with workplace(Path(tempfile.gettempdir(), name)) as place:
        (place / NEW).mkdir()
        yield place / NEW


def _claim(target: Path) -> tuple[Path, int]:
    """Make a workplace; return it with its lock, an open file."""
    while True:
        place = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
        place.mkdir(mode=0o700)
        with contextlib.suppress(FileNotFoundError):  # `_remove_dead` was there before the lock
            lock = os.open(place / _LOCK, os.O_CREAT | os.O_RDWR, mode=0o600)
            try:
                os.write(lock, " ".join(_here()).encode())
                with contextlib.suppress(OSError):  # a file system without locks
                    _lock(lock, wait=True)
                (place / _LOCK).stat()
            except BaseException:
                _remove(place, target, lock)
                raise
            return place, lock


def has_locks(path: Path) -> bool:
    """Whether the file system of a file, which is made, has locks: NFS may be without."""
    file = os.open(path, os.O_CREAT | os.O_RDWR, mode=0o600)
    try:
        _lock(file, wait=False)
    except OSError as error:
        return error.errno not in _NO_LOCKS
    finally:
        os.close(file)
    return True


def _lock(file: int, *, wait: bool) -> None:
    """Lock an open file; the system releases it when the file is closed or the process ends.

    Raises:
        OSError: If another process holds it, or the file system has no locks.
    """
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415 - only there

        os.lseek(file, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        os.lseek(file, 0, os.SEEK_SET)
    else:
        import fcntl  # noqa: PLC0415 - not there on Windows

        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


def _remove_leftovers(target: Path) -> None:
    name = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{8}}")
    with contextlib.suppress(OSError):  # a folder that may not be listed
        for path in target.parent.iterdir():
            if name.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
                _remove_dead(path, target)


def _remove_dead(place: Path, target: Path) -> None:
    """Remove a workplace unless its owner is, or may be, alive."""
    try:
        lock = os.open(place / _LOCK, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        with contextlib.suppress(OSError):  # killed before it had a lock: it is empty
            place.rmdir()
        return
    try:
        _lock(lock, wait=False)
        owner = os.read(lock, 1000).decode(errors="replace").split()
    except OSError:  # alive, or on a file system without locks
        os.close(lock)
        return
    if not owner or _here().intersection(owner):  # empty: killed before it wrote
        _remove(place, target, lock)
    else:
        os.close(lock)


def _remove(place: Path, target: Path, lock: int) -> None:
    """Remove a workplace, its lock last, since this run may be killed too."""
    with contextlib.suppress(OSError):
        try:
            if (place / OLD).exists() and not os.path.lexists(target):
                (place / OLD).rename(target)  # a replacement was killed between its two steps
            for path in place.iterdir():
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                elif path.name != _LOCK:
                    path.unlink()
        finally:
            os.close(lock)  # before it is removed, because Windows removes no open file
        (place / _LOCK).unlink()
        place.rmdir()


@cache
def _here() -> frozenset[str]:
    """Return names of this host: one for containers that share a kernel, one for reboots."""
    names = {platform.node()}
    with contextlib.suppress(OSError):
        names.add(_BOOT_ID.read_text(encoding="ascii").strip())
    return frozenset(names - {""})
