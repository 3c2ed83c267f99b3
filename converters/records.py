"""Reading annotation files: text, JSON lines and cells, each with the place it was read from.

Every complaint names file and line, so that a person can open the file there. A byte-order mark and
CRLF line ends are simply read.
"""

import codecs
import csv
import io
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from nnd.schemas import SourceError

T = TypeVar("T")
_LONGEST_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Record:
    """One JSON object of a file and the place it was read from.

    The methods return a field as the type a converter expects, or raise a SourceError that names
    file, line and field.
    """

    where: str
    fields: Mapping[str, Any]

    def text(self, name: str) -> str:
        """Return a field that must be a string."""
        return _expect(self._required(name), str, "a string", self._place(name))

    def optional_text(self, name: str) -> str | None:
        """Return a field that must be a string, or None where it is null or absent."""
        return None if self.fields.get(name) is None else self.text(name)

    def identifier(self, name: str) -> str:
        """Return a field that must be a string or a whole number, as a string."""
        value = self._required(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return _expect(value, str, "a string or a whole number", self._place(name))

    def number(self, name: str) -> float:
        """Return a field that must be a finite number."""
        value = self._required(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise SourceError(
                f"{self._place(name)}: {shown(value)} is not a number; correct it or leave it out"
            )
        return parse_number(str(value), self._place(name))

    def texts(self, name: str) -> list[str]:
        """Return a field that must be a list of strings."""
        values = _expect(self._required(name), list, "a list", self._place(name))
        return [_expect(value, str, "a string", self._place(name)) for value in values]

    def records(self, name: str) -> Iterator["Record"]:
        """Yield the objects of a field that must be a list of objects."""
        values = _expect(self._required(name), list, "a list", self._place(name))
        for number, value in enumerate(values):
            where = f"{self._place(name)}[{number}]"
            yield Record(where, _expect(value, dict, "an object", where))

    def record(self, name: str) -> "Record":
        """Return a field that must be an object."""
        where = self._place(name)
        return Record(where, _expect(self._required(name), dict, "an object", where))

    def _required(self, name: str) -> Any:  # noqa: ANN401 - a JSON value may be anything
        if name not in self.fields:
            raise SourceError(
                f'{self.where}: there is no "{name}", only {", ".join(self.fields) or "nothing"}; '
                "check that this is the right file, and not another source's"
            )
        return self.fields[name]

    def _place(self, name: str) -> str:
        return f"{self.where}, {name}"


class Cells(NamedTuple):
    """One row of a table and the place it was read from."""

    where: str
    values: list[str]


def read_text(path: Path) -> str:
    """Return the text of a UTF-8 file without its byte-order mark.

    Raises:
        SourceError: If the file cannot be read or is not UTF-8.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise SourceError(
            f"{path}: cannot be read: {error.strerror}; make it readable, or name another copy"
        ) from error
    return decode(raw, path.name)


def decode(raw: bytes, name: str) -> str:
    """Return the text of a UTF-8 file's bytes without its byte-order mark.

    Raises:
        SourceError: If they are not UTF-8; `name` stands for the file in the message.
    """
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in raw:
        line = raw.count(b"\n", 0, max(raw.find(b"\0"), 0)) + 1
        raise SourceError(
            f"{name}:{line}: UTF-16, or no text at all; convert the file first, "
            "e.g. iconv -f utf-16 -t utf-8"
        )
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise SourceError(
            f"{name}:{line}: byte 0x{raw[error.start]:02x} is not UTF-8; convert the file "
            "first, e.g. iconv -f latin1 -t utf-8"
        ) from error


def read_jsonl(path: Path) -> Iterator[Record]:
    """Yield the objects of a JSON-lines file; blank lines are passed over.

    Raises:
        SourceError: At a line that is not a JSON object, a cut-off last one included.
    """
    for number, line in enumerate(io.StringIO(read_text(path)), start=1):
        if line.strip():
            where = f"{path.name}:{number}"
            yield Record(where, _expect(_parse(line, where), dict, "a JSON object", where))


def parse_json(text: str, name: str) -> Iterator[Record]:
    """Yield the objects of a JSON file: those of its list (`name[17]`), or the one that it is.

    Raises:
        SourceError: If it is neither; `name` stands for the file in the message.
    """
    value = _parse(text, name)
    if isinstance(value, list):
        for number, item in enumerate(value):
            where = f"{name}[{number}]"
            yield Record(where, _expect(item, dict, "an object", where))
    else:
        yield Record(name, _expect(value, dict, "an object or a list of objects", name))


def _parse(text: str, where: str) -> Any:  # noqa: ANN401 - a JSON value may be anything
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        raise SourceError(
            f"{where}: not a whole JSON object: {error.msg} ({line}column {error.colno}); check "
            "that this is the right file, or fetch it again: it may be cut off"
        ) from error
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits, 1,000 brackets
        raise SourceError(
            f"{where}: not JSON of an annotation file: {error}; check that this is the right file"
        ) from error


def read_cells(path: Path, *, delimiter: str, quoted: bool) -> Iterator[Cells]:
    """Yield the rows of a delimited file, the header first; all have as many cells as it.

    Args:
        path: The file.
        delimiter: One character.
        quoted: Whether `"` quotes a cell (doubled inside), or is a character like any other.

    Raises:
        SourceError: At a row with more or fewer cells than the header.
    """
    text = io.StringIO(read_text(path), newline="")
    reader = csv.reader(
        text,
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
        strict=quoted,
    )
    width = 0
    try:
        for values in reader:
            where = f"{path.name}:{reader.line_num}"
            width = width or len(values)
            if values and len(values) != width:
                raise SourceError(
                    f"{where}: {len(values)} cells where the header has {width}; correct the row, "
                    "or fetch the file again"
                )
            if values:
                yield Cells(where, values)
    except csv.Error as error:
        raise SourceError(
            f"{path.name}:{reader.line_num}: not a row of cells: {error}; correct the row, or "
            "fetch the file again"
        ) from error


def parse_number(text: str, where: str) -> float:
    """Return the finite number that `text` spells.

    Raises:
        SourceError: If it spells none, or NaN or infinity.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise SourceError(f"{where}: {shown(text)} is not a number; correct it or leave it empty")
    return value


def _expect(value: object, kind: type[T], name: str, where: str) -> T:
    if not isinstance(value, kind):
        raise SourceError(
            f"{where}: {shown(value)} is not {name}; check that this is the right file, and not "
            "another source's"
        )
    return value


def shown(value: object) -> str:
    """Return a value as a message quotes it: as JSON, and cut where it is long."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
