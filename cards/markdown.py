"""Arbitrary texts as Markdown that shows them literally, on one line.

Data may hold Markdown, HTML, Jinja, fences, pipes, line breaks and invisible characters; none of
them may break a table, start a block or hide what follows.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from nnd.schemas import URL

_SPECIAL = re.compile(r"([`*_{}\[\]|~$])")
# Two backslashes start a formula on the Hub.
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\\": "&#92;"})
_JOINERS = "\u200c\u200d"  # invisible, but scripts and emoji need them
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.*?[^`])\1(?!`)")
_LINK = re.compile(rf"{URL}(?<![.,:?])(?=[^\w/@]*(\s|$))")
"""An address followed only by punctuation: a part of a longer address would lead elsewhere."""


class Table(NamedTuple):
    """A table: titles, `l` or `r` for each column, and cells of Markdown, each on one line."""

    header: tuple[str, ...]
    aligned: str
    rows: Sequence[tuple[str, ...]]


def one_visible_line(text: str) -> str:
    """Return text with white space folded and invisible characters written as escapes."""
    return "".join(
        char if char.isprintable() or char in _JOINERS else ascii(char)[1:-1]
        for char in " ".join(text.split())
    )


def escape(text: str) -> str:
    """Return any text as Markdown that shows it literally, on one line."""
    line = _SPECIAL.sub(r"\\\1", one_visible_line(text).translate(_ENTITIES))
    # The start of a line could begin a list, a rule or a heading.
    return re.sub(r"^(?=[-+#=])|^(\d+)(?=[.)](?:\s|$))", r"\1\\", line)


def code(text: str) -> str:
    """Return a name as inline code, or as escaped text if code cannot show it."""
    line = one_visible_line(text)
    return escape(text) if not line or re.search(r"[`|\\]", line) else f"`{line}`"


def prose(text: str) -> str:
    """Return a sentence that a person wrote, on one line; code spans and links stay.

    Everything else is shown literally.
    """
    line, out, end = " ".join(text.split()), [], 0
    for match in re.finditer(f"{_CODE_SPAN.pattern}|{_LINK.pattern}", line):
        shown = one_visible_line(match[0])
        out += [_words(line[end : match.start()]), shown if shown[0] == "`" else f"<{shown}>"]
        end = match.end()
    return "".join([*out, _words(line[end:])])


def _words(text: str) -> str:
    """Escape a text, keeping spaces at both ends."""
    escaped = escape(text)
    before = " " if escaped and text[0].isspace() else ""
    return before + escaped + (" " if text[-1:].isspace() else "")


def shorten(text: str, longest: int, start: int = 0) -> str:
    """Return at most `longest` characters of a text from `start`, with dots for the rest."""
    text = " ".join(text.split())
    head = "… " if start else ""
    part = text[start : start + longest]
    if start + longest >= len(text):
        return f"{head}{part}"
    whole_words = part.rpartition(" ")[0]
    return f"{head}{whole_words or part} …"


def fence(text: str, language: str = "") -> str:
    """Return a text as a block of code; it may hold backticks."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}{language}\n{text.strip()}\n{marks}"


def render_table(table: Table) -> str:
    """Return a table in the Markdown of GitHub and the Hub."""
    rule = tuple("---:" if side == "r" else "---" for side in table.aligned)
    rows = (table.header, rule, *table.rows)
    return "\n".join(f"| {' | '.join(map(table_cell, cells))} |" for cells in rows)


def joined(names: Sequence[str]) -> str:
    """Return names in a sentence: `a`, `b` and `c`."""
    *others, last = [code(name) for name in names] or [""]
    return f"{', '.join(others)} and {last}" if others else last


def table_cell(text: str) -> str:
    """Return Markdown for a cell of a table: a bar gets a backslash, in code too."""
    return re.sub(r"(?<!\\)\|", r"\\|", text)
