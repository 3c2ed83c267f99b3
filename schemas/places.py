"""Where results go, so that no file is lost that nnd did not write.

A folder that nnd writes has a JSON document whose `outputs` names the other files. Only what it
names is ever replaced, and the document; whatever else is in the folder is an error that names it.
A single file is replaced only where it is recognised as ours.

As with `nnd.schemas.atomic`, a kill at any moment leaves what was there or what is new, never a
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
"""Whether nnd wrote a file, from its first MiB."""

_AT_FDCWD = -100
_EXCHANGE = 2  # RENAME_EXCHANGE on Linux, RENAME_SWAP on macOS
_NO_EXCHANGE = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP}
_NAMED = 3
"""Files that an error names; it says how many more there are."""


@contextlib.contextmanager
def replace_folder(
    target: Path, *, files: Sequence[str], scaffold: str | None = None
) -> Iterator[Path]:
    """Hand out an empty folder; on leaving without an error, put it in the place of `target`.

    Args:
        target: The folder to make or to replace; parents are made as needed.
        files: What such a folder holds: first the JSON document whose `outputs` names the other
            files, then these. Older versions of nnd wrote the document without `outputs`: such a
            folder is replaced only if it holds these files, all of them and no others.
        scaffold: Name of a folder that may be in it, too, and goes with what is replaced; the
            caller knows that nnd wrote all in it.

    Raises:
        NNDError: If `target` is a file, or holds anything that nnd did not write, or is the working
            folder, the home folder or a folder above them, or cannot be written (no room, no
            permission); what was there before is left as it was.
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
                except NNDError:  # a file came in the last moment
                    _exchange(fresh, folder)
                    raise
            else:
                fresh.rename(folder)
            sync(folder.parent)


def check_replaceable(target: Path, *, files: Sequence[str], scaffold: str | None = None) -> None:
    """Check, before long work, that `replace_folder` will take `target` (arguments and errors)."""
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
    """Write files, and a JSON document that lists them, as a folder (errors of `replace_folder`).

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
    """Return what `outputs` says of a file: its size and its SHA-256."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return {"bytes": file.tell(), "sha256": digest}


@contextlib.contextmanager
def replace_own(path: Path, is_ours: IsOurs) -> Iterator[Path]:
    """Hand out a free path; on leaving without an error, put the file there in place of ours.

    Args:
        path: The file to make or to replace; folders are made as needed.
        is_ours: Tells whether nnd wrote an existing one.

    Raises:
        NNDError: If something else is there, before or on leaving; it is left as it was.
        OSError: As of `replace_file`.
    """
    check_own(path, is_ours)
    with replace_file(path) as fresh:
        yield fresh
        check_own(path, is_ours)


def check_own(path: Path, is_ours: IsOurs) -> None:
    """Check, before long work, that `replace_own` will take `path` (arguments and errors)."""
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
    """Hand out a free path; on leaving without an error, rename what is there to `target`.

    For what people may go on working on: nothing is ever replaced.

    Args:
        target: The file or folder to make; parents are made as needed.

    Raises:
        NNDError: If something has that name, before or on leaving, or it cannot be written.
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
    """Check, before long work, that `make_new` will take `target` (arguments and errors)."""
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
    """Return which files of a folder are ours: those that its document names, and itself."""
    document = files[0]
    try:
        outputs = json.loads((folder / document).read_text(encoding="utf-8"))["outputs"]
        return {document, *outputs.keys()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        held = {path.name for path in folder.iterdir()}
        return set(files) if held.issuperset(files) else set()


def _foreign(folder: Path, ours: Collection[str], parent: str = "") -> Iterator[str]:
    """Yield what a folder holds beside files of ours, with `/` behind the name of a folder."""
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
    aside = fresh.with_name(OLD)
    target.rename(aside)
    fresh.rename(target)  # should it fail, or be killed: `workplace` puts the old one back
    aside.rename(fresh)
