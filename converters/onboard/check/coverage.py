"""Check for content of the real files that no annotation has."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

import polars as pl

from nnd.converters.check import Verdict, judged, labelled
from nnd.converters.onboard.check.checked_source import Case
from nnd.converters.onboard.check.knockouts import Family, fields_of, try_columns
from nnd.converters.onboard.check.separate_run import ReadingRun
from nnd.converters.onboard.check.source_readings import Reading
from nnd.converters.onboard.contents.level_columns import Column, columns_in
from nnd.converters.onboard.contents.reading_files import READABLE, Contents, read_parts
from nnd.converters.onboard.guess.roles import is_label, is_score
from nnd.converters.source import SourceFile
from nnd.schemas import file_digest, fold, listed

_LONG = 25  # fewest bytes of a text that is not a label
_FEW = 0.02  # share of texts that may be unread: rows without a label, a title, a mistake
_SAMPLE = 40
_ALIKE = 0.7
_SLICE = 30
_MOST_NEIGHBOURS = 200
_LARGEST_NEIGHBOUR = 64 * 2**20
_SPLITS = {"train", "training", "dev", "valid", "validation", "val", "test", "testing"}


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
    """Yield the name of each file or column with unread content, and a message."""
    contents = case.contents(results)
    opened = {file["name"] for one in results for file in one.files}
    for file in results[0].source.files:
        if file.name not in opened:
            yield file.name, f"{file.name} is declared but never opened"
    families = try_columns([one.reading for one in results], contents)
    held = _folded(text for one in results for text in _held_texts(one))
    unread = _unread_columns(families)
    first = [column for column in unread if _says_much(column, held)]
    yield from ((column.pattern, f"{column.pattern} is unread") for column in first)
    for family in families:
        for path, is_read in family.tails.items():
            if family.reads[path] and not is_read:
                name = family.columns[path].pattern
                yield name, f"the last items of {name} are unread, unlike the first"
    yield from _unread_texts(contents, families, held)
    yield from _neighbours(case, results[0].reading, contents)
    yield from ((column.pattern, f"{column.pattern} is unread") for column in unread)


def _unread_columns(families: Sequence[Family]) -> list[Column]:
    """Return all unread columns, the largest first."""
    columns = (
        family.columns[path]
        for family in families
        for path, is_read in family.reads.items()
        if not is_read
    )
    return sorted(columns, key=lambda column: -sum(map(len, column.cells)))


def _says_much(column: Column, held: set[str]) -> bool:
    """Say whether a column has splits, judgements, or texts that are read nowhere else."""
    texts = _folded(filter(_is_long, column.cells))
    is_split = {cell.lower() for cell in column.counts} <= _SPLITS
    is_judgement = is_label(column) or is_score(column)
    return is_split or is_judgement or len(texts - held) > _FEW * len(texts)


def _is_long(text: str) -> bool:
    return len(text.encode()) >= _LONG


def _unread_texts(
    contents: Contents, families: Sequence[Family], held: set[str]
) -> Iterator[tuple[str, str]]:
    """Yield read columns with texts that no annotation holds."""
    whole = "\0".join(held)
    for family, (name, part) in ((one, place) for one in families for place in one.places):
        for path, column in columns_in(contents[name][part]).items():
            is_read = family.reads.get(path)
            texts = _folded(filter(_is_long, column.cells))
            missing = sorted(texts - held)
            if is_read is False or len(missing) <= _FEW * len(texts):
                continue
            sample = missing[:: max(1, len(missing) // _SAMPLE)]
            n = len(missing) * sum(not _is_within(text, whole) for text in sample) // len(sample)
            is_changed = n == len(texts) and is_read is not None
            if n > _FEW * len(texts) and not is_changed:
                told = column.pattern
                yield told, f"{n:,} of {len(texts):,} texts under {told} unread ({part or name})"


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
        f"{name} {part}".strip(): fields_of(columns_in(value))
        for name, parts in contents.items()
        for part, value in parts.items()
    }
    files = reading.files
    for path in sorted({*_files_beside(reading.origin)} - {files.path(name) for name in contents}):
        if _is_declared(str(path), declared) or file_digest(path) in digests:
            continue
        for part, value in read_parts(path).items():
            fields = fields_of(columns_in(value))
            like = next(
                (n for n, own in known.items() if len(fields & own) >= _ALIKE * len(fields | own)),
                "",
            )
            if like and not _is_declared(part, declared):
                name = f"{path.relative_to(folder)} {part}".strip()
                yield name, f"{name} has the fields of {like}, and is not declared"


def _is_declared(name: str, declared: Sequence[SourceFile]) -> bool:
    return any(
        fnmatchcase(f"/{name}", f"*/{file.name}")
        if file.is_pattern
        else f"/{name}".endswith(f"/{file.name}")
        for file in declared
    )


def _files_beside(origin: Path) -> Iterator[Path]:
    found = origin.rglob("*") if origin.is_dir() else origin.parent.glob("*")
    kinds = (path for path in found if path.name.lower().endswith(READABLE) and path.is_file())
    small = (path for path in kinds if path.stat().st_size <= _LARGEST_NEIGHBOUR and path != origin)
    return islice(small, _MOST_NEIGHBOURS)
