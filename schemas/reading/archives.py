"""Reading the members of a zip or .tar.gz into memory, so that nothing in it reaches the disk.

The table of contents of a zip is checked before any member is unpacked, and members are unpacked up
to the size in that table. A tar has none, so it is unpacked as a whole, up to a limit.
"""

import io
import stat
import struct
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath

from nnd.schemas.reading.limits import ARCHIVE
from nnd.schemas.reading.text_files import unreadable
from nnd.schemas.words.errors import SourceError
from nnd.schemas.words.texts import excerpt

MOST_MEMBERS = 10_000

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
_LONGEST_EXTENSION = 2**16


def read_archive(path: Path) -> dict[str, bytes]:
    """Return the files of a zip or .tar.gz by name; see `read_members` and `read_tarball`."""
    is_tar = path.name.lower().endswith(TAR_SUFFIXES)
    return read_tarball(path) if is_tar else read_members(path)


def read_members(path: Path, *, called: str | None = None) -> dict[str, bytes]:
    """Return the files of a zip by name; folders and macOS resource forks are skipped.

    With `called`, only files whose path ends in it are read, such as `a.json` or `b/a.json`.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
            _refuse(path, _faults_of_zip(path, infos))  # before anything is unpacked
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
            "file.cut-off", f"not a whole zip: {shown_name(str(error))}", path.name
        ) from error


def read_tarball(path: Path) -> dict[str, bytes]:
    """Return the files of a .tar.gz by name; folders are skipped."""
    try:
        raw = _unpack(path)
        with tarfile.open(fileobj=io.BytesIO(raw), mode="r:", tarinfo=_TarHeader) as archive:
            members = list(islice(archive, MOST_MEMBERS + 1))  # negative sizes lead in circles
            end = archive.offset
        _refuse(path, _faults_of_tar(members))
        # tarfile takes a broken header, or the end of the file, for the end of the tar.
        if len(raw) - end < tarfile.BLOCKSIZE or raw.count(b"\0", end) < len(raw) - end:
            raise ValueError("the end of the tar is missing, or something follows it")
        if cut := next((m.name for m in members if m.offset_data + m.size > len(raw)), None):
            raise ValueError(f"{cut} is cut off")
        return {m.name: raw[m.offset_data : m.offset_data + m.size] for m in members if m.isreg()}
    except OSError as error:
        raise unreadable(path, error) from error
    except (tarfile.TarError, *_BROKEN) as error:
        raise SourceError(
            "file.cut-off", f"not a whole .tar.gz: {shown_name(str(error))}", path.name
        ) from error


class _TarHeader(tarfile.TarInfo):
    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> "_TarHeader":
        """Refuse extended headers that old versions of tarfile need hours for."""
        header = super().frombuf(buf, encoding, errors)
        if not header.isreg() and header.size > _LONGEST_EXTENSION:
            raise ValueError(f"an extended header has {header.size:,} bytes")
        return header


def _unpack(path: Path) -> bytes:
    size = path.stat().st_size
    packed = path.read_bytes() if size <= ARCHIVE.most else b""
    most = min(ARCHIVE.most, max(ANY_RATIO_UP_TO, MOST_RATIO * len(packed)))
    gzip = zlib.decompressobj(wbits=31)  # a gzip header, and no other
    raw = gzip.decompress(packed, most + 1)
    if len(raw) > most or size > ARCHIVE.most:
        _refuse(
            path,
            iter([f"it unpacks from {size:,} to more than {most:,} bytes ({ARCHIVE.variable})"]),
        )
    if not gzip.eof:
        raise ValueError("the gzip stream ends early")
    if gzip.unused_data:
        raise ValueError("data follows the gzip stream")
    return raw


def find_member(path: Path, members: Iterable[str], name: str) -> str:
    """Return which of the `members` of a zip is called `name`, in any folder."""
    members = sorted(members)
    found = [member for member in members if PurePosixPath(member).name == name]
    if len(found) != 1:
        raise SourceError(
            "file.another-kind",
            f"{len(found) or 'no'} members are called {name}, of "
            f"{shown_name(', '.join(members)) or 'none at all'}",
            path.name,
        )
    return found[0]


def _refuse(path: Path, faults: Iterator[str]) -> None:
    """Raise a SourceError with the first fault of an archive, if it has any."""
    for fault in faults:
        raise SourceError("file.bad-archive", fault, path.name)


def _faults_of_zip(path: Path, infos: list[zipfile.ZipInfo]) -> Iterator[str]:
    # The original names: zipfile cuts names at a NUL, and may replace backslashes.
    yield from _faults_of_names([info.orig_filename for info in infos])
    for info in infos:
        for fault in _faults_of_member(info):
            yield f"{shown_name(info.orig_filename)} {fault}"
    unpacked = sum(info.file_size for info in infos)
    if unpacked > ARCHIVE.most:
        yield f"its members unpack to {unpacked:,} bytes, more than {ARCHIVE}"
    if sum(info.compress_size for info in infos) > path.stat().st_size:
        yield "its members overlap"
    yield from _faults_of_names([info.filename for info in infos])


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


def _faults_of_tar(members: Sequence[tarfile.TarInfo]) -> Iterator[str]:
    yield from _faults_of_names([member.name for member in members])
    for member in members:
        if member.issparse() or not (member.isreg() or member.isdir()):
            yield f"{shown_name(member.name)} is a link or a device, not a file"


def _faults_of_names(names: Sequence[str]) -> Iterator[str]:
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
