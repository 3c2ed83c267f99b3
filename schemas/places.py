"""Where results go: a folder that is replaced as a whole, or a place where nothing is yet.

As with `nnd.schemas.atomic`, a kill at any moment leaves what was there or what is new, never a
mix. (Replacing a folder takes two steps on file systems that cannot exchange two names.)
"""

import contextlib
import ctypes
import errno
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from nnd.schemas.atomic import path_beside, sync
from nnd.schemas.errors import NNDError

_AT_FDCWD = -100
_EXCHANGE = 2  # RENAME_EXCHANGE on Linux, RENAME_SWAP on macOS
_NO_EXCHANGE = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP}


@contextlib.contextmanager
def replace_folder(target: Path, *, marker: str) -> Iterator[Path]:
    """Hand out an empty folder beside `target`; on leaving without an error, put it in its place.

    Args:
        target: The folder to make or to replace; parents are made as needed.
        marker: A file that every such folder holds. An existing folder is replaced only when it
            holds one, so that nobody loses a folder that is something else.

    Raises:
        NNDError: If `target` is a file, or a folder with other things in it, or cannot be written
            (no room, no permission); what was there before is left as it was.
    """
    with _writing(target, "folder"):
        target = Path(os.path.realpath(target))  # a link is followed, not replaced
        check_replaceable(target, marker=marker)
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = path_beside(target)
        fresh.mkdir()
        try:
            yield fresh
            _sync_all(fresh)
            if target.exists():
                _exchange(fresh, target)
            else:
                fresh.rename(target)
            sync(target.parent)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)


def check_replaceable(target: Path, *, marker: str) -> None:
    """Check, before long work, that `replace_folder` will take `target` (arguments and errors)."""
    if target.exists() and not target.is_dir():
        raise NNDError(f"{target}: is a file; name a folder with --out")
    if target.is_dir() and any(target.iterdir()) and not (target / marker).is_file():
        raise NNDError(
            f"{target}: holds something else (there is no {marker} in it); "
            "name another folder with --out, or empty it"
        )


@contextlib.contextmanager
def make_new(target: Path) -> Iterator[Path]:
    """Hand out a free path beside `target`; on leaving without an error, rename it to `target`.

    For what people may go on working on: nothing is ever replaced.

    Args:
        target: The file or folder to make; parents are made as needed.

    Raises:
        NNDError: If something has that name, before or on leaving, or it cannot be written.
    """
    check_new(target)
    fresh = path_beside(target)
    with _writing(target, "place"):
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            yield fresh
            _sync_all(fresh)
            check_new(target)
            fresh.rename(target)
            sync(target.parent)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
            with contextlib.suppress(OSError):
                fresh.unlink()


def check_new(target: Path) -> None:
    """Check, before long work, that `make_new` will take `target` (arguments and errors)."""
    if os.path.lexists(target):
        raise NNDError(f"{target}: already exists; name another place with --out, or remove it")


@contextlib.contextmanager
def _writing(target: Path, kind: str) -> Iterator[None]:
    """Explain what goes wrong with the disk."""
    try:
        yield
    except OSError as error:
        raise NNDError(
            f"{target}: cannot be written: {error.strerror or error}; make room, or name another "
            f"{kind} with --out"
        ) from error


def _sync_all(path: Path) -> None:
    """Wait until the disk has a file, or a folder and all in it."""
    for found in (*path.rglob("*"), path):
        sync(found)


def _exchange(fresh: Path, target: Path) -> None:
    """Swap two folders in one step where the system can, else in two."""
    libc = ctypes.CDLL(None, use_errno=True)
    old, new = os.fsencode(fresh), os.fsencode(target)
    if sys.platform == "linux" and hasattr(libc, "renameat2"):
        failed = libc.renameat2(_AT_FDCWD, old, _AT_FDCWD, new, _EXCHANGE)
    elif sys.platform == "darwin":
        failed = libc.renamex_np(old, new, _EXCHANGE)
    else:
        failed = ctypes.set_errno(errno.ENOSYS) or -1
    if not failed:
        return
    code = ctypes.get_errno()
    if code not in _NO_EXCHANGE:
        raise OSError(code, os.strerror(code), str(target))
    aside = target.with_name(f"{fresh.name}.old")
    target.rename(aside)
    try:
        fresh.rename(target)
    except OSError:
        aside.rename(target)
        raise
    shutil.rmtree(aside, ignore_errors=True)
