"""Reading the files of a .tar.gz into memory, so that nothing in it reaches the disk.

A tar has no table of contents, so it is unpacked as a whole, up to a limit. Its
headers (POSIX ustar, with the long names of GNU and pax) are read here: `tarfile` of Python 3.11
loops forever on a negative size, and takes hours on some pax headers.
"""

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from nnd.converters.reading.archives import (
    ANY_RATIO_UP_TO,
    MOST_BYTES,
    MOST_RATIO,
    TAR_SUFFIXES,
    faults_of_names,
    read_members,
    refuse,
    shown_name,
    unreadable,
)
from nnd.schemas import SourceError

_BLOCK = 512
_FILE, _FOLDER, _LONG_NAME, _PAX, _PAX_OF_ALL = b"\x000", b"5", b"L", b"x", b"g"
_LONGEST_EXTENSION = 2**16


class _Member(NamedTuple):
    name: str
    kind: bytes
    start: int
    size: int

    @property
    def end(self) -> int:
        return self.start + self.size


def read_archive(path: Path) -> dict[str, bytes]:
    """Return the files of a zip or .tar.gz by name; see `read_members` and `read_tarball`."""
    is_tar = path.name.lower().endswith(TAR_SUFFIXES)
    return read_tarball(path) if is_tar else read_members(path)


def read_tarball(path: Path) -> dict[str, bytes]:
    """Return the files of a .tar.gz by name; folders are skipped.

    Raises:
        SourceError: If it is broken or not a .tar.gz, if a member is a link, another archive or has
            a name that leads elsewhere, or if it would unpack to too much.
    """
    try:
        raw = _unpack(path)
        members = list(_members(raw))
    except OSError as error:
        raise unreadable(path, error) from error
    except (zlib.error, ValueError) as error:
        raise SourceError(
            f"{path.name}: not a whole .tar.gz: {shown_name(str(error))}; check that this is the "
            "right file, or fetch it again: it may be cut off"
        ) from error
    refuse(path, _faults(members))
    return {one.name: raw[one.start : one.end] for one in members if one.kind in _FILE}


def _unpack(path: Path) -> bytes:
    size = path.stat().st_size
    packed = path.read_bytes() if size <= MOST_BYTES else b""
    most = min(MOST_BYTES, max(ANY_RATIO_UP_TO, MOST_RATIO * len(packed)))
    gzip = zlib.decompressobj(wbits=31)  # a gzip header, and no other
    raw = gzip.decompress(packed, most + 1)
    if len(raw) > most or size > MOST_BYTES:
        refuse(path, iter([f"it unpacks from {size:,} to more than {most:,} bytes"]))
    if not gzip.eof:
        raise ValueError("the gzip stream ends early")
    if gzip.unused_data:
        raise ValueError("data follows the gzip stream")
    return raw


def _members(raw: bytes) -> Iterator[_Member]:
    """Yield the members of a tar.

    Raises:
        ValueError: If it is broken, or its end is missing.
    """
    place, long_name = 0, ""
    while any(block := raw[place : place + _BLOCK]):
        member = _read_header(block, place)
        if member.end > len(raw):
            raise ValueError(f"{member.name} is cut off")
        place = member.end + -member.size % _BLOCK
        if member.kind in (_LONG_NAME, _PAX, _PAX_OF_ALL):
            if member.size > _LONGEST_EXTENSION:
                raise ValueError(f"an extended header has {member.size:,} bytes")
            content = raw[member.start : member.end]
            long_name = _long_name(content, member.kind) or long_name
        else:
            yield member._replace(name=long_name or member.name)
            long_name = ""
    if len(raw) - place < _BLOCK or raw.count(b"\0", place) < len(raw) - place:
        raise ValueError("the end of the tar is missing, or something follows it")


def _read_header(block: bytes, place: int) -> _Member:
    if len(block) < _BLOCK:
        raise ValueError("the tar ends within a header")
    unsummed = block[:148] + b" " * 8 + block[156:]
    if _octal(block[148:156]) != sum(unsummed):
        raise ValueError(f"the header at byte {place:,} has a wrong checksum")
    name, prefix = (part.partition(b"\0")[0] for part in (block[:100], block[345:500]))
    is_posix = block[257:263] == b"ustar\0"
    path = b"/".join([prefix, name]) if is_posix and prefix else name
    return _Member(path.decode(), block[156:157], place + _BLOCK, _octal(block[124:136]))


def _octal(field: bytes) -> int:
    digits = field.strip(b" \0")
    if not digits.isdigit():
        raise ValueError("a header with an invalid number")
    return int(digits, 8)


def _long_name(header: bytes, kind: bytes) -> str:
    """Return the name that an extended header gives the next member, if any."""
    if kind == _LONG_NAME:
        return header.rstrip(b"\0").decode()
    name = ""
    while header:
        length, _, _ = header.partition(b" ")
        if not (length.isdigit() and 0 < int(length) <= len(header)):
            raise ValueError("a broken pax header")
        record, header = header[: int(length)], header[int(length) :]
        key, _, value = record.partition(b" ")[2].partition(b"=")
        if key == b"path" and kind == _PAX:
            name = value.removesuffix(b"\n").decode()
        elif key in {b"path", b"size"} or key.startswith(b"GNU.sparse"):
            raise ValueError("a pax header that sets a size, or one name for all files")
    return name


def _faults(members: list[_Member]) -> Iterator[str]:
    yield from faults_of_names([member.name for member in members])
    for member in members:
        if member.kind not in _FILE + _FOLDER:
            yield f"{shown_name(member.name)} is a link or a device, not a file"
