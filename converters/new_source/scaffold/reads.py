"""Expressions that read a field of a record, as a person would write them into a convert.py."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nnd.converters.new_source.guess import Column, Guess, Measure
from nnd.schemas import SourceError

MAJORITY = '''

def majority(labels: list[str]) -> str | None:
    """Return the label that more than half of the annotators gave."""
    return next((label for label in labels if 2 * labels.count(label) > len(labels)), None)
'''
"""A function that some generators need."""

Names = Mapping[int, str]
"""Level → variable of its objects."""


def literal(text: str) -> str:
    """Return a text as Python writes it."""
    is_plain = all(char.isprintable() or char in "\n\t" for char in text)
    return json.dumps(text, ensure_ascii=False) if is_plain else ascii(text)


def plain(text: str) -> str:
    """Return a text as it may stand in a docstring."""
    return text.replace("\\", "/").replace('"', "'") if text.isprintable() else ascii(text)


def read_path(variable: str, path: Sequence[str], method: str) -> str:
    """Return the call that reads the field at the end of a path."""
    *around, last = path
    inner = "".join(f".record({literal(key)})" for key in around)
    return f"{variable}{inner}.{method}({literal(last)})"


def read(column: Column, names: Names) -> str:
    """Return the expression of a text: of the context, the candidate, the system or a key."""
    variable = names[column.level]
    if not column.path:
        return f"{variable}_key"
    is_there = column.filled == column.rows
    if column.kind == "texts":
        return f'"\\n".join({read_path(variable, column.path, "texts")})'
    if not is_there:
        return f'({read_path(variable, column.path, "optional_text")} or "")'
    whole = any(isinstance(value, int) for value in column.values)
    return read_path(variable, column.path, "identifier" if whole else "text")


def _raw(column: Column, names: Names) -> str:
    """Return the expression of a field that may be missing, as it is."""
    return _raw_of(names[column.level], column.path)


def _raw_of(variable: str, path: Sequence[str]) -> str:
    fields = f"{variable}.fields"
    for key in path[:-1]:
        fields = f"({fields}.get({literal(key)}) or {{}})"
    return f"{fields}.get({literal(path[-1])})"


@dataclass(frozen=True, slots=True)
class Judged:
    """How a convert.py reads what was judged.

    Attributes:
        name: What it is: label, labels, score or ratings.
        expression: The expression that reads it.
        before: A line that stands before it, or None.
    """

    name: str
    expression: str
    before: str | None = None


def read_judged(measure: Measure, guess: Guess, names: Names) -> Judged:
    """Return how what was judged is read."""
    (first, *_) = measure.columns
    if measure.kind == "score":
        return Judged("score", _number(first, names))
    if measure.kind == "ratings":
        is_below = first.above < 0
        return _ratings_below(first, guess, names) if is_below else _ratings(measure, names)
    if measure.kind == "label":
        return _label(first, guess, names)
    if measure.kind == "flags":
        marks = f"{read_path(names[first.level], first.path[:-1], 'record')}.fields"
        found = f"[name for name in marks if marks[name]]{_blank(guess)}"
        return Judged("labels", found, f"marks = {marks}")
    if measure.kind == "votes":
        return Judged("label", f"majority({_votes(measure, guess, names)})")
    return Judged("labels", _listed(measure, guess, names))


def _votes(measure: Measure, guess: Guess, names: Names) -> str:
    if measure.columns[0].kind == "texts":
        return _listed(measure, guess, names)
    labels = ", ".join(_raw(column, names) for column in measure.columns)
    return f"[label for label in ({labels}) if label]"


def _label(first: Column, guess: Guess, names: Names) -> Judged:
    text = _raw(first, names)
    if first.kind == "flag":
        text = f'{{True: "true", False: "false"}}.get({text})'
    elif not all(isinstance(value, str | None) for value in first.values):
        text = f"str({text})" if first.filled == first.rows else f"{text} and str({text})"
    text += "" if guess.quality.blank is None else " or NO_ERROR"
    if guess.quality.separator is None:
        return Judged("label", text)
    mark = literal(guess.quality.separator)
    text += ' or ""' if guess.quality.blank is None else ""
    return Judged("labels", f"[label.strip() for label in ({text}).split({mark})]")


def _listed(measure: Measure, guess: Guess, names: Names) -> str:
    """Return the labels of a list: of texts, or of objects that have one each."""
    (first, *_) = measure.columns
    if first.above < 0:
        list_ = _list_of(first, guess)
        items = read_path(names[guess.level], list_.path, "records")
        found = f"[{read_path('mark', first.path, 'text')} for mark in {items}]"
    else:
        list_, found = first, read_path(names[first.level], first.path, "texts")
    if measure.kind == "votes":
        return found
    found += _blank(guess)
    if list_.filled == list_.rows:
        return found
    raw = _raw(list_, names)
    if any(value == [] for value in first.values) or guess.quality.blank is None:
        # Where others have an empty list, nothing at all says that nobody judged.
        return f"{found} if {raw} is not None else [None]"
    return f"{found} if {raw} else [NO_ERROR]"


def _blank(guess: Guess) -> str:
    return "" if guess.quality.blank is None else " or [NO_ERROR]"


def _list_of(column: Column, guess: Guess) -> Column:
    """Return the list, in the candidate, whose objects have a column."""
    level = guess.content.levels[column.level]
    if level.keyed:
        raise SourceError(
            f"{column.name}: lies in objects under keys, for which no generator can be written; "
            "name another column, or write convert.py as CONTRIBUTING.md shows"
        )
    return Column(column.name, level.path, guess.level, column.values, 0)


def _number(column: Column, names: Names) -> str:
    if any(isinstance(value, str) for value in column.values):
        raw = _raw(column, names)
        return (
            f"float({raw})" if column.filled == column.rows else f"float({raw}) if {raw} else None"
        )
    if column.filled < column.rows:
        return _raw(column, names)
    return read_path(names[column.level], column.path, "number")


def _ratings_below(column: Column, guess: Guess, names: Names) -> Judged:
    """Read ratings that lie in a list of objects, one per annotator."""
    list_ = _list_of(column, guess)
    gaps = any(value is None for values in column.values for value in values or ())
    condition = f" if {_raw_of('judge', column.path)} is not None" if gaps else ""
    judges = f"list({read_path(names[guess.level], list_.path, 'records')})"
    judges += "" if list_.filled == list_.rows else f" if {_raw(list_, names)} else []"
    found = f"[{read_path('judge', column.path, 'number')} for judge in judges{condition}]"
    return Judged("ratings", found, f"judges = {judges}")


def _ratings(measure: Measure, names: Names) -> Judged:
    (first, *_) = measure.columns
    if first.kind == "numbers":
        found = f"{_raw(first, names)} or []"
        return Judged("ratings", f"[rating for rating in {found} if rating is not None]")
    found = ", ".join(_number(column, names) for column in measure.columns)
    if all(column.filled == column.rows for column in measure.columns):
        return Judged("ratings", f"[{found}]")
    return Judged("ratings", f"[rating for rating in ({found}) if rating is not None]")
