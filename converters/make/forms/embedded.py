"""Data inside prose: between code fences, on lines of their own, or after a label.

Leaves are the prose outside and the leaves of the data. Fences stay, as do data of an unknown form.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

from nnd.converters.make.forms.data_values import data_form
from nnd.converters.make.forms.form import Components, Form, Leaf, leaf_of
from nnd.converters.make.forms.prose import prose_form

_FENCE = re.compile(
    r"(?P<indent>^[ \t]*)?(?P<mark>`{3,}|~{3,})(?P<language>[^`\n]*)$", re.MULTILINE
)
"""Matches a fence; only one that closes may follow what it closes on the same line."""

_VALUE = re.compile(r"^(?:[^\n{\[]{1,80}:[ \t]+|[ \t]*)(?P<value>[{\[][\"'{\[])", re.MULTILINE)
_BAR_LINES = re.compile(r"^[ \t]*\|[^\n]*(?:\n[ \t]*\|[^\n]*){2,}+", re.MULTILINE)

_CODE = re.compile(
    r"\A\s*[{\[<]|^\s*(?:def |class |import |from \S+ import|#include|function |return\b|SELECT )"
    r"|[;{}]\s*$",
    re.MULTILINE,
)
"""Matches a line of a program, of markup, or of broken JSON."""

_Find = Callable[[str], Form | None]


class _Block(NamedTuple):
    """Data inside a text, from where their fences begin to where these end.

    `at` is where the text of the form begins; the form is None if it is not known.
    """

    start: int
    end: int
    at: int
    form: Form | None


def embedded_form(text: str, find: _Find) -> Form | None:
    """Return the form of a text that has data inside prose, or None.

    `find` returns the form of data.
    """
    blocks = [*_fenced(text, find)] or sorted([*_values(text), *_bar_tables(text, find)])
    if not blocks:
        return None
    leaves, after = list[Leaf](), 0
    for block in blocks:
        leaves += _prose(text, after, block.start)
        leaves += [
            leaf._replace(start=leaf.start + block.at, end=leaf.end + block.at)
            for leaf in (block.form.leaves if block.form else ())
        ]
        after = block.end
    leaves += _prose(text, after, len(text))
    has_unknown = any(block.form is None for block in blocks)
    return Form("embedded", text, leaves, partial(_lists, blocks), has_unknown=has_unknown)


def _prose(text: str, start: int, end: int) -> Iterator[Leaf]:
    """Yield the leaf between two blocks, without blanks around it, if there is one."""
    inside = text[start:end]
    if inside.strip():
        first = start + len(inside) - len(inside.lstrip())
        yield leaf_of(text, (first, start + len(inside.rstrip())))


def _lists(blocks: Iterable[_Block]) -> Iterator[Components]:
    for block in blocks:
        for spans in block.form.lists() if block.form else ():
            yield [(start + block.at, end + block.at) for start, end in spans]


def _fenced(text: str, find: _Find) -> Iterator[_Block]:
    """Yield what is between fences; the last one may be open, as in Markdown."""
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = None if fence["indent"] is None else fence
        elif fence["mark"] == opened["mark"] and not fence["language"].strip():
            last = fence.start() - (fence["indent"] is not None)
            yield _between(text, opened, last, fence.end(), find)
            opened = None
    if opened is not None:
        yield _between(text, opened, len(text), len(text), find)


def _between(text: str, opened: re.Match[str], last: int, end: int, find: _Find) -> _Block:
    at = opened.end() + 1
    body = text[at : max(at, last)]
    form = find(body)
    if form is None and not (opened["language"].strip() or _CODE.search(body)):
        form = prose_form(body)
    return _Block(opened.start(), end, at, form)


def _values(text: str) -> Iterator[_Block]:
    """Yield the JSON that fills lines, and the literals that fill the rest of a line."""
    after = 0
    for found in _VALUE.finditer(text):
        start = found.start("value")
        if start >= after:
            end = _json_end(text, start) or _line_end(text, start)
            form = data_form(text[start:end])
            if form and not text[end : _line_end(text, end)].strip():
                yield _Block(start, end, start, form)
                after = end


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _json_end(text: str, start: int) -> int | None:
    try:
        return json.JSONDecoder().raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return None


def _bar_tables(text: str, find: _Find) -> Iterator[_Block]:
    for found in _BAR_LINES.finditer(text):
        if form := find(found[0]):
            yield _Block(*found.span(), found.start(), form)
