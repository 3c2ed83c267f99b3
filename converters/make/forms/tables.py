"""Tables: Markdown's, and delimited rows under a header.

Leaves are the cells of the rows; the header and Markdown's rule stay. Comments before the header
("# unit: people") are keys and values.
"""

import re
from collections.abc import Iterator
from functools import partial
from itertools import pairwise

from nnd.converters.make.forms.form import Form, Span, leaf_of, lines_of

_RULE = re.compile(r"\|(?:\s*:?-+:?\s*\|)+")
_BAR = re.compile(r"(?<!\\)\|")
_DELIMITERS = ("\t", ",", ";")
_FEWEST_LINES = 3
"""Of a table, comments included; two lines with a comma each may be verse."""

_COMMENT = re.compile(r"#\s*(?:[^:\n]{1,60}:\s+)?(?P<text>\S[^\n]*)")


def table_form(text: str) -> Form | None:
    """Return the form of a text that is a table, or None."""
    if text.count("\n") < _FEWEST_LINES - 1:
        return None
    lines = lines_of(text)
    if len(lines) < _FEWEST_LINES:
        return None
    return _bar_table(text, lines) or _delimited_table(text, lines)


def _bar_table(text: str, lines: list[Span]) -> Form | None:
    shown = [text[start:end] for start, end in lines]
    is_table = all(line.startswith("|") and line.endswith("|") for line in shown)
    if not (is_table and _RULE.fullmatch(shown[1])):
        return None
    rows = lines[2:]
    cells = (cell for row in rows for cell in _bar_cells(text, row))
    leaves = [leaf_of(text, cell, _in_bars)._replace(text=_unbarred(text, cell)) for cell in cells]
    return Form("table", text, leaves, lambda: [rows])


def _bar_cells(text: str, row: Span) -> Iterator[Span]:
    """Yield the spans between the bars of a row, where they are not blank."""
    bars = [found.start() for found in _BAR.finditer(text, *row)]
    for left, right in pairwise(bars):
        cell = text[left + 1 : right]
        if cell.strip():
            start = left + 1 + len(cell) - len(cell.lstrip())
            yield start, start + len(cell.strip())


def _unbarred(text: str, cell: Span) -> str:
    return text[slice(*cell)].replace(r"\|", "|")


def _in_bars(text: str) -> str:
    return text.replace("|", r"\|")


def _delimited_table(text: str, lines: list[Span]) -> Form | None:
    comments = next((at for at, line in enumerate(lines) if text[line[0]] != "#"), len(lines))
    rows = lines[comments:]
    found = next((each for each in _DELIMITERS if rows and each in text[slice(*rows[0])]), None)
    if found is None:
        return None
    cells = [_cells(text, row, found) for row in rows]
    has_spaces = any(text[start : start + 1] == " " for row in cells for start, _ in row)
    if len({*map(len, cells)}) != 1 or (has_spaces and found != "\t"):  # ", " divides sentences
        return None
    has_header = not any(re.search("[0-9]", text[slice(*cell)]) for cell in cells[0])
    write = partial(_in_delimiters, delimiter=found)
    spans = (_COMMENT.match(text, *line) for line in lines[:comments])
    leaves = [leaf_of(text, each.span("text")) for each in spans if each]
    leaves += [
        leaf_of(text, cell, write)._replace(text=_unquoted(text[slice(*cell)]))
        for row in cells[has_header:]
        for cell in row
        if text[slice(*cell)].strip()
    ]
    return Form("table", text, leaves, lambda: [rows[has_header:]])


def _cells(text: str, row: Span, delimiter: str) -> list[Span]:
    cell = re.compile(
        rf'(?:^|{delimiter})(?P<cell>"(?:[^"]|"")*+"(?={delimiter}|$)|[^{delimiter}]*+)'
    )
    start, end = row
    spans = (found.span("cell") for found in cell.finditer(text[start:end]))
    return [(start + first, start + last) for first, last in spans]


def _unquoted(cell: str) -> str:
    return cell[1:-1].replace('""', '"') if _is_quoted(cell) else cell


def _is_quoted(cell: str) -> bool:
    return len(cell) > 1 and cell[0] == cell[-1] == '"'


def _in_delimiters(text: str, *, delimiter: str) -> str:
    if delimiter in text or '"' in text:
        doubled = text.replace('"', '""')
        return f'"{doubled}"'
    return text
