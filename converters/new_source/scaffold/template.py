"""The convert.py of a new source of nested JSON: a plain template, the file's paths as comments."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import Template

from nnd.converters.contents import Column, Level, columns_of
from nnd.converters.new_source.guess import UNUSED, Guess
from nnd.converters.new_source.scaffold.table import columns_read, rating_columns
from nnd.schemas import SourceError

_TEMPLATE = Template('''\
"""$file: objects made into rows, which the `table` of source.yaml reads; correct what is wrong."""

from collections.abc import Iterator, Mapping
from typing import Any

from nnd.converters import Annotation, Files
from nnd.converters.source import table_annotations

# The paths of the file, and what each was taken for:
$paths


def annotations(files: Files) -> Iterator[Annotation]:
    """Yield what the rows say."""
    yield from table_annotations(files, rows_of)


def rows_of(record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a row for each candidate of an outermost object."""
$body
''')
_NUMBERED = '''

def numbered(name: str, ratings: list[Any], size: int) -> dict[str, Any]:
    """Return a column for each of several ratings."""
    filled = [*ratings, *[None] * size][:size]
    return {f"{name}.{number}": rating for number, rating in enumerate(filled, start=1)}
'''
_STEP = "    "
_NAMES = ("record", "item", "part", "piece", "detail", "point", "bit")


def nested_code(guess: Guess) -> str:
    """Return the template, filled with what was guessed.

    Raises:
        SourceError: If the file is not JSON.
    """
    content = guess.content
    if Path(content.files[0]).suffix.lower() not in (".json", ".jsonl"):
        raise SourceError(
            f"{content.files[0]}: its columns hold objects or lists, read from JSON only; "
            "write the rows as JSON lines, and begin from that file"
        )
    chain = _chain(content.levels, guess.level)
    is_keyed = content.levels[0].keys is not None
    names = dict(zip(chain, _NAMES[is_keyed:], strict=False))
    lines = [line for level in chain for line in _loop(content.levels, level, names)]
    lines += [f"if {value} is not None:  # else not judged" for value in _not_judged(guess, names)]
    cells = [f"{_STEP}{_cell(column, guess, names)}," for column in columns_read(guess)]
    text = _TEMPLATE.substitute(
        file=_plain(", ".join(content.files)),
        paths="\n".join(_paths(guess)),
        body="\n".join(
            [_STEP * depth + line for depth, line in enumerate(lines, start=1)]
            + [_STEP * (len(lines) + 1) + line for line in ("yield {", *cells, "}")]
        ),
    )
    return text + (_NUMBERED if "numbered(" in text else "")


def _chain(levels: Sequence[Level], level: int) -> list[int]:
    """Return the levels from the outermost to `level`."""
    above = levels[level].above
    return [*([] if above is None else _chain(levels, above)), level]


def _loop(levels: Sequence[Level], number: int, names: Mapping[int, str]) -> Iterator[str]:
    """Yield how the objects of a level are gone through."""
    level, name, around = levels[number], names[number], "record"
    if level.above is not None:
        around = _value(names[level.above], level.path, has_gaps=bool(level.missing))
    elif level.keys is None:
        return
    if level.missing:
        around = f"({around} or {{}})" if level.keys else f"{around} or []"
    match level.keys:
        case None:
            yield f"for {name} in {around}:"
        case "list":
            yield f"for {name}_key, {name}_list in {around}.items():"
            yield f"for {name} in {name}_list:"
        case _:
            yield f"for {name}_key, {name} in {around}.items():"


def _value(variable: str, path: tuple[str, ...], *, has_gaps: bool) -> str:
    """Return the expression of the field at the end of a path."""
    if not has_gaps:
        return variable + "".join(f"[{_literal(key)}]" for key in path)
    *around, last = path
    for key in around:
        variable = f"({variable}.get({_literal(key)}) or {{}})"
    return f"{variable}.get({_literal(last)})"


def _cell(column: Column, guess: Guess, names: Mapping[int, str]) -> str:
    """Return the entry of a row."""
    value = _read(column, guess, names)
    if column.kind == "numbers":
        return f"**numbered({_literal(column.name)}, {value}, {len(rating_columns(column))})"
    if column.kind == "texts" and column in guess.context:
        value = f'"\\n".join({value})'
    return f"{_literal(column.name)}: {value}"


def _read(column: Column, guess: Guess, names: Mapping[int, str]) -> str:
    if column.above >= 0:
        if not column.path:
            return f"{names[column.level]}_key"
        value = _value(names[column.level], column.path, has_gaps=column.filled < column.rows)
        return (
            f"{value} or []" if column.kind == "numbers" and column.filled < column.rows else value
        )
    level = guess.content.levels[column.level]
    items = _value(names[guess.level], level.path, has_gaps=bool(level.missing))
    if level.keys is not None:
        items = f"({items} or {{}}).values()" if level.missing else f"{items}.values()"
    elif level.missing:
        items = f"{items} or []"
    gaps = any(value is None for values in column.values for value in values or ())
    return f"[each{_value('', column.path, has_gaps=gaps)} for each in {items}]"


def _not_judged(guess: Guess, names: Mapping[int, str]) -> Iterator[str]:
    """Yield lists that are null for a candidate that nobody judged, where others are empty."""
    for column in (column for measure in guess.measures for column in measure.columns):
        if column.kind == "texts" and column.filled < column.rows and [] in column.values:
            level = guess.content.levels[column.level]
            path = level.path if column.above < 0 else column.path
            yield _value(names[guess.level], path, has_gaps=True)


def _paths(guess: Guess) -> Iterator[str]:
    """Yield a comment for each path of the file."""
    roles = guess.roles()
    names = [
        column.name
        for level in range(len(guess.content.levels))
        for column in columns_of(guess.content, level)
        if column.level == level
    ]
    width = max(map(len, names))
    for name in names:
        yield f"#   {_plain(name):<{width}}  {roles.get(name, UNUSED)}".rstrip()


def _literal(text: str) -> str:
    """Return a text as Python writes it."""
    is_plain = all(char.isprintable() for char in text)
    return json.dumps(text, ensure_ascii=False) if is_plain else ascii(text)


def _plain(text: str) -> str:
    """Return a text as it may be part of a comment or a docstring."""
    return text.replace("\\", "/").replace('"', "'") if text.isprintable() else ascii(text)
