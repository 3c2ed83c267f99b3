"""JSON, JSON lines and Python's literals, which many prompts show instead of JSON.

Leaves are the values that are strings or plain numbers; keys stay. The members of an object have no
order, so they may change places, as may the records of an array. Other arrays stay, because places
may mean something in them, unless the whole text is an array of strings. A record whose first
value is blank continues the one before, so an array with such a record stays too.
"""

import ast
import json
import re
import warnings
from collections.abc import Callable
from functools import partial
from typing import Literal, TypeAlias

from nnd.converters.make.forms.form import Components, Form, Leaf, Span

_BEGINS = re.compile(
    r"\s*+[{\[]\s*+(?:[\"'{\[(\]}\d-]|null|true|false|NaN|Infinity|None|True|False)"
)
_TOKEN = re.compile(
    r"""\s*+(?:(?P<string>"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+')"""
    r"""|(?P<mark>[\[\]{}(),:])|(?P<atom>[^\s\[\]{}(),:"']++))""",
    re.DOTALL,
)
_NUMBER = re.compile(r"(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")

_Kind: TypeAlias = Literal["record", "continuation", "list", "text", "blank", "atom"]


def data_form(text: str) -> Form | None:
    """Return the form of a text that is JSON, JSON lines or one of Python's literals, or None."""
    if not _BEGINS.match(text):
        return None
    read = _language(text)
    if read is None:
        return None
    try:
        reader = _Reader(text, read)
        reader.read_all()
    except (_StrangeError, RecursionError):
        return None
    return Form("json", text, reader.leaves, lambda: reader.lists)


def _language(text: str) -> "_Language | None":
    """Return the language that a text is written in."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        pass
    else:
        return _JSON
    try:
        for line in filter(str.strip, text.splitlines()):
            json.loads(line)
    except (ValueError, RecursionError):
        return _PYTHON if _is_literal(text) else None
    return _JSON


def _is_literal(text: str) -> bool:
    with warnings.catch_warnings(action="ignore"):  # of strange escapes
        try:
            ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            return False
    return True


def _json_string(text: str, *, old: str) -> str:
    return json.dumps(text, ensure_ascii=r"\u" in old)


def _python_string(text: str, *, old: str) -> str:  # noqa: ARG001 - Python chooses the marks
    return repr(text)


_Language: TypeAlias = tuple[Callable[[str], str], Callable[..., str]]
"""Functions that read a string and write it in the manner of an old one."""

_JSON: _Language = (json.loads, _json_string)
_PYTHON: _Language = (ast.literal_eval, _python_string)


class _StrangeError(Exception):
    """The text is legal, but not as data are written: a set, or "a" "b"."""


class _Reader:
    """Finds the leaves and lists of a legal text."""

    def __init__(self, text: str, language: _Language) -> None:
        self.leaves: list[Leaf] = []
        self.lists: list[Components] = []
        self._read, self._write = language
        found = (match for match in _TOKEN.finditer(text) if match.lastgroup)
        self._tokens = [(each.lastgroup, *each.span(each.lastgroup or "")) for each in found]
        self._text, self._at, self._end = text, 0, 0

    def read_all(self) -> None:
        """Read a value, or several on lines of their own."""
        lines = list[Span]()
        while self._at < len(self._tokens):
            kind, start = self._value()
            lines.append((start, self._end))
        self.lists.append(lines)
        is_one_array = len(lines) == 1 and kind == "list"
        if is_one_array and not self.lists[:-1] and len(self.leaves) > 1:
            strings = [leaf for leaf in self.leaves if not leaf.is_number]
            if len(strings) == len(self._tokens) // 2:  # all but brackets and commas
                self.lists.append([(leaf.start, leaf.end) for leaf in strings])

    def _value(self) -> tuple[_Kind, int]:
        """Return the kind of the next value, and where it begins."""
        group, start, end = self._next()
        written = self._text[start:end]
        if group == "string":
            text = self._read(written)
            self.leaves.append(Leaf(start, end, text, partial(self._write, old=written)))
            return "text" if text.strip() else "blank", start
        if group == "atom":
            if _NUMBER.fullmatch(written):
                self.leaves.append(Leaf(start, end, written, is_number=True))
            return "atom", start
        if written == "{":
            return self._object(), start
        if written in "[(":
            self._array("]" if written == "[" else ")")
            return "list", start
        raise _StrangeError

    def _object(self) -> _Kind:
        members, kinds = list[Span](), list[_Kind]()
        while not self._takes("}"):
            group, start, _ = self._next()
            if group == "mark" or not self._takes(":"):
                raise _StrangeError
            kinds.append(self._value()[0])
            members.append((start, self._end))
            self._comma("}")
        self.lists.append(members)
        return "continuation" if kinds[:1] == ["blank"] else "record"

    def _array(self, close: str) -> None:
        items, kinds = list[Span](), set[_Kind]()
        while not self._takes(close):
            kind, start = self._value()
            kinds.add(kind)
            items.append((start, self._end))
            self._comma(close)
        if kinds == {"record"}:
            self.lists.append(items)

    def _next(self) -> tuple[str | None, int, int]:
        if self._at == len(self._tokens):
            raise _StrangeError
        token = self._tokens[self._at]
        self._at, self._end = self._at + 1, token[2]
        return token

    def _takes(self, mark: str) -> bool:
        """Say whether a mark comes next, and go behind it if so."""
        if self._at == len(self._tokens):
            raise _StrangeError
        _, start, end = self._tokens[self._at]
        if self._text[start:end] != mark:
            return False
        self._next()
        return True

    def _comma(self, close: str) -> None:
        """Go behind the comma after an item; before the end none is needed."""
        if not self._takes(","):
            _, start, end = self._tokens[self._at]
            if self._text[start:end] != close:
                raise _StrangeError
