"""Check of what the real files hold and no annotation does."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from statistics import median

import polars as pl

from nnd.converters.check_source.case import Case, Result
from nnd.converters.check_source.columns import ANY, Column, columns_of
from nnd.converters.check_source.content import SUFFIXES, Contents, read_parts
from nnd.converters.check_source.knockouts import (
    Family,
    Keys,
    fields_of,
    try_columns,
)
from nnd.converters.check_source.outcome import AT_HAND, Check, listed
from nnd.converters.pairs import fold
from nnd.converters.source import Files, SourceFile
from nnd.schemas import SourceError

COVERAGE = "coverage"

_LONG = 25
"""Bytes of a text that is no label."""

_FEW = 0.02
"""Share of texts that may be unread: rows without a label, a title, a mistake of the file."""

_MOST_LABELS = 30
_SAMPLE = 40
_ALIKE = 0.7
_SLICE = 30
_MOST_NEIGHBOURS = 200
_LARGEST_NEIGHBOUR = 64 * 2**20
_JUDGEMENT = {
    "score",
    "rating",
    "label",
    "judgement",
    "judgment",
    "annotation",
    "vote",
    "preference",
    "winner",
    "grade",
}
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def check_coverage(case: Case) -> Check:
    """Check that what the real files hold is read, or declared under `unread`."""
    if not case.measured:
        return Check(COVERAGE, "skipped", "the real files are not at hand", AT_HAND)
    found, declared = list[str](), list[str]()
    for number, results in enumerate(_by_set(case.measured)):
        patterns = list(results[0].source.facts.get("unread", {}))
        declared += [pattern for pattern in patterns if pattern not in declared]
        found += [
            f"{results[0].label}: {what}"
            for name, what in _findings(case, results, case.place / f"without-{number}")
            if not any(fnmatchcase(name, pattern) for pattern in patterns)
        ]
    if found:
        remedy = "read it, or say under `unread` in source.yaml why it is not read"
        return Check(COVERAGE, "review", listed(found, 5), remedy)
    more = f"; declared as unread: {listed(declared)}" if declared else ""
    return Check(COVERAGE, "pass", f"no judgement or text that looks like one read is unread{more}")


def _by_set(results: Iterable[Result]) -> list[list[Result]]:
    """Return the results of each origin and set, that of its main reading first."""
    found: dict[tuple[Path, str | None], list[Result]] = {}
    for one in results:
        key = (one.run.reading.origin, one.source.facts.get("set"))
        found.setdefault(key, []).append(one)
    return list(found.values())


def _findings(case: Case, results: Sequence[Result], place: Path) -> Iterator[tuple[str, str]]:
    """Yield name and description of what is unread in a set: files, columns, texts."""
    names = list(dict.fromkeys(str(file["name"]) for one in results for file in one.run.files))
    source = results[0].source
    for file in source.files:
        if file.name not in names:
            yield file.name, f"{file.name} is declared and never opened"
    readings = [one.run.reading for one in results]
    contents = case.contents(results)
    families = try_columns(readings, contents, place, case.convert)
    held = _plain(text for one in results for text in _held_texts(one))
    for family in families:
        yield from _unread_columns(family, families, held)
    yield from _unread_texts(contents, families, held)
    yield from _neighbours(case, results, contents)


def _unread_columns(
    family: Family, families: Sequence[Family], held: set[str]
) -> Iterator[tuple[str, str]]:
    """Yield columns that nothing follows, and that look like one that something follows."""
    read = [
        (one.columns[path], effect)
        for one in families
        for path, effect in one.effects.items()
        if effect != "unread"
    ]
    for path, effect in family.effects.items():
        column = family.columns[path]
        if effect == "unread":
            texts = _plain(filter(_is_long, column.texts))
            if texts and len(texts - held) <= _FEW * len(texts):
                continue  # they are read elsewhere
            reasons = filter(None, (_likeness(column, *one) for one in read))
            if reason := min(reasons, default=None):  # "and", a sibling, comes before "though"
                yield column.name, f"{column.name} is unread, {reason}"
        elif family.tails.get(path) == "unread":
            yield column.name, f"the last items of {column.name} are unread, unlike the first"


def _likeness(column: Column, other: Column, effect: str) -> str | None:
    """Say how an unread column is like one that is read, if it is."""
    if _are_siblings(column.path, other.path, effect) and len({*column.values}) > 1:
        return f"and {other.name} is read"
    if effect == "text":
        return _likeness_of_texts(column, other)
    if effect == "judgement":
        return _likeness_of_judgements(column, other)
    return None


def _are_siblings(path: Keys, other: Keys, effect: str) -> bool:
    """Whether paths differ in one key: one above the last, or names with a word in common."""
    if len(path) != len(other):
        return False
    places = [n for n, (key, known) in enumerate(zip(path, other, strict=True)) if key != known]
    if len(places) != 1 or ANY in (path[places[0]], other[places[0]]):
        return False
    words, known = (_words(keys[places[0]]) for keys in (path, other))
    return places[0] < len(path) - 1 or (effect != "other" and bool(words & known))


def _words(name: str) -> set[str]:
    return {word.lower().removesuffix("s") for word in _WORD.findall(name)}


def _likeness_of_texts(column: Column, other: Column) -> str | None:
    texts, known = ({text for text in one.texts if _is_long(text)} for one in (column, other))
    if not texts or not known or 2 * len(texts) < min(len(known), len({*column.values})):
        return None
    lengths = sorted(median(map(len, one)) for one in (texts, known))
    alike = lengths[1] <= 2 * lengths[0]
    return f"though its texts are as long as those of {other.name}" if alike else None


def _likeness_of_judgements(column: Column, other: Column) -> str | None:
    values, known = {*map(_number, column.values)}, {*map(_number, other.values)}
    if len(values) == 1 and len(column.values) == len(column.slots):
        return None  # it says nothing
    numbers, scale = (
        [value for value in one if isinstance(value, float)] for one in (values, known)
    )
    if len(numbers) == len(values) and len(scale) == len(known) and scale:
        on_it = min(scale) <= min(numbers) and max(numbers) <= max(scale)
        covers = 2 * (max(numbers) - min(numbers)) >= max(scale) - min(scale)
        whole = [all(value == int(value) for value in one) for one in (numbers, scale)]
        return (
            f"though on the scale of {other.name}"
            if on_it and covers and whole[0] == whole[1]
            else None
        )
    if len(values) <= _MOST_LABELS and 2 * len(values & known) >= len(values):
        return f"though it has the values of {other.name}"
    is_named_so = bool(_words(column.path[-1]) & _JUDGEMENT) and len(values) <= _MOST_LABELS
    return f"though its name is that of a judgement, as {other.name} is" if is_named_so else None


def _number(value: object) -> object:
    """Return a number as such, also where it is written as a text."""
    try:
        return float(value) if not isinstance(value, bool) else value  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return value


def _is_long(text: str) -> bool:
    return len(text.encode()) >= _LONG


def _unread_texts(
    contents: Contents, families: Sequence[Family], held: set[str]
) -> Iterator[tuple[str, str]]:
    """Yield columns that are read, some of whose texts no annotation holds."""
    whole = "\0".join(held)
    effects = {
        (place, path): family.effects.get(path)
        for family in families
        for place in family.places
        for path in family.columns
    }
    for name, parts in contents.items():
        for part, value in parts.items():
            columns = columns_of(value)
            for path, column in columns.items():
                effect = effects[(name, part), path]
                texts = _plain(filter(_is_long, column.texts))
                missing = texts - held
                if effect == "unread" or len(missing) <= _FEW * len(texts):
                    continue
                sample = sorted(missing)[:: max(1, len(missing) // _SAMPLE)]
                share = sum(not _is_within(text, whole) for text in sample) / len(sample)
                n = round(share * len(missing))
                is_changed = n == len(texts) and effect is not None
                if n > _FEW * len(texts) and not is_changed:
                    where = f" of {part or name}" if len(effects) > len(columns) else ""
                    yield (
                        column.name,
                        f"{n:,} of {len(texts):,} texts under {column.name}{where} unread",
                    )


def _held_texts(result: Result) -> Iterator[str]:
    rows = result.annotations
    yield from rows["candidate"].unique()
    yield from rows["context"].unique()
    for column in ("inputs", "metadata"):
        parts = rows.select(pl.col(column).explode()).drop_nulls().unnest(column)
        yield from parts["value"].unique() if parts.width else ()
    yield from result.run.references["reference"].unique()


def _plain(texts: Iterable[str]) -> set[str]:
    """Return texts without marks, letter case and differences of blanks."""
    text = fold(pl.col("text").str.replace_all("<[^<>]{1,40}>", "")).str.to_lowercase()
    return {
        *pl.DataFrame({"text": pl.Series([*texts], dtype=pl.String).unique()}).select(text)["text"]
    }


def _is_within(text: str, whole: str) -> bool:
    """Whether most of a text stands somewhere in others: converters join texts, and cut them."""
    last = max(0, len(text) - _SLICE)
    return sum(text[place : place + _SLICE] in whole for place in (0, last // 2, last)) > 1


def _neighbours(
    case: Case, results: Sequence[Result], contents: Contents
) -> Iterator[tuple[str, str]]:
    """Yield files beside the real ones that nothing declares and that have much the same fields."""
    origin = results[0].run.reading.origin
    folder = origin if origin.is_dir() else origin.parent
    declared = [file for source in case.variants for file in source.files]
    digests = {file.sha256 for file in declared}
    digests |= {version.sha256 for file in declared for version in file.versions}
    known = {
        f"{name} {part}".strip(): fields_of(columns_of(value))
        for name, parts in contents.items()
        for part, value in parts.items()
    }
    files = Files(results[0].source, origin)
    opened = {files.path(name) for name in contents}
    for path in _files_beside(origin):
        if path in opened or _is_declared(str(path), declared):
            continue
        try:
            parts = read_parts(path)
        except (ValueError, OSError, SourceError):
            continue
        for part, value in parts.items():
            fields = fields_of(columns_of(value))
            like = next((name for name, theirs in known.items() if _are_alike(fields, theirs)), "")
            if like and not _is_declared(part, declared) and _digest(path) not in digests:
                name = f"{path.relative_to(folder)} {part}".strip()
                yield name, f"{name} has the fields of {like}, and is not declared"


def _is_declared(name: str, declared: Sequence[SourceFile]) -> bool:
    return any(f"/{name}".endswith(f"/{file.name}") for file in declared)


def _are_alike(fields: frozenset[str], others: frozenset[str]) -> bool:
    return len(fields & others) >= _ALIKE * len(fields | others)


def _files_beside(origin: Path) -> list[Path]:
    found = origin.rglob("*") if origin.is_dir() else origin.parent.glob("*")
    kinds = (path for path in found if path.name.lower().endswith(SUFFIXES) and path.is_file())
    small = (path for path in kinds if path.stat().st_size <= _LARGEST_NEIGHBOUR and path != origin)
    return sorted(islice(small, _MOST_NEIGHBOURS))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
