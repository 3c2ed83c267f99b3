"""Single files (pages, SVG, PNG) that carry the SHA-256 of their own content.

It tells a file that nnd wrote from one that a person made or changed, which is never replaced.
"""

import hashlib
import struct
import zlib
from pathlib import Path

_COMMENT = b"<!-- nnd-sha256: %s -->\n"
_KEYWORD = b"nnd-sha256\0"
_PNG = b"\x89PNG\r\n\x1a\n"
_LAST_CHUNK = 12
"""Bytes of IEND, the last chunk of a PNG file."""

_DIGITS = 64
_MARK_BYTES = len(_COMMENT % b"") + _DIGITS
_CHUNK_BYTES = 12 + len(_KEYWORD) + _DIGITS


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
