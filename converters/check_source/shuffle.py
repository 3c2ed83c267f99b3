"""A copy of a file with its rows in another order: nothing a converter gives may depend on it."""

import io
import json
import random
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from nnd.converters.reading import parquet_schema, read_parquet_rows
from nnd.schemas import SourceError

T = TypeVar("T")

_MARK = b"\xef\xbb\xbf"
_ROW = re.compile(rb"<(?:\w+:)?row\b(?:[^>]*/>|.*?</(?:\w+:)?row>)", re.DOTALL)
_REFERENCE = re.compile(rb'(\br=")([A-Z]*)\d+(")')


def shuffle_file(path: Path, out: Path, *, seed: int = 0) -> bool:
    """Write a copy of a file with its rows shuffled, as far as its suffix tells what a row is.

    Rows are lines (csv, tsv, jsonl; a header stays the first), the entries of a JSON list, or of
    the object that is the whole file and of its lists of objects, the rows of every sheet of a
    workbook (xlsx), rows (parquet).

    Args:
        path: The file.
        out: Where to write.
        seed: Which order.

    Returns:
        Whether it was; a file of another kind, or one that is broken, is not written.
    """
    shuffle = _SHUFFLERS.get(path.suffix.lower())
    if shuffle is None:
        return False
    try:
        # Chance guards no secret here.
        out.write_bytes(shuffle(path, random.Random(seed)))  # noqa: S311
    except (ValueError, zipfile.BadZipFile, OSError, SourceError):
        return False
    return True


def _in_another_order(rows: list[T], chance: random.Random) -> list[T]:
    """Return the rows in an order that is not theirs, where there are two."""
    found = chance.sample(rows, len(rows))
    return found if found != rows else found[::-1]


def _lines(path: Path, chance: random.Random) -> bytes:
    return _delimited(path.read_bytes(), chance, has_header=False)


def _table(path: Path, chance: random.Random) -> bytes:
    return _delimited(path.read_bytes(), chance, has_header=True)


def _delimited(raw: bytes, chance: random.Random, *, has_header: bool) -> bytes:
    mark = _MARK if raw.startswith(_MARK) else b""
    rows = [row for row in _rows_of(raw.removeprefix(mark), quoted=has_header) if row.strip()]
    header = rows[:1] if has_header else []
    ends = b"\r" if raw.endswith((b"\r", b"\r\n")) or b"\r\n" in raw else b""
    body = [row.removesuffix(b"\r") for row in rows]
    body = _in_another_order(body[len(header) :], chance)
    head = [row.removesuffix(b"\r") for row in header]
    return mark + b"".join(row + ends + b"\n" for row in [*head, *body])


def _rows_of(raw: bytes, *, quoted: bool) -> Iterator[bytes]:
    """Yield rows: a quoted cell may hold line breaks, and a row ends where its quotes are closed.

    Where quotes are characters like any other, some rows then stay together, which is a shuffle
    too; a quote that is never closed is such a character.
    """
    lines = raw.split(b"\n" if b"\n" in raw else b"\r")
    if not quoted or raw.count(b'"') % 2 == 1:
        yield from lines
        return
    held: list[bytes] = []
    is_open = False
    for line in lines:
        held.append(line)
        is_open ^= line.count(b'"') % 2 == 1
        if not is_open:
            yield b"\n".join(held)
            held.clear()


def _json(path: Path, chance: random.Random) -> bytes:
    value: Any = json.loads(path.read_text(encoding="utf-8-sig"))
    if isinstance(value, list):
        value = _in_another_order(value, chance)
    elif isinstance(value, dict):
        shuffled = {key: _rows(inner, chance) for key, inner in value.items()}
        value = dict(_in_another_order(list(shuffled.items()), chance))
    return json.dumps(value, ensure_ascii=False).encode()


def _rows(value: Any, chance: random.Random) -> Any:  # noqa: ANN401 - a JSON value may be anything
    """Shuffle a list of objects; lists of anything else may be columns, or a text by words."""
    is_rows = isinstance(value, list) and all(isinstance(one, dict) for one in value)
    return _in_another_order(value, chance) if is_rows else value


def _workbook(path: Path, chance: random.Random) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(path) as book, zipfile.ZipFile(written, "w") as copy:
        for member in book.infolist():
            content = book.read(member)
            if re.fullmatch(r"xl/worksheets/[^/]+\.xml", member.filename):
                content = _sheet(content, chance)
            copy.writestr(member, content)
    return written.getvalue()


def _sheet(xml: bytes, chance: random.Random) -> bytes:
    """Put the rows of a sheet into another order, and number them and their cells again."""
    rows = _ROW.findall(xml)
    places = iter(rows[:1] + _in_another_order(rows[1:], chance))
    numbers = iter(range(1, len(rows) + 1))

    def next_row(_: re.Match[bytes]) -> bytes:
        number = b"%d" % next(numbers)
        return _REFERENCE.sub(lambda found: found[1] + found[2] + number + found[3], next(places))

    return _ROW.sub(next_row, xml)


def _parquet(path: Path, chance: random.Random) -> bytes:
    from pyarrow import ArrowException, Table, parquet  # noqa: PLC0415 - most files need none of it

    rows = _in_another_order(list(read_parquet_rows(path)), chance)
    written = io.BytesIO()
    try:
        parquet.write_table(Table.from_pylist(rows, parquet_schema(path)), written)
    except ArrowException as error:
        raise ValueError(str(error)) from error
    return written.getvalue()


_SHUFFLERS: dict[str, Callable[[Path, random.Random], bytes]] = {
    ".csv": _table,
    ".tsv": _table,
    ".jsonl": _lines,
    ".json": _json,
    ".xlsx": _workbook,
    ".parquet": _parquet,
}
