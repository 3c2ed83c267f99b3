"""Paths into nested JSON, which name columns: `outputs[].errors[].type`, `answers.*.text`.

`[]` stands for every item of a list, `*` for every value of an object whose keys are data, and `.`
for the whole object. A section's `unfold` is such a path, and each thing that it leads to is a row.
Steps of a column beyond it give a list of values.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from nnd.schemas import FileRecord, SourceError, shown

EVERY = ("[]", "*")
KEY = "_key"
"""Column of an unfolded row: its number in the list, from 1, or its key in the object. The keys of
further levels are `_key2` and so on."""

Steps: TypeAlias = tuple[str, ...]

_WHOLE = "."
_STEPS = re.compile(r"\[\]|[^.\[\]]+|[\[\]]+")


def steps_of_path(path: str) -> Steps:
    """Return the steps of a path: `a[].b.*` has a, [], b and *."""
    return tuple(_STEPS.findall(path))


def is_path(column: str) -> bool:
    """Say whether the name of a column may lead into nested JSON."""
    return "." in column or "[]" in column or column == "*"


def unfolded_keys(path: str) -> list[str]:
    """Return the columns of keys that unfolding a path adds."""
    depth = sum(step in EVERY for step in steps_of_path(path))
    return [KEY if level == 1 else f"{KEY}{level}" for level in range(1, depth + 1)]


class _Item(NamedTuple):
    """Something that `unfold` leads to."""

    keys: list[str]  # the number or key at each level
    values: dict[Steps, Any]  # what each part of the path up to `[]` or `*` leads to


def unfold(
    records: Iterable[FileRecord], path: str, columns: Sequence[str], number_as: str
) -> Iterator[FileRecord]:
    """Yield a record with the named columns for each thing at a path; none: for each record.

    It has the number of the outermost object, from 1, under `number_as`.
    """
    steps, names = steps_of_path(path), unfolded_keys(path)
    parts = [steps[:end] for end in range(len(steps), -1, -1) if not end or steps[end - 1] in EVERY]
    routes = {column: _route(column, parts) for column in columns if column not in names}
    unseen, where = dict.fromkeys(routes), ""
    for number, (where, fields) in enumerate(records, start=1):
        for item in _items(fields, steps, where):
            cells: dict[str, Any] = {number_as: number, **dict(zip(names, item.keys, strict=True))}
            for column, route in routes.items():
                part, rest = ((), (column,)) if column in fields else route
                try:
                    cells[column] = _follow(item.values[part], rest, where)
                    unseen.pop(column, None)
                except KeyError:
                    cells[column] = None
            place = "".join(f"[{key}]" for key in item.keys)
            yield FileRecord(f"{where}{place}", cells)
    if unseen and where:
        raise SourceError(
            "row.wrong-shape",
            f"nothing has the column {', '.join(map(shown, unseen))}",
            where,
            "correct the path in source.yaml: it begins at the outermost object, as `nnd "
            "new-source` shows it",
        )


def _route(column: str, parts: Sequence[Steps]) -> tuple[Steps, Steps]:
    """Return the longest unfolded part of the path of a column, and the rest."""
    steps = () if column == _WHOLE else steps_of_path(column)
    part = next(part for part in parts if steps[: len(part)] == part)
    return part, steps[len(part) :]


def _items(fields: Mapping[str, Any], steps: Steps, where: str) -> Iterator[_Item]:
    found = [_Item([], {(): fields})]
    for end, step in enumerate(steps, start=1):
        if step in EVERY:
            start = max(len(part) for part in found[0].values) if found else 0
            between, part = steps[start : end - 1], steps[:end]
            found = [
                _Item([*item.keys, key], {**item.values, part: value})
                for item in found
                for key, value in _inside(item.values[steps[:start]], between, step, where)
            ]
    yield from found


def _inside(value: Any, between: Steps, step: str, where: str) -> list[tuple[str, Any]]:  # noqa: ANN401 - JSON
    try:
        whole = _follow(value, between, where, as_text=False)
    except KeyError:
        return []
    if step == "*":
        return list(_expected(whole, dict, "an object", between, where).items())
    items = _expected(whole, list, "a list", between, where)
    return [(str(number), item) for number, item in enumerate(items, start=1)]


def _follow(value: Any, steps: Steps, where: str, *, as_text: bool = True) -> Any:  # noqa: ANN401 - JSON
    """Return what some steps lead to; a single object becomes its JSON text."""
    for number, step in enumerate(steps):
        if value is None:
            return None
        if step in EVERY:
            kind, name = (dict, "an object") if step == "*" else (list, "a list")
            inner = _expected(value, kind, name, steps[:number], where)
            found = [
                _lookup(item, steps[number + 1 :], where)
                for item in (inner.values() if kind is dict else inner)
            ]
            return [one for item in found for one in (item if isinstance(item, list) else [item])]
        if not isinstance(value, dict):
            raise KeyError(step)
        value = value[step]
    return json.dumps(value, ensure_ascii=False) if as_text and isinstance(value, dict) else value


def _lookup(value: Any, steps: Steps, where: str) -> Any:  # noqa: ANN401 - JSON
    try:
        return _follow(value, steps, where, as_text=False)
    except KeyError:
        return None


def _expected(value: Any, kind: type, name: str, steps: Steps, where: str) -> Any:  # noqa: ANN401 - JSON
    if value is None:
        return kind()
    if not isinstance(value, kind):
        place = ", ".join(filter(None, (where, ".".join(steps))))
        raise SourceError(
            "row.wrong-shape",
            f"{shown(value)} is not {name}",
            place,
            "correct the row, or the path in source.yaml",
        )
    return value
