"""SHA-256 of files, computed once per process for files that do not change.

Single files (pages, SVG, PNG) carry the SHA-256 of their own content. It tells a file that nnd
wrote from one that a person made or changed, which is never replaced.
"""

import errno
import hashlib
import os
import stat
import struct
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from nnd.schemas.files.cache_facts import add_fact, read_facts

_LARGE: Final = 256 << 20
"""Size in bytes from which the digest of a file is stored for other processes."""

_STORED: Final = "digests.json"
_SETTLED: Final = 2_000_000_000
"""Nanoseconds after which a change is sure to get another time stamp on every file system."""

_COMMENT: Final = b"<!-- nnd-sha256: %s -->\n"
_KEYWORD: Final = b"nnd-sha256\0"
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_LAST_CHUNK: Final = 12
"""Bytes of IEND, the last chunk of a PNG file."""

_DIGITS: Final = 64
_MARK_BYTES: Final = len(_COMMENT % b"") + _DIGITS
_CHUNK_BYTES: Final = 12 + len(_KEYWORD) + _DIGITS

_known: dict[str, str] = {}
"""Kind of digest, place, inode, size and times of a file → its digest."""


def fingerprint(path: Path) -> dict[str, Any]:
    """Return the entry of a file in `outputs`: its size in bytes and its SHA-256.

    Raises:
        OSError: If it cannot be read, or is not a regular file.
    """
    return {
        "bytes": path.stat().st_size,
        "sha256": digest_once(path, _sha256, kind="sha256", large=_LARGE),
    }


def digest_once(path: Path, make: Callable[[Path], str], *, kind: str, large: int) -> str:
    """Return a digest of a file, which is made once while the file does not change.

    A file is known by its real path, device, inode, size and times. This process remembers every
    digest; the cache folder remembers those of files of more than `large` bytes.

    Args:
        path: The file.
        make: Reads the file and returns its digest.
        kind: Name of what `make` computes.
        large: Size in bytes.

    Raises:
        OSError: If the file cannot be read, or is not a regular file.
    """
    facts = path.stat()
    if not stat.S_ISREG(facts.st_mode):  # a named pipe would wait for a writer
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    times = (facts.st_mtime_ns, facts.st_ctime_ns)
    state = ":".join(map(str, (facts.st_dev, facts.st_ino, facts.st_size, *times)))
    key = f"{kind}:{state}:{os.path.realpath(path)}"
    is_settled = time.time_ns() - max(times) > _SETTLED
    is_stored = is_settled and facts.st_size > large
    digest = _known.get(key) if is_settled else None
    if digest is None and is_stored:
        digest = read_facts(_STORED).get(key)
    if digest is None:
        digest = make(path)
        if is_stored:
            add_fact(_STORED, key, digest)
    if is_settled:
        _known[key] = digest
    return digest


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits (errors as in `fingerprint`)."""
    return str(fingerprint(path)["sha256"])


def git_blob(path: Path) -> str:
    """Return the id by which git knows the content of a file, 40 hexadecimal digits."""
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as file:
        hashlib.file_digest(file, lambda: digest)
    return digest.hexdigest()


def with_mark(content: bytes) -> bytes:
    """Return a file with the digest of its content: a PNG text chunk, else a comment at the end."""
    digest = hashlib.sha256(content).hexdigest().encode()
    if not content.startswith(_PNG):
        return content + _COMMENT % digest
    chunk = b"tEXt" + _KEYWORD + digest
    size, check = struct.pack(">I", len(chunk) - 4), struct.pack(">I", zlib.crc32(chunk))
    return content[:-_LAST_CHUNK] + size + chunk + check + content[-_LAST_CHUNK:]


def has_mark(path: Path) -> bool:
    """Whether a file has the digest of its content."""
    content = path.read_bytes()
    if not content.startswith(_PNG):
        return with_mark(content[:-_MARK_BYTES]) == content
    plain = content[: -_CHUNK_BYTES - _LAST_CHUNK] + content[-_LAST_CHUNK:]
    return with_mark(plain) == content
