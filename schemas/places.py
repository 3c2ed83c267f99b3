"""Writing results without losing files that nnd did not write.

A folder that nnd writes has a JSON document whose `outputs` names the other files. Only the
document and the files that it names are ever replaced; any other file in the folder is an error
that names it. A single file is replaced only if nnd recognises it as its own.

As with `nnd.schemas.atomic`, a kill at any moment leaves the old content or the new, never a
mix. (Replacing a folder takes two steps on file systems that cannot exchange two names.)
"""

import contextlib
import ctypes
import errno
import hashlib
import json
import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from nnd.schemas.atomic import replace_file, sync
from nnd.schemas.errors import NNDError
from nnd.schemas.workplaces import NEW, OLD, workplace

IsOurs: TypeAlias = Callable[[bytes], bool]
"""Says, from the first MiB of a file, whether nnd wrote it."""

_AT_FDCWD = -100
_EXCHANGE = 2  # RENAME_EXCHANGE on Linux, RENAME_SWAP on macOS
_NO_EXCHANGE = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP}
_NAMED = 3
"""Most files that an error names, before the number of others."""


@contextlib.contextmanager
def replace_folder(
    target: Path, *, files: Sequence[str], scaffold: str | None = None
) -> Iterator[Path]:
    """Yield an empty folder; on leaving without an error, replace `target` by it.

    Args:
        target: The folder to create or replace; missing parents are created.
        files: What such a folder holds: first the JSON document whose `outputs` names the other
            files, then these. Older versions of nnd wrote the document without `outputs`: such a
            folder is replaced only if it holds these files, all of them and no others.
        scaffold: Name of a folder in it that is replaced too; the caller knows that nnd wrote all
            of its content.

    Raises:
        NNDError: If `target` is a file, or holds anything that nnd did not write, or is the working
            folder, the home folder or a folder above them, or cannot be written (no room, no
            permission); the old content stays unchanged.
    """
    with _writing(target, "folder"):
        check_replaceable(target, files=files, scaffold=scaffold)
        folder = Path(os.path.realpath(target))  # a link is followed, not replaced
        folder.parent.mkdir(parents=True, exist_ok=True)
        with workplace(folder) as place:
            fresh = place / NEW
            fresh.mkdir()
            yield fresh
            _sync_all(fresh)
            # The work may have taken hours.
            check_replaceable(target, files=files, scaffold=scaffold)
            if folder.exists():
                _exchange(fresh, folder)
                try:
                    _check_ours(fresh, target, files, scaffold)
                except NNDError:  # a file was added at the last moment
                    _exchange(fresh, folder)
                    raise
            else:
                fresh.rename(folder)
            sync(folder.parent)


def check_replaceable(target: Path, *, files: Sequence[str], scaffold: str | None = None) -> None:
    """Check, before long work, that `replace_folder` accepts `target` (same arguments, errors)."""
    if target.exists() and not target.is_dir():
        raise NNDError(f"{target}: is a file; name a folder with --out")
    folder = Path(os.path.realpath(target))
    if folder in _protected():
        raise NNDError(
            f"{target}: the working folder, the home folder and the folders above them are never "
            "replaced; name a folder of its own with --out"
        )
    if folder.is_dir():
        _check_ours(folder, target, files, scaffold)


def write_folder(
    target: Path, facts: Mapping[str, Any], *, document: str, files: Mapping[str, bytes]
) -> None:
    """Write a folder of files and a JSON document that lists them (errors as in `replace_folder`).

    Args:
        target: The folder to make or to replace.
        facts: What the document says beside its `outputs`.
        document: Its name.
        files: Name → content of the others.
    """
    with replace_folder(target, files=(document, *files)) as folder:
        for name, content in files.items():
            (folder / name).write_bytes(content)
        write_document(folder, facts, document=document, files=[*files])


def write_document(
    folder: Path, facts: Mapping[str, Any], *, document: str, files: Sequence[str]
) -> None:
    """Write a JSON document that lists files as its `outputs`.

    Args:
        folder: Where they are, and where it goes.
        facts: What it says beside its `outputs`.
        document: Its name.
        files: Names of the others.
    """
    outputs = {name: fingerprint(folder / name) for name in files}
    text = json.dumps({**facts, "outputs": outputs}, indent=2, ensure_ascii=False)
    (folder / document).write_text(f"{text}\n", encoding="utf-8")


