"""Reading the stored cells of an .xlsx workbook; nothing is computed.

An .xlsx file is a zip of XML files (ECMA-376). Tags are read one by one without building a tree;
nothing in the file is executed, and no link is followed.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree as ET

from nnd.converters.reading.archives import read_members
from nnd.converters.reading.records import Cells, shown
from nnd.schemas import SourceError

_CHUNK = 2**16  # bytes parsed before complete rows are yielded
_WIDEST = 16_384  # columns of a sheet, by the format
_CELL = re.compile("([A-Z]{1,3})[0-9]+")
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")  # escapes of characters that XML cannot hold
_BROKEN = (
    ET.ParseError,
    LookupError,  # a part or a shared text that is missing, an encoding that is not known
    ValueError,  # an invalid number, a document type
)


def read_workbook(path: Path, sheet: str | None = None) -> Iterator[Cells]:
    """Yield the rows of one sheet, the header first; all are padded to its width.

    Empty rows are skipped. The value of a formula is the one that was stored when the workbook
    was saved.

    Args:
        path: The file.
        sheet: Name of the sheet; None: the first one.

    Raises:
        SourceError: If it is not a workbook, at a formula without a stored value, at an error
            value, or at a row with more cells than the header.
    """
    members = read_members(path)
    try:
        name = _find_sheet(members, path.name, sheet)
        reader = _Sheet(file=path.name, shared=_read_shared(members))
        yield from _as_wide_as_the_header(_feed(members[name], reader))
    except _BROKEN as error:
        raise SourceError(
            f"{path.name}: not a whole .xlsx workbook ({type(error).__name__}: {error}); open it "
            "in a spreadsheet program and save it as .xlsx or .csv"
        ) from error


def _as_wide_as_the_header(rows: Iterator[Cells]) -> Iterator[Cells]:
    width = 0
    for where, values in rows:
        while values and not values[-1]:
            values.pop()
        width = width or len(values)
        if len(values) > width:
            raise SourceError(
                f"{where}: {len(values)} cells, but the header has {width}; correct the row, "
                "or fetch the file again"
            )
        if values:
            yield Cells(where, values + [""] * (width - len(values)))


@dataclass(slots=True)
class _Reader:
    """Parser target of an XML file; complete rows are in `done`."""

    done: list[Cells] = field(default_factory=list)

    def doctype(self, *_: object) -> None:
        """Refuse a document type: workbooks declare none, so it may be an attack."""
        raise ValueError("it declares a document type")


def _feed(raw: bytes, target: _Reader) -> Iterator[Cells]:
    """Parse an XML file into `target`, and yield complete rows."""
    parser = ET.XMLParser(target=target)  # noqa: S314 - no document type, so no entities
    for start in range(0, len(raw), _CHUNK):
        parser.feed(raw[start : start + _CHUNK])
        yield from target.done
        target.done.clear()
    parser.close()


@dataclass(slots=True)
class _Tags(_Reader):
    """Collects every start tag with its attributes."""

    found: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.found.append(
            (_local_name(tag), {_local_name(k): value for k, value in attributes.items()})
        )


@dataclass(slots=True)
class _Texts(_Reader):
    """Collects the shared texts of a workbook: each `si` is one, in one or more runs `t`."""

    texts: list[str] = field(default_factory=list)
    _parts: list[str] = field(default_factory=list)
    _open: bool = False
    _reading_aid: bool = False

    def start(self, tag: str, _attributes: dict[str, str]) -> None:
        name = _local_name(tag)
        self._reading_aid |= name == "rPh"
        self._open = name == "t" and not self._reading_aid

    def data(self, text: str) -> None:
        if self._open:
            self._parts.append(text)

    def end(self, tag: str) -> None:
        name = _local_name(tag)
        self._open = False
        if name == "rPh":
            self._reading_aid = False
        if name == "si":
            self.texts.append(_unescape("".join(self._parts)))
            self._parts.clear()


@dataclass(slots=True)
class _Sheet(_Reader):
    """Collects the rows of a sheet."""

    file: str = ""
    shared: list[str] = field(default_factory=list)
    _row: int = 0
    _column: int = 0
    _values: list[str] = field(default_factory=list)
    _kind: str = "n"
    _parts: list[str] = field(default_factory=list)
    _open: bool = False
    _reading_aid: bool = False
    _has_formula: bool = False
    _has_value: bool = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        match _local_name(tag):
            case "row":
                self._row = int(attributes.get("r", self._row + 1))
                self._column = 0
                self._values = []
            case "c":
                self._start_cell(attributes)
            case "f":
                self._has_formula = True
            case "rPh":
                self._reading_aid = True
            case "v" | "t":
                self._open = not self._reading_aid
                self._has_value = True

    def _start_cell(self, attributes: dict[str, str]) -> None:
        named = _CELL.fullmatch(attributes.get("r", ""))
        self._column = _column_number(named[1]) if named else self._column + 1
        if not len(self._values) < self._column <= _WIDEST:
            raise SourceError(
                f"{self._where()}: cell {attributes.get('r')} is out of order; open the workbook "
                "in a spreadsheet program and save it again"
            )
        self._kind = attributes.get("t", "n")
        self._parts.clear()
        self._has_formula = self._has_value = False

    def data(self, text: str) -> None:
        if self._open:
            self._parts.append(text)

    def end(self, tag: str) -> None:
        match _local_name(tag):
            case "v" | "t":
                self._open = False
            case "rPh":
                self._reading_aid = False
            case "c":
                self._values += [""] * (self._column - 1 - len(self._values))
                self._values.append(self._value())
            case "row":
                self.done.append(Cells(self._where(), self._values))

    def _where(self) -> str:
        return f"{self.file}:{self._row}"

    def _value(self) -> str:
        text = "".join(self._parts)
        # Some programs write an empty value for a formula that they did not compute.
        has_value = self._has_value and (bool(text) or self._kind == "str")
        if self._has_formula and not has_value:
            raise SourceError(
                f"{self._where()}, column {self._column}: a formula with no stored value; open the "
                "workbook in a spreadsheet program and save it, or save the sheet as .csv"
            )
        match self._kind:
            case "s":
                return self.shared[int(text)] if text else ""
            case "b":
                return {"1": "true", "0": "false"}.get(text, text)
            case "e":
                raise SourceError(
                    f"{self._where()}, column {self._column}: the error value {shown(text)}; "
                    "correct the cell"
                )
            case "inlineStr" | "str":
                return _unescape(text)
        return text


def _find_sheet(members: Mapping[str, bytes], file: str, sheet: str | None) -> str:
    """Return the name of the XML file that holds a sheet."""
    tags = _Tags()
    list(_feed(members["xl/workbook.xml"], tags))
    ids = {entry["name"]: entry["id"] for tag, entry in tags.found if tag == "sheet"}
    chosen = next(iter(ids), "") if sheet is None else sheet
    if chosen not in ids:
        raise SourceError(
            f'{file}: there is no sheet "{chosen}", only {", ".join(ids) or "none"}; name one of '
            "them as `sheet` in source.yaml"
        )
    links = _Tags()
    list(_feed(members["xl/_rels/workbook.xml.rels"], links))
    targets = {entry["Id"]: entry["Target"] for tag, entry in links.found if tag == "Relationship"}
    target = targets[ids[chosen]]
    return target[1:] if target.startswith("/") else f"xl/{target}"


def _read_shared(members: Mapping[str, bytes]) -> list[str]:
    """Return the texts that cells refer to by number, if any."""
    texts = _Texts()
    list(_feed(members.get("xl/sharedStrings.xml", b"<sst/>"), texts))
    return texts.texts


def _column_number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


def _unescape(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)


def _local_name(tag: str) -> str:
    """Return a name without its namespace, of which the format has two."""
    return tag.rpartition("}")[2]
