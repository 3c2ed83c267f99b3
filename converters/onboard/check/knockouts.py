"""Finding the columns of the real files that a converter reads, by changing each in turn.

If a copy of the files with exchanged values of a column gives the same annotations, the column is
not read.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from nnd.converters.onboard.check.file_columns import ANY, Column, Keys, columns_of, swap_values
from nnd.converters.onboard.check.file_content import Contents, Value
from nnd.converters.onboard.check.separate_run import Run
from nnd.converters.onboard.check.source_readings import Reading, copy_files

Effect: TypeAlias = Literal["judgement", "text", "other", "unread"]
"""What a column changes in annotations: labels and scores, texts, something else, nothing."""

Convert: TypeAlias = Callable[[Sequence[Reading]], list[Run]]

_RECORDS = 600
_BLOCKS = 12
_MOST_COLUMNS = 200
_LEAST_ROWS = 40
_TEXTS = ["context", "candidate"]
_JUDGEMENTS = [*_TEXTS, "aspect", "label", "score", "ratings"]


@dataclass(frozen=True, slots=True)
class Family:
    """Parts whose records have the same fields.

    Attributes:
        places: File and part of each.
        columns: Their columns by path.
        effects: The effect of each; a column that could not be changed has none.
        tails: The effect of the last items of the lists of each.
    """

    places: list[tuple[str, str]]
    columns: dict[Keys, Column]
    effects: dict[Keys, Effect]
    tails: dict[Keys, Effect]


def fields_of(columns: Mapping[Keys, Column]) -> frozenset[str]:
    """Return the names of the outermost fields of the records of a part."""
    return frozenset(
        path[1] if path[:1] == (ANY,) and path[1:] else path[0] for path in columns if path
    )


def families_of(contents: Contents) -> list[Family]:
    """Return the parts of files, grouped by fields."""
    found: dict[frozenset[str], Family] = {}
    for name, parts in contents.items():
        for part, value in parts.items():
            columns = columns_of(value)
            family = found.setdefault(fields_of(columns), Family([], {}, {}, {}))
            family.places.append((name, part))
            for path, column in columns.items():
                family.columns.setdefault(path, Column(path, [])).slots.extend(column.slots)
    return list(found.values())


def try_columns(
    readings: Sequence[Reading], contents: Contents, place: Path, convert: Convert
) -> list[Family]:
    """Change the columns of files one after the other, and find their effects.

    Args:
        readings: The files in one set and each variant; a column is read if any of them reads it.
        contents: The content of the files.
        place: A new folder for copies.
        convert: Converts readings.
    """
    samples = {
        name: {part: _sample(one) for part, one in own.items()} for name, own in contents.items()
    }
    # A sample may lack related records.
    for number, tried in enumerate([samples, contents] if samples != contents else [contents]):
        families = families_of(tried)
        rows = _try(readings, tried, families, place / str(number), convert)
        if rows >= _LEAST_ROWS or (rows and tried is contents):
            return families
    return families_of(contents)


def _sample(value: Value) -> Value:
    """Return a sample of a part's records, in blocks spread over it."""
    if isinstance(value, dict) and len(value) <= _RECORDS:
        return {
            key: _sample(inner) if isinstance(inner, list) else inner
            for key, inner in value.items()
        }
    entries = list(value.items()) if isinstance(value, dict) else value
    if isinstance(entries, list) and len(entries) > _RECORDS:
        size = _RECORDS // _BLOCKS
        starts = range(0, len(entries) - size + 1, (len(entries) - size) // (_BLOCKS - 1))
        entries = [entry for start in starts for entry in entries[start : start + size]]
    return dict(entries) if isinstance(value, dict) else entries


def _try(
    readings: Sequence[Reading],
    contents: Contents,
    families: Sequence[Family],
    place: Path,
    convert: Convert,
) -> int:
    """Note the effects of columns in families; return the number of annotations."""
    jobs = [
        (noted, path, column)
        for family in families
        for path, whole in family.columns.items()
        for noted, column in ((family.effects, whole), (family.tails, whole.tail))
        if column is not None
    ][:_MOST_COLUMNS]
    files = readings[0].files
    copies, changed = [copy_files(files, contents, place / "base")], []
    for number, (noted, path, column) in enumerate(jobs):
        before = [slot.value for slot in column.slots]
        if swap_values(column):
            copies.append(copy_files(files, contents, place / str(number)))
            changed.append((noted, path))
        for slot, value in zip(column.slots, before, strict=True):
            slot.holder[slot.key] = value
    runs = iter(convert([replace(one, origin=copy) for copy in copies for one in readings]))
    bases, *others = [[_prints(next(runs)) for _ in readings] for _ in copies]
    rows = max(len(base[0]) for base in bases)
    for (noted, path), found in zip(changed, others if rows else [], strict=False):
        noted[path] = min(
            (_effect(base, one) for base, one in zip(bases, found, strict=True) if base[0]),
            key=get_args(Effect).index,
        )
    return rows


_Prints: TypeAlias = tuple[list[int], set[int], set[int]]
"""What annotations are compared by: everything, texts, and judgements of texts."""


def _prints(run: Run) -> _Prints:
    rows = run.annotations
    if rows is None:
        return [], set(), set()
    whole = [*rows.hash_rows(), *run.references.hash_rows()]
    return (
        sorted(whole),
        {*rows.select(_TEXTS).hash_rows()},
        {*rows.select(_JUDGEMENTS).hash_rows()},
    )


def _effect(before: _Prints, after: _Prints) -> Effect:
    if before[0] == after[0]:
        return "unread"
    if before[1] != after[1]:
        return "text" if after[1] else "other"
    return "other" if before[2] == after[2] else "judgement"