def fingerprint(path: Path) -> dict[str, Any]:
    """Return the entry of a file in `outputs`: its size and its SHA-256."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return {"bytes": file.tell(), "sha256": digest}


@contextlib.contextmanager
def replace_own(path: Path, is_ours: IsOurs) -> Iterator[Path]:
    """Yield a temporary path; on leaving without an error, move the file there to `path`.

    Args:
        path: The file to create or replace; missing folders are created.
        is_ours: Says whether nnd wrote an existing file.

    Raises:
        NNDError: If nnd did not write the existing file, which then stays unchanged.
        OSError: As in `replace_file`.
    """
    check_own(path, is_ours)
    with replace_file(path) as fresh:
        yield fresh
        check_own(path, is_ours)


def check_own(path: Path, is_ours: IsOurs) -> None:
    """Check, before long work, that `replace_own` accepts `path` (same arguments and errors)."""
    if path.is_dir():
        raise NNDError(f"{path}: is a folder; name a file")
    if not path.exists():
        return
    if path.is_file():
        with path.open("rb") as file:
            head = file.read(1 << 20)
        if not head or is_ours(head):
            return
    raise NNDError(
        f"{path}: nnd did not write this file, or it was changed since; remove it, or write to "
        "another place"
    )


@contextlib.contextmanager
def make_new(target: Path) -> Iterator[Path]:
    """Yield a temporary path; on leaving without an error, rename what is there to `target`.

    For files that people may edit: nothing is ever replaced.

    Args:
        target: The file or folder to create; missing parents are created.

    Raises:
        NNDError: If `target` exists, before or on leaving, or cannot be written.
    """
    check_new(target)
    with _writing(target, "place"):
        target.parent.mkdir(parents=True, exist_ok=True)
        with workplace(target) as place:
            fresh = place / NEW
            yield fresh
            _sync_all(fresh)
            check_new(target)
            fresh.rename(target)
            sync(target.parent)


def check_new(target: Path) -> None:
    """Check, before long work, that `make_new` accepts `target` (same arguments and errors)."""
    if os.path.lexists(target):
        raise NNDError(f"{target}: already exists; name another place with --out, or remove it")


def _protected() -> set[Path]:
    """Return the working folder, the home folder, and the folders above them."""
    found: set[Path] = set()
    for place in (Path.cwd, Path.home):
        with contextlib.suppress(OSError, RuntimeError):  # a removed one; a user without a home
            path = place().resolve()
            found.update((path, *path.parents))
    return found


def _check_ours(folder: Path, shown: Path, files: Sequence[str], scaffold: str | None) -> None:
    held = _foreign(folder, _listed(folder, files))
    foreign = [name for name in held if name != f"{scaffold}/"]
    if foreign:
        more = f" and {len(foreign) - _NAMED} more" if len(foreign) > _NAMED else ""
        raise NNDError(
            f"{shown}: contains files that nnd did not write: {', '.join(foreign[:_NAMED])}{more}; "
            "name another folder with --out, or move them away"
        )


def _listed(folder: Path, files: Sequence[str]) -> set[str]:
    """Return the files of a folder that are ours: its document, and those that it names."""
    document = files[0]
    try:
        outputs = json.loads((folder / document).read_text(encoding="utf-8"))["outputs"]
        return {document, *outputs.keys()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        held = {path.name for path in folder.iterdir()}
        return set(files) if held.issuperset(files) else set()


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
def _writing(target: Path, kind: str) -> Iterator[None]:
    """Raise errors of the disk as an NNDError with a remedy."""
    try:
        yield
    except OSError as error:
        raise NNDError(
            f"{target}: cannot be written: {error.strerror or error}; make room, or name another "
            f"{kind} with --out"
        ) from error


def _sync_all(path: Path) -> None:
    """Wait until a file, or a folder with its content, is on the disk."""
    for found in (*path.rglob("*"), path):
        sync(found)


def _exchange(fresh: Path, target: Path) -> None:
    """Swap two folders in one step if the system can, else in two."""
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
    aside = fresh.with_name(OLD)
    target.rename(aside)
    fresh.rename(target)  # should it fail, or be killed: `workplace` puts the old one back
    aside.rename(fresh)
