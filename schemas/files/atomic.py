"""Writing a file so that a kill or a power cut leaves the old one or the new one, never a part."""

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from nnd.schemas.files.workplaces import NEW, workplace

_NO_FOLDER_SYNC = {errno.EACCES, errno.EINVAL, errno.ENOTSUP}


@contextlib.contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path; on leaving without an error, move the file there to `path`.

    This is for writers that need a path; `write_whole` takes the content itself. To write several
    files before replacing the first, enter their contexts in one `contextlib.ExitStack`. Missing
    folders are created.

    Raises:
        OSError: If it cannot be written; the error names `path` or a folder that cannot be created,
            and an older file stays unchanged.
    """
    target = Path(os.path.realpath(path))  # a link is followed, not replaced
    try:
        with workplace(target) as place:
            yield place / NEW
            put_in_place(place / NEW, target)
    except OSError as error:
        ours = str(target.with_name(f".{target.name}."))
        if error.filename is None or str(error.filename).startswith(ours):
            raise OSError(error.errno, error.strerror or str(error), str(path)) from error
        raise


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file in one step, a text as UTF-8 (folders and errors as in `replace_file`)."""
    with replace_file(path) as fresh:
        fresh.write_bytes(content.encode() if isinstance(content, str) else content)


def put_in_place(fresh: Path, target: Path) -> None:
    """Rename a finished file to its final name, and make it survive a power cut.

    Both are on one file system. An existing file is replaced, and its mode and group stay.
    """
    keep_access(target, fresh)
    sync(fresh)
    fresh.replace(target)
    sync_exchange(target)


def sync_exchange(target: Path) -> None:
    """Wait until the new name of a file or folder is on the disk.

    Raises:
        OSError: If the disk refuses; the error says that what is written is in place all the same.
    """
    try:
        sync(target.parent)
    except OSError as error:
        raise OSError(
            error.errno,
            f"{error.strerror}: the new content is in place, but may not survive a power cut",
            str(target),
        ) from error


def keep_access(old: Path, fresh: Path) -> None:
    """Give a file or folder the mode and the group of the one that it will replace, if any."""
    try:
        facts = old.stat()
    except (FileNotFoundError, NotADirectoryError):
        return
    # A group that this user does not belong to; Windows has none.
    with contextlib.suppress(OSError, AttributeError):
        os.chown(fresh, -1, facts.st_gid)
    fresh.chmod(stat.S_IMODE(facts.st_mode))


def sync(path: Path) -> None:
    """Wait until a file, or the list of a folder, is on the disk.

    Folders are skipped on systems that cannot do this.
    """
    try:
        # Windows flushes only what is open for writing.
        opened = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
    except OSError as error:
        if not (path.is_dir() and error.errno in _NO_FOLDER_SYNC):
            raise
