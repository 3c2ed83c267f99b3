"""Writing results without losing files that nnd did not write.

A folder that nnd writes has a JSON document that lists the other files with their digests. Only
files that did not change since then are ever replaced; any other file in the folder is an error
that names it. A single file has its own digest (`files.digests`), and is replaced likewise.

As with `nnd.schemas.files.atomic`, a kill at any moment leaves the old content or the new, never a
mix. (Replacing a folder takes two steps on file systems that cannot exchange two names.)
"""

import contextlib
import ctypes
import errno
import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from nnd.schemas.files.atomic import keep_access, replace_file, sync, sync_exchange
from nnd.schemas.files.disk_errors import remedy_for
from nnd.schemas.files.documents import list_files, other_version, own_files, write_document
from nnd.schemas.files.workplaces import NEW, OLD, has_locks, workplace
from nnd.schemas.words.errors import NNDError
from nnd.schemas.words.texts import listed

IsOurs: TypeAlias = Callable[[Path], bool]
"""Says whether nnd wrote a file and no person changed it since."""

_AT_FDCWD = -100
_EXCHANGE = 2  # RENAME_EXCHANGE on Linux, RENAME_SWAP on macOS
_NO_EXCHANGE = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP}
_NAMED = 3
"""Most files that an error names, before the number of others."""


@contextlib.contextmanager
def replace_folder(
    target: Path, *, document: str, scaffold: str | None = None, beside: Collection[str] = ()
) -> Iterator[Path]:
    """Yield an empty folder; on leaving without an error, replace `target` by it.

    Missing parents are created; the mode and the group of an older folder stay. `document` is the
    file in it that lists the others. `scaffold` is a folder in it that is replaced too, as are the
    files `beside`; the caller knows that nnd wrote all of their content.

    Raises:
        NNDError: If `target` is a file, or holds anything that nnd did not write or that was
            changed since, or is the working folder, the home folder or a folder above them, or
            cannot be written (no room, no permission); the old content stays unchanged.
    """
    with _writing(target):
        check_replaceable(target, document=document, scaffold=scaffold, beside=beside)
        folder = Path(os.path.realpath(target))  # a link is followed, not replaced
        with workplace(folder) as place:
            fresh = place / NEW
            fresh.mkdir()
            yield fresh
            for path in (fresh, *fresh.rglob("*")):
                keep_access(folder / path.relative_to(fresh), path)
            _sync_all(fresh)
            # The work may have taken hours.
            check_replaceable(target, document=document, scaffold=scaffold, beside=beside)
            if folder.exists():
                _exchange(fresh, folder)
                try:
                    _check_ours(fresh, target, document, (scaffold, *beside))
                except NNDError:  # a file was added at the last moment
                    _exchange(fresh, folder)
                    raise
            else:
                fresh.rename(folder)
            sync_exchange(folder)


def check_replaceable(
    target: Path, *, document: str, scaffold: str | None = None, beside: Collection[str] = ()
) -> None:
    """Check, before long work, that `replace_folder` accepts `target` (same arguments, errors)."""
    if target.exists() and not target.is_dir():
        raise NNDError("place.wrong-kind", "is a file", target)
    folder = Path(os.path.realpath(target))
    if folder in _protected():
        raise NNDError(
            "place.never-replaced",
            "the working folder, the home folder and the folders above them are never replaced",
            target,
        )
    if folder.is_dir():
        _check_ours(folder, target, document, (scaffold, *beside))


@contextlib.contextmanager
def exclusive(target: Path) -> Iterator[None]:
    """Let one process at a time read and replace a folder; others wait until it leaves the block.

    The lock is a hidden file next to the folder, removed on leaving; missing parents are created.
    Raises NNDError if the lock cannot be made (no room, no permission).
    """
    from filelock import FileLock  # noqa: PLC0415 - imports asyncio

    folder = Path(os.path.realpath(target))
    path = folder.with_name(f".{folder.name}.lock")
    with contextlib.ExitStack() as stack:
        with _writing(target):
            path.parent.mkdir(parents=True, exist_ok=True)
            if has_locks(path):  # else as in `workplace`: without
                stack.enter_context(FileLock(path))
        try:
            yield
        finally:  # still locked: a process that waits for the removed file makes another
            with contextlib.suppress(OSError):
                path.unlink()


def write_folder(
    target: Path,
    facts: Mapping[str, Any],
    *,
    document: str,
    files: Mapping[str, bytes],
    unlisted: Mapping[str, bytes] = {},
) -> None:
    """Write a folder of files and a JSON document that lists them (errors as in `replace_folder`).

    `facts` is what the document says beside its `outputs`; `files` gives name → content of the
    others, and `unlisted` that of files in `UNLISTED`.
    """
    with replace_folder(target, document=document) as folder:
        for name, content in {**files, **unlisted}.items():
            (folder / name).write_bytes(content)
        outputs = list_files(folder, files)
        write_document(folder, {**facts, "outputs": outputs}, document=document)


