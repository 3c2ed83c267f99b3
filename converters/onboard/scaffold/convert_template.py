"""The convert.py of a new source of nested JSON: a template with the file's paths as comments."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import Template

from nnd.converters.onboard.contents.level_columns import Column
from nnd.converters.onboard.contents.levels import Level
from nnd.converters.onboard.guess.guessing import UNUSED, Guess, every_column
from nnd.converters.onboard.scaffold.table_section import rating_columns
from nnd.schemas import SourceError

_TEMPLATE = Template('''\
"""Objects are made into rows, which the `table` of source.yaml reads; correct what is wrong."""

from collections.abc import Iterator, Mapping
from typing import Any

from nnd.converters import Annotation, Files
from nnd.converters.source import table_annotations

# The paths of the file, and what each was taken for:
$paths


def annotations(files: Files) -> Iterator[Annotation]:
    """Yield what the rows say."""
    yield from table_annotations(files, rows_of)


def at(value: Any, *keys: str) -> Any:
    """Return what is below keys; None where there is nothing."""
    for key in keys:
        value = None if value is None else value.get(key)
    return value


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
    """Return the template, filled in from the guess."""
    content = guess.content
    if Path(content.files[0]).suffix.lower() not in (".json", ".jsonl"):
        raise SourceError(
            f"{content.files[0]}: its columns hold objects or lists, read from JSON only; "
            "write the rows as JSON lines, and begin from that file"
        )
    chain = _chain(content.levels, guess.level)
    names = dict(zip(chain, _NAMES[content.levels[0].keys is not None :], strict=False))
    lines = [line for level in chain for line in _loop(content.levels, level, names)]
    lines += [f"if {value} is not None:  # else not judged" for value in _not_judged(guess, names)]
    cells = [f"{_STEP}{_cell(column, guess, names)}," for column in guess.read]
    inner = [_STEP * (len(lines) + 1) + line for line in ("yield {", *cells, "}")]
    text = _TEMPLATE.substitute(
        paths="\n".join(_paths(guess)),
        body="\n".join([_STEP * n + line for n, line in enumerate(lines, start=1)] + inner),
    )
    return text + (_NUMBERED if "numbered(" in text else "")


def _chain(levels: Sequence[Level], level: int) -> list[int]:
    above = levels[level].above
    return [*([] if above is None else _chain(levels, above)), level]


def _loop(levels: Sequence[Level], number: int, names: Mapping[int, str]) -> Iterator[str]:
    level, name = levels[number], names[number]
    around = "record" if level.above is None else _at(names[level.above], level.path)
    match level.keys:
        case None if level.above is not None:
            yield f"for {name} in {around} or []:"
        case "list":
            yield f"for {name}_key, {name}_list in ({around} or {{}}).items():"
            yield f"for {name} in {name}_list:"
        case "object":
            yield f"for {name}_key, {name} in ({around} or {{}}).items():"


def _at(variable: str, path: tuple[str, ...]) -> str:
    return f"at({', '.join([variable, *map(_literal, path)])})"


def _cell(column: Column, guess: Guess, names: Mapping[int, str]) -> str:
    name, level = _literal(column.name), guess.content.levels[column.level]
    if column.above < 0:
        items = _at(names[guess.level], level.path)
        items = f"({items} or {{}}).values()" if level.keys else f"{items} or []"
        value = f"[{_at('each', column.path)} for each in {items}]"
    else:
        own = names[column.level]
        value = _at(own, column.path) if column.path else f"{own}_key"
    if column.kind == "numbers":
        return f"**numbered({name}, {value} or [], {len(rating_columns(column))})"
    if column.kind == "texts" and column in guess.context:
        value = f'"\\n".join({value})'
    return f"{name}: {value}"


def _not_judged(guess: Guess, names: Mapping[int, str]) -> Iterator[str]:
    """Yield lists that are null, not empty, for candidates without judgements."""
    for column in (column for measure in guess.measures for column in measure.columns):
        if column.kind == "texts" and column.filled < column.rows and [] in column.values:
            path = guess.content.levels[column.level].path if column.above < 0 else column.path
            yield _at(names[guess.level], path)


def _paths(guess: Guess) -> Iterator[str]:
    roles = guess.roles()
    names = [column.name for column in every_column(guess.content)]
    width = max(map(len, names))
    for name in names:
        shown = name if name.isprintable() else ascii(name)
        yield f"#   {shown:<{width}}  {roles.get(name, UNUSED)}"


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=not text.isprintable())
