"""Reading annotation files: JSON objects and cells; every error names file and line."""

import csv
import io
import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from nnd.schemas.reading.limits import TEXT
from nnd.schemas.reading.text_files import read_lines, read_text
from nnd.schemas.words.errors import SourceError
from nnd.schemas.words.texts import counted, excerpt, has_surrogate, listed

T = TypeVar("T")
_MOST_LISTED = 20
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_SPACES = " \t\r\n"
_SEPARATOR = re.compile(r"sep=(.)\s*")

MOST_LEVELS = 100
"""Most levels of objects and lists in JSON: whoever walks through a value does it by recursion."""

_ROWS = 1024
"""Rows of cells that are cut at a time."""

_LONG = 2**16
"""Characters of a JSON text in which the length of each text is compared with the limit."""

_UNUSUAL = re.compile(r"\\u(?:[dD][89a-fA-F]|0000)")
"""Escapes of what is not a character by itself."""


class FileRecord(NamedTuple):
    """A JSON object of a file, with its place (file:line).

    The methods return a field in the type that a converter expects, or raise a SourceError that
    names file, line and field.
    """

    where: str
    fields: Mapping[str, Any]

    def text(self, name: str) -> str:
        """Return a field that must be a string."""
        return self._typed(name, str, "a string")

    def optional_text(self, name: str) -> str | None:
        """Return a field that must be a string, or None if it is null or missing."""
        return None if self.fields.get(name) is None else self.text(name)

    def identifier(self, name: str) -> str:
        """Return a field that must be a string or a whole number, as a string."""
        value = self.fields.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return self._typed(name, str, "a string or a whole number")

    def number(self, name: str) -> float:
        """Return a field that must be a finite number."""
        value = self._required(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise SourceError(
                "cell.not-a-number", f"{shown(value)} is not a number", self._place(name)
            )
        return parse_number(str(value), self._place(name))

    def spelled_number(self, name: str) -> float:
        """Return the finite number that a text field spells."""
        return parse_number(self.text(name), self._place(name))

    def rating(self, name: str, lowest: float, highest: float) -> float:
        """Return a field that must be a number on a scale from `lowest` to `highest`."""
        value = self.number(name)
        if not lowest <= value <= highest:
            raise SourceError(
                "cell.out-of-range",
                f"{value:g} is not a rating between {lowest:g} and {highest:g}",
                self._place(name),
            )
        return value

    def texts(self, name: str) -> list[str]:
        """Return a field that must be a list of strings."""
        values = self._typed(name, list, "a list")
        return [_expect(value, str, "a string", self._place(name)) for value in values]

    def records(self, name: str) -> Iterator["FileRecord"]:
        """Yield the objects of a field that must be a list of objects."""
        place = self._place(name)
        for number, value in enumerate(self._typed(name, list, "a list")):
            where = f"{place}[{number}]"
            yield FileRecord(where, _expect(value, dict, "an object", where))

    def record(self, name: str) -> "FileRecord":
        """Return a field that must be an object."""
        return FileRecord(self._place(name), self._typed(name, dict, "an object"))

    def _typed(self, name: str, kind: type[T], wanted: str) -> T:
        value = self.fields.get(name)
        if isinstance(value, kind):
            return value
        return _expect(self._required(name), kind, wanted, self._place(name))

    def _required(self, name: str) -> Any:  # noqa: ANN401 - a JSON value may be anything
        if name not in self.fields:
            names = listed([excerpt(field) for field in self.fields], _MOST_LISTED)
            raise SourceError(
                "file.another-kind", f'there is no "{name}", only {names or "nothing"}', self.where
            )
        return self.fields[name]

    def _place(self, name: str) -> str:
        return f"{self.where}, {name}"


Record = FileRecord
"""The name of `nnd.converters`; in this room, a `Record` is what nnd stores."""


class Cells(NamedTuple):
    """A row of a table, with its place (file:line)."""

    where: str
    values: list[str]


def read_jsonl(path: Path) -> Iterator[FileRecord]:
    """Yield the objects of a JSON-lines file; blank lines are skipped."""
    name = path.name
    for number, line in enumerate(read_lines(path), start=1):
        if line.strip():
            where = f"{name}:{number}"
            yield FileRecord(where, _expect(load_json(line, where), dict, "a JSON object", where))


def parse_json(text: str, name: str) -> Iterator[FileRecord]:
    """Yield the objects of a JSON file: a list of objects (`name[17]`) or a single one."""
    return as_records(load_json(text, name), name)


def as_records(value: object, name: str) -> Iterator[FileRecord]:
    """Yield the objects of a value of JSON: a list of objects, or a single one."""
    if isinstance(value, list):
        for number, item in enumerate(value):
            where = f"{name}[{number}]"
            yield FileRecord(where, _expect(item, dict, "an object", where))
    else:
        yield FileRecord(name, _expect(value, dict, "an object or a list of objects", name))


class _TwiceError(ValueError):
    """An object has a key twice; Python would silently keep the last value."""


def _as_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise _TwiceError(shown(twice))
    return fields


_DECODER = json.JSONDecoder(object_pairs_hook=_as_object)


def load_json(text: str, where: str, *, with_nul: bool = False) -> Any:  # noqa: ANN401 - any value
    """Return the value of a JSON text, in which NaN and infinity are numbers.

    Texts may be `with_nul` where they are no data: tokens of a model, and what nnd itself wrote.

    Raises:
        SourceError: If it is not JSON, has a key twice in an object, too many levels, a text that
            is too long, or NUL or half a surrogate pair in a text.
    """
    try:
        value = _DECODER.decode(text)
    except _TwiceError as error:
        raise SourceError(
            "row.twice", f"the key {error} occurs twice in one object", where
        ) from error
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        raise SourceError(
            "file.cut-off", f"not JSON: {error.msg} ({line}column {error.colno})", where
        ) from error
    except RecursionError as error:
        raise _too_deep(where) from error
    except ValueError as error:  # a number of 5,000 digits
        raise SourceError("file.another-kind", f"cannot be read as JSON: {error}", where) from error
    if text.count("[") + text.count("{") > MOST_LEVELS:
        _check_levels(value, where)
    if len(text) > _LONG or _UNUSUAL.search(text):
        _check_texts(value, where, "" if with_nul else "\0")
    return value


def read_json(path: Path, *, with_nul: bool = False) -> Any:  # noqa: ANN401 - any value
    """Return the value in a JSON file; errors as those of `load_json` and `read_text`."""
    return load_json(read_text(path), path.name, with_nul=with_nul)


def _check_levels(value: object, where: str) -> None:
    level = [value]
    for _ in range(MOST_LEVELS):
        level = [part for each in level for part in _parts(each) if isinstance(part, dict | list)]
        if not level:
            return
    raise _too_deep(where)


def _check_texts(value: object, where: str, refused: str) -> None:
    waiting, most = [value], TEXT.most
    while waiting:
        value = waiting.pop()
        waiting += _parts(value)
        waiting += value if isinstance(value, dict) else ()
        if isinstance(value, str) and len(value) > most:
            raise TEXT.error(where, "a text has")
        if isinstance(value, str) and (has_surrogate(value) or (refused and refused in value)):
            raise SourceError(
                "cell.not-text",
                f"{shown(value)} has NUL or half a surrogate pair, which are not characters",
                where,
                "decode the text again, or leave the row out",
            )


def _parts(value: object) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _too_deep(where: str) -> SourceError:
    what = f"its brackets are nested more than {MOST_LEVELS} levels deep"
    return SourceError("file.another-kind", what, where)


def read_cells(path: Path, *, delimiter: str, quoted: bool, even: bool = True) -> Iterator[Cells]:
    """Yield the rows of a delimited file, the header first; see `split_cells`."""
    return split_cells(read_lines(path), path.name, delimiter=delimiter, quoted=quoted, even=even)


def split_cells(
    lines: Iterable[str], name: str, *, delimiter: str, quoted: bool, even: bool = True
) -> Iterator[Cells]:
    """Yield the rows of the lines of a file, the header first.

    Cells may be `quoted` by `"` (doubled inside); if `even`, all rows must have as many of them. A
    first line `sep=;`, which Excel reads, names the delimiter.
    """
    lines = _any_line_ends(lines)
    first = next(lines, "")
    named = _SEPARATOR.fullmatch(first)
    reader = csv.reader(
        lines if named else itertools.chain([first], lines),
        delimiter=named[1] if named else delimiter,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
        strict=quoted,
    )
    above, longest = int(bool(named)), TEXT.most
    width, line, is_whole = 0, above, False
    while not is_whole:
        rows, problem = list[list[str]](), None
        limit = csv.field_size_limit(longest)  # which is global, so it is restored at once
        try:
            rows.extend(itertools.islice(reader, _ROWS))  # keeps those before an error
        except (csv.Error, SourceError) as error:
            problem = error
        finally:
            csv.field_size_limit(limit)
        is_whole = not rows
        has_long_rows = reader.line_num + above > line + len(rows)
        for values in rows:
            line += 1 + (sum(map(_line_ends, values)) if has_long_rows else 0)
            where = f"{name}:{line}"
            width = width or len(values)
            if values and even and len(values) != width:
                raise wrong_width(where, len(values), width)
            if values:
                yield Cells(where, values)
        if isinstance(problem, csv.Error):
            where = f"{name}:{reader.line_num + above}"
            if "field limit" in str(problem):
                raise TEXT.error(where, "a cell, or a quote that does not end, has") from problem
            raise SourceError("file.not-csv", f"not a row of cells: {problem}", where) from problem
        if problem:
            raise problem


def _line_ends(cell: str) -> int:
    return cell.count("\n") + cell.count("\r") - cell.count("\r\n")


def wrong_width(where: str, cells: int, width: int) -> SourceError:
    """Return the error at a row that is not as wide as the header."""
    remedy = "correct the row: a cell that contains the separator must be in quotes"
    what = f"{counted(cells, 'cell')}, but the header has {width}"
    return SourceError("file.not-csv", what, where, remedy)


def _any_line_ends(lines: Iterable[str]) -> Iterator[str]:
    """Cut lines at carriage returns too, with which old programs end lines."""
    for line in lines:
        if "\r" in line:
            yield from io.StringIO(line, newline="")
        else:
            yield line


def parse_number(text: str, where: str) -> float:
    """Return the finite number that `text` spells in a usual notation.

    Raises:
        SourceError: If it does not spell a number, spells NaN or infinity, or has a form that only
            `float` accepts, such as 1_0 or digits of another script: likely a typing error.
    """
    if not spells_number(text):
        raise SourceError("cell.not-a-number", f"{shown(text)} is not a number", where)
    return float(text)


def read_number(value: object) -> float:
    """Return the number that a cell is or spells; NaN and infinity are those of JSON only.

    Raises TypeError if it is none: text that `spells_number` refuses, true, a list.
    """
    if isinstance(value, str) and spells_number(value):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{shown(value)} is not a number")
    try:
        return float(value)
    except OverflowError:  # an integer of 400 digits
        return math.inf


def spells_number(text: str) -> bool:
    """Say whether `parse_number` accepts a text."""
    return bool(_NUMBER.fullmatch(text.strip(_SPACES))) and math.isfinite(float(text))


def _expect(value: object, kind: type[T], name: str, where: str) -> T:
    if not isinstance(value, kind):
        raise SourceError("file.another-kind", f"{shown(value)} is not {name}", where)
    return value


def check_columns(where: str, found: Collection[str], columns: Collection[str]) -> None:
    """Raise a SourceError at a place that lacks a column."""
    missing = [name for name in columns if name not in found]
    if missing:
        raise SourceError(
            "file.another-kind",
            f"there is no column {quoted(missing)}, only {quoted(found) or 'nothing'}",
            where,
        )


def quoted(names: Iterable[str]) -> str:
    """Return names as a message lists them, cut if they are many."""
    return listed([shown(name) for name in names], _MOST_LISTED)


def shown(value: object) -> str:
    """Return a value as a message quotes it: as JSON, cut if it is long."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:  # hundreds of brackets can be read, but not written
        text = "a value with too many levels"
    return excerpt(text)
