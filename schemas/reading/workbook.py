"""Reading the stored cells of an .xlsx workbook; nothing is computed.

An .xlsx file is a zip of XML files (ECMA-376). Nothing in it is executed, and no link is followed.
Libraries turn error values and formulas without a value into empty cells, change the spelling of
numbers, read a cut-off sheet as an empty one, or allocate the whole grid for two distant cells.
"""

import contextlib
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from nnd.schemas.reading.archives import read_members
from nnd.schemas.reading.records import Cells, shown, wrong_width
from nnd.schemas.words.errors import SourceError

_WIDEST = 16_384  # columns of a sheet, by the format
_CELL = re.compile("([A-Z]{1,3})[0-9]+")
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")  # escapes of characters that XML cannot hold
_TRUTH = {"1": "true", "0": "false"}
_BROKEN = (
    ET.ParseError,
    LookupError,  # a part or a shared text that is missing, an encoding that is not known
    ValueError,  # an invalid number, a document type
)


def read_workbook(path: Path, sheet: str | None = None) -> Iterator[Cells]:
    """Yield the rows of one sheet, the header first; all are padded to its width.

    Empty rows are skipped. The value of a formula is the one that was stored when the workbook
    was saved. Without a name of a sheet, the first one is read.
    """
    with _refusing(path):
        members = read_members(path)
        ids = _sheet_ids(members)
        chosen = next(iter(ids), "") if sheet is None else sheet
        if chosen not in ids:
            raise SourceError(
                "name.unknown",
                f'there is no sheet "{chosen}", only {", ".join(ids) or "none"}',
                path.name,
                "name one of them as `sheet` in source.yaml",
            )
        links = _elements(members["xl/_rels/workbook.xml.rels"], "Relationship")
        target = {link.attrib["Id"]: link.attrib["Target"] for link in links}[ids[chosen]]
        name = target[1:] if target.startswith("/") else f"xl/{target}"
        texts = _elements(members.get("xl/sharedStrings.xml", b"<sst/>"), "si")
        shared = [_unescape(_text(entry)) for entry in texts]
        yield from _as_wide_as_the_header(_rows(members[name], path.name, shared))


def sheet_names(path: Path) -> list[str]:
    """Return the names of the sheets of a workbook; raises a SourceError if it is not one."""
    with _refusing(path):
        return list(_sheet_ids(read_members(path)))


@contextlib.contextmanager
def _refusing(path: Path) -> Iterator[None]:
    try:
        yield
    except _BROKEN as error:
        raise SourceError(
            "workbook.damaged",
            f"not a whole .xlsx workbook ({type(error).__name__}: {error})",
            path.name,
        ) from error


def _sheet_ids(members: Mapping[str, bytes]) -> dict[str, str]:
    """Return the name of each sheet and the id by which the workbook links to it."""
    ids = dict[str, str]()
    for sheet in _elements(members["xl/workbook.xml"], "sheet"):
        entry = {_local(key): value for key, value in sheet.attrib.items()}
        ids[entry["name"]] = entry["id"]
    return ids


def _as_wide_as_the_header(rows: Iterator[Cells]) -> Iterator[Cells]:
    width = 0
    for where, values in rows:
        while values and not values[-1]:
            values.pop()
        width = width or len(values)
        if len(values) > width:
            raise wrong_width(where, len(values), width)
        if values:
            yield Cells(where, values + [""] * (width - len(values)))


def _rows(raw: bytes, file: str, shared: Sequence[str]) -> Iterator[Cells]:
    """Yield the rows of the XML of a sheet, each up to its last cell."""
    number = 0
    for row in _elements(raw, "row"):
        number = int(row.get("r", number + 1))
        where, values = f"{file}:{number}", list[str]()
        for cell in row:
            named = _CELL.fullmatch(cell.get("r", ""))
            column = _column_number(named[1]) if named else len(values) + 1
            if not len(values) < column <= _WIDEST:
                raise SourceError(
                    "workbook.damaged", f"cell {cell.get('r')} is out of order", where
                )
            values += [""] * (column - 1 - len(values))
            values.append(_value(cell, f"{where}, column {column}", shared))
        yield Cells(where, values)


def _value(cell: ET.Element, where: str, shared: Sequence[str]) -> str:
    """Return the stored value of a cell as a text, spelled as it is stored."""
    kind, text = cell.get("t", "n"), _text(cell)
    parts = {_local(part.tag) for part in cell}
    # Some programs write an empty value for a formula that they did not compute.
    if "f" in parts and not text and not (kind == "str" and "v" in parts):
        raise SourceError("workbook.damaged", "a formula with no stored value", where)
    if kind == "e":
        raise SourceError("cell.unknown-value", f"the error value {shown(text)}", where)
    if kind == "s":
        return shared[int(text)] if text else ""
    if kind == "b":
        return _TRUTH.get(text, text)
    return _unescape(text) if kind in ("inlineStr", "str") else text


def _elements(raw: bytes, name: str) -> Iterator[ET.Element]:
    """Yield the elements of an XML file that have a name, holding one at a time."""
    if b"<!DOCTYPE" in raw.replace(b"\0", b""):  # workbooks declare none, so it may be an attack
        raise ValueError("it declares a document type")
    for _, element in ET.iterparse(io.BytesIO(raw)):  # noqa: S314 - no document type, no entities
        if _local(element.tag) == name:
            yield element
            element.clear()


def _text(element: ET.Element) -> str:
    """Return the value of a cell or the text of an entry, in one or more runs, without aids."""
    return "".join(
        part.text or ""
        for parent in element.iter()
        if _local(parent.tag) != "rPh"  # how to read the text aloud
        for part in parent
        if _local(part.tag) in ("v", "t")
    )


def _column_number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


def _unescape(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)


def _local(tag: str) -> str:
    """Return a name without its namespace, of which the format has two."""
    return tag.rpartition("}")[2]
