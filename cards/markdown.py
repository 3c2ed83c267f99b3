"""Texts of any kind as Markdown that shows them as they are, on one line.

Data may hold Markdown, HTML, Jinja, fences, pipes, line breaks and what cannot be seen; none of it
may break a table, start a block or hide what follows.
"""

import re
from typing import NamedTuple

from nnd.schemas import URL

_SPECIAL = re.compile(r"([`*_{}\[\]|~$])")
_ENTITIES = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    "\\": "&#92;",
}  # two backslashes start a formula there
_JOINERS = "\u200c\u200d"  # scripts and emoji need them, though they cannot be seen
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.*?[^`])\1(?!`)")
_LINK = re.compile(rf"{URL}(?<![.,:?])(?=[^\w/@]*(\s|$))")
"""An address with nothing behind it but punctuation: a part of a longer one leads elsewhere."""


class Table(NamedTuple):
    """A table.

    Attributes:
        header: Its column titles.
        aligned: `l` or `r` for each column.
        rows: Cells of Markdown, each on one line.
    """

    header: tuple[str, ...]
    aligned: str
    rows: tuple[tuple[str, ...], ...]


def one_visible_line(text: str) -> str:
    """Return text with white space folded, and what cannot be seen written as an escape."""
    return "".join(
        char if char.isprintable() or char in _JOINERS else ascii(char)[1:-1]
        for char in " ".join(text.split())
    )


def escape(text: str) -> str:
    """Return any text as Markdown that shows just that, on one line."""
    line = re.sub(r"[&<>\\]", lambda match: _ENTITIES[match[0]], one_visible_line(text))
    line = _SPECIAL.sub(r"\\\1", line)
    return re.sub(r"^([-+#=]|\d+(?=[.)](?:\s|$)))", _harmless, line)


def _harmless(start: re.Match[str]) -> str:
    """Keep the start of a line from being a list, a rule or a heading."""
    return f"{start[0]}\\" if start[0].isdigit() else f"\\{start[0]}"


def code(text: str) -> str:
    """Return a name as inline code; as escaped text where it has what code cannot hold."""
    line = one_visible_line(text)
    return escape(text) if not line or re.search(r"[`|\\]", line) else f"`{line}`"


def prose(text: str) -> str:
    """Return a sentence that a person wrote, on one line: code spans and links stay what they are.

    Everything else shows as it was typed.
    """
    line, out, end = " ".join(text.split()), [], 0
    for match in re.finditer(f"{_CODE_SPAN.pattern}|{_LINK.pattern}", line):
        shown = one_visible_line(match[0])
        out += [_words(line[end : match.start()]), shown if shown[0] == "`" else f"<{shown}>"]
        end = match.end()
    return "".join([*out, _words(line[end:])])


def _words(text: str) -> str:
    """Escape, and leave the spaces at both ends."""
    escaped = escape(text)
    before = " " if escaped and text[0].isspace() else ""
    return before + escaped + (" " if text[-1:].isspace() else "")


def shorten(text: str, longest: int, start: int = 0) -> str:
    """Return at most `longest` characters of a text from `start` on; dots stand for the rest."""
    text = " ".join(text.split())
    head = "… " if start else ""
    part = text[start : start + longest]
    if start + longest >= len(text):
        return f"{head}{part}"
    whole_words = part.rpartition(" ")[0]
    return f"{head}{whole_words or part} …"


def fence(text: str, language: str = "") -> str:
    """Return a text as a block of code, whatever backticks it holds."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}{language}\n{text.strip()}\n{marks}"


def render_table(table: Table) -> str:
    """Return a table in Markdown (GitHub's, as the Hub has it)."""
    rule = tuple("---:" if side == "r" else "---" for side in table.aligned)
    rows = (table.header, rule, *table.rows)
    return "\n".join(f"| {' | '.join(map(table_cell, cells))} |" for cells in rows)


def table_cell(text: str) -> str:
    """Return Markdown as it is written in a table: a bar has a backslash, in code as well."""
    return re.sub(r"(?<!\\)\|", r"\\|", text)