@contextlib.contextmanager
def replace_own(path: Path, is_ours: IsOurs) -> Iterator[Path]:
    """Yield a temporary path; on leaving without an error, move the file there to `path`.

    Missing folders are created. `is_ours` says whether nnd wrote an existing file, and no person
    changed it since.

    Raises:
        NNDError: If this is not so; the existing file then stays unchanged.
        OSError: As in `replace_file`.
    """
    check_own(path, is_ours)
    with replace_file(path) as fresh:
        yield fresh
        check_own(path, is_ours)


def check_own(path: Path, is_ours: IsOurs) -> None:
    """Check, before long work, that `replace_own` accepts `path` (same arguments and errors)."""
    if path.is_dir():
        raise NNDError("place.wrong-kind", "is a folder", path, "name a file")
    if not path.exists():
        return
    if path.is_file() and (not path.stat().st_size or is_ours(path)):
        return
    raise NNDError(
        "place.foreign-files",
        "nnd did not write this file, or it was changed since",
        path,
        "remove it, or write to another place",
    )


@contextlib.contextmanager
def make_new(target: Path) -> Iterator[Path]:
    """Yield a temporary path; on leaving without an error, rename what is there to `target`.

    This is for files and folders that people may edit: nothing is ever replaced. Missing parents
    are created. Raises NNDError if `target` exists, before or on leaving, or cannot be written.
    """
    check_new(target)
    with _writing(target), workplace(target) as place:
        fresh = place / NEW
        yield fresh
        _sync_all(fresh)
        check_new(target)
        fresh.rename(target)
        sync_exchange(target)


def check_new(target: Path) -> None:
    """Check, before long work, that `make_new` accepts `target` (same arguments and errors)."""
    if os.path.lexists(target):
        raise NNDError("place.exists", "already exists", target)


def _protected() -> set[Path]:
    """Return the working folder, the home folder, and the folders above them."""
    protected: set[Path] = set()
    for place in (Path.cwd, Path.home):
        with contextlib.suppress(OSError, RuntimeError):  # a removed one; a user without a home
            path = place().resolve()
            protected.update((path, *path.parents))
    return protected


def _check_ours(
    folder: Path, shown: Path, document: str, vouched_for: Collection[str | None]
) -> None:
    held = _foreign(folder, own_files(folder, document))
    foreign = [name for name in held if name.removesuffix("/") not in vouched_for]
    if not foreign:
        return
    names = listed(foreign, _NAMED)
    version = other_version(folder, document) if document in foreign else None
    if version is not None:
        raise NNDError(
            "place.foreign-files",
            f"{document} says that nnd {version} wrote it, in another form than this "
            f"version, so nothing is replaced ({names})",
            shown,
        )
    raise NNDError(
        "place.foreign-files",
        f"contains files that nnd did not write, or that were changed since: {names}",
        shown,
    )


def _foreign(folder: Path, ours: Collection[str], parent: str = "") -> Iterator[str]:
    """Yield the content of a folder except our files; names of folders end in `/`."""
    for path in sorted(folder.iterdir()):
        name = f"{parent}{path.name}"
        if path.is_symlink() or not path.is_dir():
            if name not in ours or path.is_symlink() or not path.is_file():
                yield name
        elif any(file.startswith(f"{name}/") for file in ours):
            yield from _foreign(path, ours, f"{name}/")
        else:
            yield f"{name}/"


@contextlib.contextmanager
def _writing(target: Path) -> Iterator[None]:
    """Raise errors of the disk as an NNDError with a remedy."""
    try:
        yield
    except OSError as error:
        raise NNDError(
            "place.cannot-write",
            f"cannot be written: {error.strerror or error}",
            target,
            f"{remedy_for(error)} with --out",
        ) from error


def _sync_all(path: Path) -> None:
    """Wait until a file, or a folder with its content, is on the disk."""
    for found in (*path.rglob("*"), path):
        sync(found)


def _exchange(fresh: Path, target: Path) -> None:
    """Swap two folders in one step if the system can, else in two."""
    libc = ctypes.CDLL("kernel32" if sys.platform == "win32" else None, use_errno=True)
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
    aside = fresh.with_name(OLD)
    target.rename(aside)
    fresh.rename(target)  # should it fail, or be killed: `workplace` puts the old one back
    aside.rename(fresh)
