"""Check for content of the real files that no annotation has."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

import polars as pl

from nnd.converters.check import Verdict, judged, labelled, words_of
from nnd.converters.onboard.check.checked_source import Case
from nnd.converters.onboard.check.file_columns import ANY, FileColumn, Keys, columns_of
from nnd.converters.onboard.check.file_content import READABLE, Contents, read_parts
from nnd.converters.onboard.check.knockouts import Family, fields_of, try_columns
from nnd.converters.onboard.check.separate_run import ReadingRun
from nnd.converters.onboard.check.source_readings import Reading
from nnd.converters.reading import spells_number
from nnd.converters.source import SourceFile
from nnd.schemas import file_digest, fold, listed

_LONG = 25  # fewest bytes of a text that is not a label
_FEW = 0.02  # share of texts that may be unread: rows without a label, a title, a mistake
_MOST_LABELS = 30
_SAMPLE = 40
_ALIKE = 0.7
_SLICE = 30
_MOST_NEIGHBOURS = 200
_LARGEST_NEIGHBOUR = 64 * 2**20
_SPLITS = {"train", "training", "dev", "valid", "validation", "val", "test", "testing"}
_JUDGEMENT = {
    *("annotation", "grade", "judgement", "judgment", "label"),
    *("preference", "rating", "score", "vote", "winner"),
}


def check_unread(case: Case) -> Verdict:
    """Check that the content of the real files is read, or declared under `unread`."""
    sets = defaultdict[tuple[Path, str | None], list[ReadingRun]](list)
    for one in case.measured:
        sets[one.reading.origin, one.source.facts.get("set")].append(one)
    found, declared = list[str](), dict[str, str]()
    for results in sets.values():
        patterns = results[0].source.facts.get("unread", {})
        declared |= patterns
        unread = dict[str, str]()
        for name, what in _findings(case, results):
            if not any(fnmatchcase(name, pattern) for pattern in patterns):
                unread.setdefault(name, what)
        found += labelled(results[0].label, unread.values())
    remedy = "read it, or state under `unread` in source.yaml why it is not read"
    more = f"; declared as unread: {listed([*declared])}" if declared else ""
    fine = f"every column that says anything is read{more}"
    return judged("review", found, remedy, fine, most=8)


def _findings(case: Case, results: Sequence[ReadingRun]) -> Iterator[tuple[str, str]]:
    contents = case.contents(results)
    opened = {file["name"] for one in results for file in one.files}
    for file in results[0].source.files:
        if file.name not in opened:
            yield file.name, f"{file.name} is declared but never opened"
    families = try_columns([one.reading for one in results], contents, case.convert)
    held = _folded(text for one in results for text in _held_texts(one))
    for family in families:
        yield from _unread_columns(family, families, held)
    yield from _unread_texts(contents, families, held)
    yield from _neighbours(case, results[0].reading, contents)
    yield from _others_unread(families)


def _unread_columns(
    family: Family, families: Sequence[Family], held: set[str]
) -> Iterator[tuple[str, str]]:
    """Yield columns that do not affect annotations but resemble columns that do, or are splits."""
    read = [
        (one.columns[path], effect)
        for one in families
        for path, effect in one.effects.items()
        if effect != "unread"
    ]
    for path, effect in family.effects.items():
        column = family.columns[path]
        if effect == "unread":
            texts = _folded(filter(_is_long, column.texts))
            if texts and len(texts - held) <= _FEW * len(texts):
                continue  # they are read elsewhere
            reasons = [*filter(None, (_likeness(column, *one) for one in read))]
            if {str(value).lower() for value in column.values} <= _SPLITS:
                reasons.append("though its values are names of splits")
            if reason := min(reasons, default=None):  # "and" (a sibling) sorts before "though"
                yield column.name, f"{column.name} is unread, {reason}"
        elif family.tails.get(path) == "unread":
            yield column.name, f"the last items of {column.name} are unread, unlike the first"


def _others_unread(families: Sequence[Family]) -> Iterator[tuple[str, str]]:
    """Yield all unread columns that say anything, the largest first; a name is reported once."""
    columns = (
        family.columns[path]
        for family in families
        for path, effect in family.effects.items()
        if effect == "unread"
    )
    telling = (column for column in columns if len({*column.values}) > 1)
    for column in sorted(telling, key=lambda one: -sum(len(str(value)) for value in one.values)):
        yield column.name, f"{column.name} is unread"


def _likeness(column: FileColumn, other: FileColumn, effect: str) -> str | None:
    """Return how an unread column resembles one that is read, if it does."""
    if _are_siblings(column.path, other.path, effect) and len({*column.values}) > 1:
        return f"and {other.name} is read"
    if effect == "text" and _are_texts_alike(column, other):
        return f"though its texts are as long as those of {other.name}"
    return _likeness_of_judgements(column, other) if effect == "judgement" else None


def _are_siblings(path: Keys, other: Keys, effect: str) -> bool:
    """Say whether paths differ in one key: one above the last, or last names that share a word."""
    if len(path) != len(other):
        return False
    places = [n for n, (key, known) in enumerate(zip(path, other, strict=True)) if key != known]
    if len(places) != 1 or ANY in (path[places[0]], other[places[0]]):
        return False
    are_alike = bool(_words(path[places[0]]) & _words(other[places[0]]))
    return places[0] < len(path) - 1 or (effect != "other" and are_alike)


def _words(name: str) -> set[str]:
    return {word.removesuffix("s") for word in words_of(name) if not word.isdecimal()}


def _are_texts_alike(column: FileColumn, other: FileColumn) -> bool:
    texts, known = (set(filter(_is_long, one.texts)) for one in (column, other))
    if not texts or not known or 2 * len(texts) < min(len(known), len({*column.values})):
        return False
    shorter, longer = sorted(median(map(len, one)) for one in (texts, known))
    return longer <= 2 * shorter


def _likeness_of_judgements(column: FileColumn, other: FileColumn) -> str | None:
    values, known = ({*map(_number, one.values)} for one in (column, other))
    if len(values) == 1 and len(column.values) == len(column.slots):
        return None  # it has no information
    if all(isinstance(value, float) for value in values | known):
        is_alike = known and _is_on_scale(values, known)
        return f"though on the scale of {other.name}" if is_alike else None
    if len(values) > _MOST_LABELS:
        return None
    if 2 * len(values & known) >= len(values):
        return f"though it has the values of {other.name}"
    is_named_so = bool(_words(column.path[-1]) & _JUDGEMENT)
    return f"though its name is that of a judgement, as {other.name} is" if is_named_so else None


def _is_on_scale(values: Collection[Any], scale: Collection[Any]) -> bool:
    """Say whether numbers cover half of a scale, and are whole if those of the scale are."""
    lowest, highest = min(scale), max(scale)
    is_within = lowest <= min(values) and max(values) <= highest
    is_covered = 2 * (max(values) - min(values)) >= highest - lowest
    is_whole, is_known_whole = (all(one == int(one) for one in each) for each in (values, scale))
    return is_within and is_covered and is_whole == is_known_whole


def _number(value: object) -> object:
    """Return a number, also if it is written as a text."""
    is_number = not isinstance(value, bool) and spells_number(str(value))
    return float(str(value)) if is_number else value


def _is_long(text: str) -> bool:
    return len(text.encode()) >= _LONG


def _unread_texts(
    contents: Contents, families: Sequence[Family], held: set[str]
) -> Iterator[tuple[str, str]]:
    """Yield read columns with texts that no annotation holds."""
    whole = "\0".join(held)
    for family, (name, part) in ((one, place) for one in families for place in one.places):
        for path, column in columns_of(contents[name][part]).items():
            effect = family.effects.get(path)
            texts = _folded(filter(_is_long, column.texts))
            missing = sorted(texts - held)
            if effect == "unread" or len(missing) <= _FEW * len(texts):
                continue
            sample = missing[:: max(1, len(missing) // _SAMPLE)]
            n = len(missing) * sum(not _is_within(text, whole) for text in sample) // len(sample)
            is_changed = n == len(texts) and effect is not None
            if n > _FEW * len(texts) and not is_changed:
                what = f"{n:,} of {len(texts):,} texts under {column.name} unread ({part or name})"
                yield column.name, what


def _held_texts(result: ReadingRun) -> Iterator[str]:
    rows = result.annotations
    for column in ("candidate", "context"):
        yield from rows[column].unique()
    for column in ("inputs", "metadata"):
        parts = rows.select(pl.col(column).explode()).drop_nulls().unnest(column)
        yield from parts["value"].unique() if parts.width else ()
    yield from result.references["reference"].unique()


def _folded(texts: Iterable[str]) -> set[str]:
    """Return texts without marks, letter case and differences of blanks."""
    frame = pl.DataFrame({"text": [*texts]}, schema={"text": pl.String}).unique()
    bare = pl.col("text").str.replace_all("<[^<>]{1,40}>", "")
    return {*frame.select(fold(bare).str.to_lowercase())["text"]}


def _is_within(text: str, whole: str) -> bool:
    """Say whether most of a text is in others, since converters join and cut texts."""
    last = max(0, len(text) - _SLICE)
    return sum(text[place : place + _SLICE] in whole for place in (0, last // 2, last)) > 1


def _neighbours(case: Case, reading: Reading, contents: Contents) -> Iterator[tuple[str, str]]:
    """Yield undeclared files next to the real ones that have similar fields."""
    folder = reading.origin if reading.origin.is_dir() else reading.origin.parent
    declared = [file for source in case.variants for file in source.files]
    digests = {file.sha256 for file in declared}
    digests |= {version.sha256 for file in declared for version in file.versions}
    known = {
        f"{name} {part}".strip(): fields_of(columns_of(value))
        for name, parts in contents.items()
        for part, value in parts.items()
    }
    files = reading.files
    for path in sorted({*_files_beside(reading.origin)} - {files.path(name) for name in contents}):
        if _is_declared(str(path), declared) or file_digest(path) in digests:
            continue
        for part, value in read_parts(path).items():
            fields = fields_of(columns_of(value))
            like = next(
                (n for n, own in known.items() if len(fields & own) >= _ALIKE * len(fields | own)),
                "",
            )
            if like and not _is_declared(part, declared):
                name = f"{path.relative_to(folder)} {part}".strip()
                yield name, f"{name} has the fields of {like}, and is not declared"


def _is_declared(name: str, declared: Sequence[SourceFile]) -> bool:
    return any(f"/{name}".endswith(f"/{file.name}") for file in declared)


def _files_beside(origin: Path) -> Iterator[Path]:
    found = origin.rglob("*") if origin.is_dir() else origin.parent.glob("*")
    kinds = (path for path in found if path.name.lower().endswith(READABLE) and path.is_file())
    small = (path for path in kinds if path.stat().st_size <= _LARGEST_NEIGHBOUR and path != origin)
    return islice(small, _MOST_NEIGHBOURS)
