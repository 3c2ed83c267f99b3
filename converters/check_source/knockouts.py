"""Which columns of the real files a converter reads, found by changing one after the other.

A copy of the files in which all values of a column have changed places with others gives the same
annotations only if nothing reads that column.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from nnd.converters.check_source.columns import ANY, Column, columns_of, swap_values
from nnd.converters.check_source.content import Contents, Value, write_parts
from nnd.converters.check_source.reading import Reading, copy_files
from nnd.converters.check_source.run import Run

Effect: TypeAlias = Literal["judgement", "text", "other", "unread"]
"""What of the annotations follows a column: labels and scores, texts, something else, nothing."""

Convert: TypeAlias = Callable[[Sequence[Reading]], list[Run]]
Keys: TypeAlias = tuple[str, ...]

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
        places: The file and the part, each.
        columns: Their columns by path.
        effects: What follows each; a column that could not be changed has none.
        tails: What follows the last items of the lists of each.
    """

    places: list[tuple[str, str]]
    columns: dict[Keys, Column]
    effects: dict[Keys, Effect]
    tails: dict[Keys, Effect]


def fields_of(columns: Mapping[Keys, Column]) -> frozenset[str]:
    """Return the names that the records of a part begin with."""
    return frozenset(
        path[1] if path[:1] == (ANY,) and path[1:] else path[0] for path in columns if path
    )


def families_of(contents: Contents) -> list[Family]:
    """Return the parts of files, those with the same fields together."""
    found: dict[frozenset[str], Family] = {}
    for name, parts in contents.items():
        for part, value in parts.items():
            columns = columns_of(value)
            family = found.setdefault(fields_of(columns), Family([], {}, {}, {}))
            family.places.append((name, part))
            for path, column in columns.items():
                known = family.columns.get(path)
                slots = [*known.slots, *column.slots] if known else column.slots
                family.columns[path] = Column(path, slots)
    return list(found.values())


def try_columns(
    readings: Sequence[Reading], contents: Contents, place: Path, convert: Convert
) -> list[Family]:
    """Change the columns of files one after the other, and see what follows.

    Args:
        readings: The files in one set, and in each variant; what any of them reads is read.
        contents: The files, as `read_files` returns them.
        place: A new folder for copies.
        convert: Converts readings.
    """
    sampled = {
        name: {part: _sample(value) for part, value in parts.items()}
        for name, parts in contents.items()
    }
    families = None
    if sampled != contents:
        families = _try(readings, sampled, place / "some", convert, _LEAST_ROWS)
    if families is None:  # a sample may lack what belongs together
        families = _try(readings, contents, place / "all", convert, 1)
    return families_of(contents) if families is None else families


def _sample(value: Value) -> Value:
    """Return some of a part's records, in blocks from all over it."""
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
    readings: Sequence[Reading], contents: Contents, place: Path, convert: Convert, least: int
) -> list[Family] | None:
    """Return what follows each column; None where there are too few annotations to say."""
    families = families_of(contents)
    jobs = [
        (noted, path, column)
        for family in families
        for path, whole in family.columns.items()
        for noted, column in ((family.effects, whole), (family.tails, whole.tail))
        if column is not None
    ][:_MOST_COLUMNS]
    origins, changed = [_write(readings[0], contents, place / "base")], list[Any]()
    for number, (noted, path, column) in enumerate(jobs):
        before = [slot.value for slot in column.slots]
        if swap_values(column):
            origins.append(_write(readings[0], contents, place / str(number)))
            changed.append((noted, path))
        for slot, value in zip(column.slots, before, strict=True):
            slot.holder[slot.key] = value
    runs = iter(convert([replace(one, origin=o) for o in origins for one in readings]))
    bases, *others = [[_Prints.of(next(runs)) for _ in readings] for _ in origins]
    if max(base.rows for base in bases) < least:
        return None
    for (noted, path), found in zip(changed, others, strict=True):
        noted[path] = min(
            (base.effect(one) for base, one in zip(bases, found, strict=True) if base.rows),
            key=get_args(Effect).index,
        )
    return families


def _write(reading: Reading, contents: Contents, place: Path) -> Path:
    """Write the files of a reading with other contents; return where they are."""

    def write(name: str, path: Path, target: Path) -> bool:
        if name in contents:
            write_parts(path, target, contents[name])
        return name in contents

    return copy_files(reading, place, write)[0]


class _Prints(NamedTuple):
    """What annotations are compared by."""

    rows: int
    texts: set[int]
    judgements: set[int]
    everything: list[int]

    @classmethod
    def of(cls, run: Run) -> "_Prints":
        """Return those of a run."""
        if run.annotations is None:
            return cls(0, set(), set(), [])
        texts, judgements, everything, references = (
            frame.hash_rows().to_list()
            for frame in (
                run.annotations.select(_TEXTS),
                run.annotations.select(_JUDGEMENTS),
                run.annotations,
                run.references,
            )
        )
        return cls(len(texts), {*texts}, {*judgements}, sorted([*everything, *references]))

    def effect(self, other: "_Prints") -> Effect:
        """Return what of these is another in others."""
        if self.everything == other.everything:
            return "unread"
        if self.texts != other.texts:
            return "text" if other.rows else "other"
        return "other" if self.judgements == other.judgements else "judgement"
