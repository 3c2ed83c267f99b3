"""Which columns a converter reads, and for what.

If exchanging the values of a column gives the same annotations, the column is not read.
"""

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from nnd.converters.onboard.check import separate_run
from nnd.converters.onboard.check.file_changes import Change, Swap, sample_of
from nnd.converters.onboard.check.separate_run import ReadingRun
from nnd.converters.onboard.check.source_readings import Reading
from nnd.converters.onboard.contents.level_columns import Column, columns_in
from nnd.converters.onboard.contents.reading_files import Contents

_MOST_COLUMNS = 200
_LEAST_ROWS = 40


def exchanged(column: Column, *, is_tail: bool) -> dict[Hashable, Hashable]:
    """Return the next distinct value of each value of a column; nothing if it has only one.

    Equal places stay equal so.
    """
    values = {holder[key] for holder, key in column.places(is_tail=is_tail)}
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

    places: list[tuple[str, str]] = field(default_factory=list)  # file and part of each
    columns: dict[str, Column] = field(default_factory=dict)  # their columns by path
    # Whether each is read, and the last items of its lists; one that could not be changed is not in
    # them.
    reads: dict[str, bool] = field(default_factory=dict)
    tails: dict[str, bool] = field(default_factory=dict)


def fields_of(columns: Iterable[str]) -> frozenset[str]:
    """Return the names of the outermost fields of the records of a part, by the paths in it."""
    return frozenset(re.split(r"\.|\[\]", path.removeprefix("*."))[0] for path in columns if path)


def families_of(contents: Contents) -> list[Family]:
    """Return the parts of files, grouped by fields."""
    found: dict[frozenset[str], Family] = {}
    for name, parts in contents.items():
        for part, value in parts.items():
            columns = columns_in(value)
            family = found.setdefault(fields_of(columns), Family())
            family.places.append((name, part))
            for path, column in columns.items():
                known = family.columns.get(path)
                family.columns[path] = known.followed_by(column) if known else column
    return list(found.values())


def try_columns(readings: Sequence[Reading], contents: Contents) -> list[Family]:
    """Change the columns of files one after the other, and note which are read.

    The readings are those of one set in each variant: a column is read if any of them reads it.
    """
    samples = {
        name: {part: sample_of(one) for part, one in own.items()} for name, own in contents.items()
    }
    if samples != contents:  # a sample may lack related records
        families = families_of(samples)
        if _try(readings, families, samples=True) >= _LEAST_ROWS:
            return families
    families = families_of(contents)
    return families if _try(readings, families, samples=False) else families_of(contents)


def _try(readings: Sequence[Reading], families: Sequence[Family], *, samples: bool) -> int:
    """Note which columns of families are read; return the number of annotations."""
    swaps = [
        (noted, Swap(family.places, path, is_tail, values))
        for family in families
        for path, column in family.columns.items()
        for is_tail, noted in ((False, family.reads), (True, family.tails))
        if (values := exchanged(column, is_tail=is_tail))
    ][:_MOST_COLUMNS]
    changes = [Change(samples=samples), *(Change(False, samples, swap) for _, swap in swaps)]
    changed_readings = [replace(one, change=change) for change in changes for one in readings]
    runs = iter(separate_run.run_readings(changed_readings))
    plain, *others = [[next(runs) for _ in readings] for _ in changes]
    bases = [_hashes(run) for run in plain]
    rows = max(map(len, bases))
    changed = {name for run in plain for name in run.changed}
    for (noted, swap), found in zip(swaps, others if rows else [], strict=False):
        if changed.isdisjoint(name for name, _ in swap.places):
            continue  # the converter opens these files by itself
        noted[swap.path] = any(
            base and base != _hashes(run) for base, run in zip(bases, found, strict=True)
        )
    return rows


def _hashes(run: ReadingRun) -> list[int]:
    return sorted([*run.annotations.hash_rows(), *run.references.hash_rows()])
