"""Reading the members of a zip into memory, so that nothing in it reaches the disk.

The table of contents is checked before any member is unpacked, and members are unpacked up to
the size in that table.
"""

import stat
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from nnd.schemas import SourceError, excerpt

MOST_MEMBERS = 10_000

MOST_BYTES = 256 * 2**20
"""Most bytes of all members together, unpacked."""

MOST_RATIO = 100
"""Largest ratio of unpacked to packed size of a member; that of text is 3 to 10."""

ANY_RATIO_UP_TO = 4 * 2**20
"""Unpacked size of a member up to which its ratio does not matter."""

TAR_SUFFIXES = (".tar.gz", ".tgz")
ARCHIVES = (".zip", *TAR_SUFFIXES)

_METHODS = (
    zipfile.ZIP_STORED,
    zipfile.ZIP_DEFLATED,
)  # zipfile unpacks other methods without a size limit
_ENCRYPTED = 0x1
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    LookupError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
    ValueError,
)
_LONGEST_SHOWN = 200


def read_members(path: Path, *, called: str | None = None) -> dict[str, bytes]:
    """Return the files of a zip by name; folders and macOS resource forks are skipped.

    With `called`, only files whose path ends in it are read, such as `a.json` or `b/a.json`.

    Raises:
        SourceError: If it is broken or not a zip, if a member is encrypted, a link, another zip or
            has a name that leads out of the folder, or if the members would unpack to too much.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
            refuse(path, _faults(path, infos))  # before anything is unpacked
            return {
                info.filename: archive.open(info).read(info.file_size + 1)  # never all without size
                for info in infos
                if (called is None or f"/{info.filename}".endswith(f"/{called}"))
                and not (info.is_dir() or info.filename.startswith("__MACOSX/"))
            }
    except OSError as error:
        raise unreadable(path, error) from error
    except _BROKEN as error:
        raise SourceError(
            f"{path.name}: not a whole zip: {shown_name(str(error))}; check that this is the right "
            "file, or fetch it again: it may be cut off"
        ) from error


def find_member(path: Path, members: Iterable[str], name: str) -> str:
    """Return which of the `members` of a zip is called `name`, in any folder."""
    members = sorted(members)
    found = [member for member in members if PurePosixPath(member).name == name]
    if len(found) != 1:
        raise SourceError(
            f"{path.name}: {len(found) or 'no'} members are called {name}, of "
            f"{shown_name(', '.join(members)) or 'none at all'}; check that this is the right file"
        )
    return found[0]


def unreadable(path: Path, error: OSError) -> SourceError:
    """Return the error for an archive that the system cannot read."""
    return SourceError(
        f"{path}: cannot be read: {error.strerror or error}; make it readable, or name another copy"
    )


def refuse(path: Path, faults: Iterator[str]) -> None:
    """Raise a SourceError with the first fault of an archive, if it has any."""
    for fault in faults:
        raise SourceError(
            f"{path.name}: {fault}; if you trust it, unpack it and name the folder with --from"
        )


def _faults(path: Path, infos: list[zipfile.ZipInfo]) -> Iterator[str]:
    # The original names: zipfile cuts names at a NUL, and may replace backslashes.
    yield from faults_of_names([info.orig_filename for info in infos])
    for info in infos:
        for fault in _faults_of_member(info):
            yield f"{shown_name(info.orig_filename)} {fault}"
    unpacked = sum(info.file_size for info in infos)
    if unpacked > MOST_BYTES:
        yield f"its members unpack to {unpacked:,} bytes, more than {MOST_BYTES:,}"
    if sum(info.compress_size for info in infos) > path.stat().st_size:
        yield "its members overlap"
    yield from faults_of_names([info.filename for info in infos])


def _faults_of_member(info: zipfile.ZipInfo) -> Iterator[str]:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
        yield "is a link or something else that is not a file"
    if info.flag_bits & _ENCRYPTED:
        yield "is encrypted"
    if info.compress_type not in _METHODS:
        yield "is not compressed with deflate"
    if info.file_size > max(ANY_RATIO_UP_TO, MOST_RATIO * info.compress_size):
        yield (
            f"unpacks from {info.compress_size:,} to {info.file_size:,} bytes, more than "
            f"{MOST_RATIO} to 1"
        )


def faults_of_names(names: Sequence[str]) -> Iterator[str]:
    """Yield why an archive may not hold files of these names."""
    if len(names) > MOST_MEMBERS:
        yield f"{len(names):,} members are more than {MOST_MEMBERS:,}"
    for name, times in Counter(names).items():
        parts = name.replace("\\", "/").split("/")
        if ".." in parts or not parts[0] or ":" in parts[0] or "\0" in name:
            yield f"{shown_name(name)} has a name that leads out of the folder"
        if name.lower().endswith(ARCHIVES):
            yield f"{shown_name(name)} is an archive inside the archive"
        if times > 1:
            yield f"{shown_name(name)} is in it {times} times"


def shown_name(text: str) -> str:
    """Return text in printable ASCII, cut if it is long."""
    return excerpt(ascii(text)[1:-1], _LONGEST_SHOWN)
