"""Which columns a converter reads, and for what.

If exchanging the values of a column gives the same annotations, the column is not read.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

from nnd.converters.onboard.check.file_changes import Change, Swap, sample_of
from nnd.converters.onboard.check.file_columns import ANY, FileColumn, Keys, columns_of
from nnd.converters.onboard.check.file_content import Contents
from nnd.converters.onboard.check.separate_run import ReadingRun
from nnd.converters.onboard.check.source_readings import Reading

Effect: TypeAlias = Literal["judgement", "text", "other", "unread"]
"""What a column changes in annotations: labels and scores, texts, something else, nothing."""

Convert: TypeAlias = Callable[[Sequence[Reading]], list[ReadingRun]]

_MOST_COLUMNS = 200
_LEAST_ROWS = 40
_TEXTS = ["context", "candidate"]
_JUDGEMENTS = [*_TEXTS, "aspect", "label", "score", "ratings"]


def exchanged(column: FileColumn) -> dict[Hashable, Hashable]:
    """Return the next distinct value of each value of a column; nothing if it has only one.

    Equal places stay equal so.
    """
    values = {slot.value for slot in column.slots}
    empty = [value for value in (None, "") if value in values][:1]
    truths = [value for value in (True, False) if any(value is other for other in values)]
    kinds = [
        sorted(v for v in values - {""} if isinstance(v, kind) and not isinstance(v, bool))
        for kind in (str, int | float)
    ]
    orders: list[list[Any]] = [*([*kind, *empty] for kind in kinds if kind), truths]
    after = {v: w for order in orders for v, w in zip(order, order[1:] + order[:1], strict=True)}
    return after if any(value != other for value, other in after.items()) else {}


@dataclass(frozen=True, slots=True)
class Family:
    """Parts whose records have the same fields."""

    places: list[tuple[str, str]]  # file and part of each
    columns: dict[Keys, FileColumn]  # their columns by path
    effects: dict[Keys, Effect]  # the effect of each; a column that could not be changed has none
    tails: dict[Keys, Effect]  # the effect of the last items of the lists of each


def fields_of(columns: Mapping[Keys, FileColumn]) -> frozenset[str]:
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
                family.columns.setdefault(path, FileColumn(path, [])).slots.extend(column.slots)
    return list(found.values())


def try_columns(readings: Sequence[Reading], contents: Contents, convert: Convert) -> list[Family]:
    """Change the columns of files one after the other, and find their effects.

    The readings are those of one set in each variant: a column is read if any of them reads it.
    """
    samples = {
        name: {part: sample_of(one) for part, one in own.items()} for name, own in contents.items()
    }
    if samples != contents:  # a sample may lack related records
        families = families_of(samples)
        if _try(readings, families, convert, samples=True) >= _LEAST_ROWS:
            return families
    families = families_of(contents)
    return families if _try(readings, families, convert, samples=False) else families_of(contents)


def _try(
    readings: Sequence[Reading], families: Sequence[Family], convert: Convert, *, samples: bool
) -> int:
    """Note the effects of columns in families; return the number of annotations."""
    columns = [
        (noted, family, path, column)
        for family in families
        for path, whole in family.columns.items()
        for noted, column in ((family.effects, whole), (family.tails, whole.tail))
        if column is not None
    ][:_MOST_COLUMNS]
    swaps = [
        (noted, Swap(family.places, path, noted is family.tails, values))
        for noted, family, path, column in columns
        if (values := exchanged(column))
    ]
    changes = [Change(samples=samples), *(Change(False, samples, swap) for _, swap in swaps)]
    runs = iter(convert([replace(one, change=change) for change in changes for one in readings]))
    plain, *others = [[next(runs) for _ in readings] for _ in changes]
    bases = [_prints(run) for run in plain]
    rows = max(len(base[0]) for base in bases)
    changed = {name for run in plain for name in run.changed}
    for (noted, swap), found in zip(swaps, others if rows else [], strict=False):
        if changed.isdisjoint(name for name, _ in swap.places):
            continue  # the converter opens these files by itself
        noted[swap.path] = min(
            (
                _effect(base, _prints(run))
                for base, run in zip(bases, found, strict=True)
                if base[0]
            ),
            key=get_args(Effect).index,
        )
    return rows


_Prints: TypeAlias = tuple[list[int], set[int], set[int]]
"""What annotations are compared by: everything, texts, and judgements of texts."""


def _prints(run: ReadingRun) -> _Prints:
    rows = run.annotations
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
