"""Reading text files, whole or line by line, in bounded memory.

Only UTF-8 is read, with or without a byte-order mark and CRLF line ends, packed by gzip or not;
errors name file and line.
"""

import codecs
import contextlib
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from nnd.schemas.reading.limits import LINE, UNPACKED
from nnd.schemas.words.errors import SourceError

_GZIP = b"\x1f\x8b"
_PIECE = 2**18


def read_text(path: Path, *, largest: int | None = None) -> str:
    """Return the text of a UTF-8 file without its byte-order mark.

    It may have `largest` bytes; None: those of the limit.
    """
    most = UNPACKED.most if largest is None else largest
    with _opened(path) as file:
        pieces, left = list[bytes](), most + 1
        while left > 0 and (piece := file.read(min(left, _PIECE))):  # read(n) allocates n bytes
            pieces.append(piece)
            left -= len(piece)
    if left <= 0 and largest is None:
        raise UNPACKED.error(path.name)
    if left <= 0:
        raise SourceError("file.too-large", f"more than {most:,} bytes", path.name)
    return decode(b"".join(pieces), path.name)


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file, each with its line feed, holding a few at a time."""
    name, longest, left, number = path.name, LINE.most, UNPACKED.most, 1
    with _opened(path) as file:
        is_packed = isinstance(file, gzip.GzipFile)
        while piece := file.read(_PIECE):
            if not piece.endswith(b"\n"):
                piece += file.readline(longest + 1)
            left -= len(piece) if is_packed else 0
            if left < 0:
                raise UNPACKED.error(name, "it unpacks to")
            yield from _lines_of(piece, name, number, longest)
            number += piece.count(b"\n")


def _lines_of(piece: bytes, name: str, number: int, longest: int) -> Iterator[str]:
    """Yield the lines of a part of a file, which begins in line `number`."""
    text = None
    if len(piece) <= longest:
        with contextlib.suppress(SourceError):
            text = decode(piece, name, line=number)
    if text is not None:
        yield from io.StringIO(text, newline="\n")
        return
    for at, raw in enumerate(io.BytesIO(piece), start=number):  # to name the first at fault
        if len(raw) > longest:
            raise LINE.error(f"{name}:{at}", "the line has")
        yield decode(raw, name, line=at)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file; of one that gzip packed, what it holds."""
    try:
        if path.exists() and not path.is_file():  # a named pipe would wait, a device may never end
            raise SourceError("file.not-readable", "is not a regular file", path)
        with path.open("rb") as file:
            is_packed = file.peek(len(_GZIP)).startswith(_GZIP)
            yield cast("BinaryIO", gzip.GzipFile(fileobj=file)) if is_packed else file
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise SourceError("file.cut-off", f"not a whole gzip file: {error}", path.name) from error
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: OSError) -> SourceError:
    """Return the error for a file that the system cannot read."""
    if isinstance(error, FileNotFoundError):
        return SourceError("file.not-found", "file not found", path)
    return SourceError("file.not-readable", f"cannot be read: {error.strerror or error}", path)


def decode(raw: bytes, name: str, *, line: int = 1) -> str:
    """Decode UTF-8, with line feeds only and without the byte-order mark of a first line.

    `raw` is a file, called `name` in messages, or what of it begins in a certain line.
    """
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in raw:
        line += raw.count(b"\n", 0, max(raw.find(b"\0"), 0))
        raise SourceError(
            "file.not-utf8",
            "UTF-16, or not a text",
            f"{name}:{line}",
            "convert the file first, e.g. iconv -f utf-16 -t utf-8",
        )
    try:
        return raw.decode("utf-8-sig" if line == 1 else "utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        # Neither the position of the error nor its bytes include the byte-order mark.
        line += error.object.count(b"\n", 0, error.start)
        raise SourceError(
            "file.not-utf8",
            f"byte 0x{error.object[error.start]:02x} is not UTF-8",
            f"{name}:{line}",
            "convert the file first, e.g. iconv -f latin1 -t utf-8",
        ) from error
