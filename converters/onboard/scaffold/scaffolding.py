"""`nnd new-source`: from undescribed annotation files to a source that converts."""

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from nnd.converters.folder import (
    Conversion,
    Examples,
    convert_source,
    pair_examples,
    pairs_of_contexts,
)
from nnd.converters.onboard.contents.reading_files import read_content
from nnd.converters.onboard.guess.guessing import UNUSED, Guess, guess
from nnd.converters.onboard.guess.looking import samples
from nnd.converters.onboard.guess.questions import Answers, Ask
from nnd.converters.onboard.guess.unread_parts import not_read
from nnd.converters.onboard.scaffold.convert_template import nested_code
from nnd.converters.onboard.scaffold.first_facts import (
    OpenField,
    as_yaml,
    counts_of,
    expected_yaml,
    left_to_fill,
    source_facts,
)
from nnd.converters.onboard.scaffold.new_fixture import invent
from nnd.converters.onboard.scaffold.table_section import is_mapped
from nnd.converters.reading import SUFFIXES, write_objects
from nnd.converters.source import BUILT_IN, load_source
from nnd.schemas import (
    CONTEXT,
    Printable,
    SourceError,
    check_new,
    check_rows,
    excerpt,
    file_digest,
    make_new,
    text_table,
)

if TYPE_CHECKING:
    from rich.table import Table


_LEAST_SYSTEMS = 2
_EXAMPLES = 2
_MOST_DRAWS = 8

_LONGEST_SAMPLE = 40


@dataclass(frozen=True, slots=True, repr=False)
class NewSource(Printable):
    """A source folder that was written."""

    folder: Path
    file: Path  # the annotation file, or the folder of several
    guess: Guess  # the guessed meaning of the columns
    files: tuple[str, ...]  # in the folder
    counts: Mapping[str, Any]  # counts of the file, as in a manifest
    with_pair: int  # contexts that have a pair
    notes: tuple[str, ...]  # unread parts of the file, with the option that reads them
    left: tuple[OpenField, ...]  # what a person must fill in or check, and why
    examples: Examples  # a few of its pairs to look at

    def headline(self) -> str:
        """Return the numbers of pairs and contexts, and the folder of the source."""
        made, judged = pairs_of_contexts(self.counts, self.with_pair)
        return f"{made}{judged}; the source is in {self.folder}."

    def table(self) -> "Table":
        """Return the guessed meaning of every column, with values from the file."""
        titles = ("column", "taken for", "such as")
        rows = [
            [
                column["column"],
                column["role"],
                "\n".join(excerpt(sample, _LONGEST_SAMPLE) for sample in column["samples"][:2]),
            ]
            for column in self.columns()
        ]
        return text_table(titles, rows, prose=titles[2:])

    def details(self) -> "list[Table | str]":
        """Return the fields that are left to fill in, with the reasons."""
        titles = ("left to fill in", "with", "because")
        return [text_table(titles, self.left, prose=titles[1:])]

    def remarks(self) -> list[str]:
        """Return what was left out, the chosen rule, and the next steps."""
        quality = self.guess.quality
        rule = ", ".join(f"{name} {value}" for name, value in quality.rule.items())
        fields = ", ".join(left.field for left in self.left)
        place = self.folder if len(self.folder.parts) > 1 else f"./{self.folder}"
        return [
            *self.notes,
            f"Quality: {rule} ({quality.why}).",
            f"Written: {', '.join(self.files)}.",
            f"Next: fill in {self.folder / 'source.yaml'} ({fields}; --details says how), then",
            f"  nnd convert {place} --from {self.file}",
            f"  nnd check-source {place} --from {self.file}",
        ]

    def columns(self) -> list[dict[str, Any]]:
        """Return the guessed meaning of every column, with samples."""
        roles = self.guess.roles()
        return [
            {
                "column": column.name,
                "role": roles[column.name],
                "distinct": len(column.counts),
                "samples": samples(column),
            }
            for column in self.guess.columns
        ]

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each column of the file: column, role, distinct, samples."""
        return pl.DataFrame(self.columns())

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "folder": str(self.folder),
            "columns": self.columns(),
            "quality": dict(self.guess.quality.rule),
            "why": self.guess.quality.why,
            "files": list(self.files),
            "counts": dict(self.counts),
            "notes": list(self.notes),
            "left": [left._asdict() for left in self.left],
        }


def new_source(
    name: str,
    file: str | Path | Sequence[str | Path],
    out: str | Path | None = None,
    *,
    answers: Answers | None = None,
    sheet: str | None = None,
    ask: Ask | None = None,
) -> NewSource:
    """Guess the columns of annotation files and write a source.

    The command asks for what it cannot guess, unless an option gives it, and lists what it does not
    read. Columns of nested JSON are named by their keys: outputs.text.

    The folder holds source.yaml, a convert.py if the files are nested JSON, and a fixture of
    invented rows. It is made only if both the files and the fixture convert. The same files and
    answers give the same bytes.

    Args:
        name: Name of the source: a-z, 0-9 and underscores.
        file: Annotation file (csv, tsv, jsonl, json, xlsx or parquet), or a folder of them; several
            must have one shape.
        out: Folder to make. None means the name of the source.
        answers: Answers that replace guesses.
        sheet: Sheet of a workbook. None means the first.
        ask: Asks a person what cannot be guessed. None means an error that names the option.

    Raises:
        SourceError: If a file cannot be read, something cannot be guessed, or the guess does not
            convert. Nothing is written then.
        NNDError: If `out` exists, or cannot be written.

    Examples:
        nnd new-source my_ratings --from ratings.csv
    """
    target = Path(name if out is None else out)
    given = [Path(file)] if isinstance(file, str | Path) else [Path(each) for each in file]
    _check_name(name)
    paths, origin = _files(given)
    check_new(target)
    said = answers or Answers()
    found = _guessed(paths, sheet, said, ask)
    declared = [
        {"name": name, "url": None, "sha256": file_digest(path), "bytes": path.stat().st_size}
        for name, path in paths.items()
    ]
    facts = source_facts(name, found, declared)
    code = None if is_mapped(found) else nested_code(found)
    with make_new(target) as fresh:
        (fresh / "fixture").mkdir(parents=True)
        if code is not None:
            (fresh / "convert.py").write_text(code, encoding="utf-8", newline="")
        conversion = _prove(fresh, facts, origin, found)
    files = tuple(str(p.relative_to(target)) for p in sorted(target.rglob("*")) if p.is_file())
    left = tuple(left_to_fill(facts))
    counts, notes = conversion.manifest["counts"], tuple(not_read(found))
    examples = pair_examples(name, conversion.pairs, _EXAMPLES)
    with_pair = conversion.pairs.select(CONTEXT).n_unique()
    return NewSource(target, origin, found, files, counts, with_pair, notes, left, examples)


def _files(given: Sequence[Path]) -> tuple[dict[str, Path], Path]:
    """Return name in source.yaml → file, and the place of all files."""
    remedy = "name the annotation file with --from"
    paths: list[Path] = []
    for path in given:
        if not path.exists():
            raise SourceError(f"{path}: file not found; {remedy}")
        inside = sorted(path.rglob("*")) if path.is_dir() else []
        paths += [p for p in inside if p.suffix.lower() in SUFFIXES and p.is_file()] or [path]
        if paths[-1].is_dir():
            raise SourceError(f"{path}: a folder without {', '.join(SUFFIXES)} files; {remedy}")
    if len(paths) == 1:
        return {paths[0].name: paths[0]}, paths[0]
    folder = Path(os.path.commonpath([path.resolve().parent for path in paths]))
    return {path.resolve().relative_to(folder).as_posix(): path for path in paths}, folder


def _guessed(paths: dict[str, Path], sheet: str | None, answers: Answers, ask: Ask | None) -> Guess:
    try:
        return guess(read_content(paths, sheet, answers.each), answers, ask)
    except SourceError as error:
        is_placed = any(str(error).startswith(path.name) for path in paths.values())
        raise SourceError(str(error) if is_placed else f"{next(iter(paths))}: {error}") from error


def _check_name(name: str) -> None:
    for problem in check_rows("source", [{"name": name}]):
        if problem.path == "name":
            raise SourceError(f"{problem.message} ({problem.remedy})")
    if (BUILT_IN / name).is_dir():
        raise SourceError(f"{name}: a built-in source has this name; choose another")


def _prove(folder: Path, facts: dict[str, Any], origin: Path, found: Guess) -> Conversion:
    facts["expected"] = None
    why = {"quality": found.quality.why, "table": _summary(found)}
    (folder / "source.yaml").write_text(as_yaml(facts, why), encoding="utf-8", newline="")
    conversion = _converted(folder, origin, found)
    counts = conversion.manifest["counts"]
    if counts["systems"] >= _LEAST_SYSTEMS or found.system is None:
        facts["expected"] = counts_of(counts)
    (folder / "source.yaml").write_text(as_yaml(facts, why), encoding="utf-8", newline="")
    fixture = _invented(folder, found).manifest
    dropped = {entry["reason"]: entry["n"] for entry in fixture["dropped"]}
    text = expected_yaml(fixture["counts"], dropped)
    (folder / "fixture" / "expected.yaml").write_text(text, encoding="utf-8", newline="")
    return conversion


def _invented(folder: Path, found: Guess) -> Conversion:
    """Write a fixture that makes pairs, trying several random draws of its judgements."""
    content, names = found.content, found.content.files
    place = folder / "fixture" / (names[0] if len(names) == 1 else "")
    for seed in range(_MOST_DRAWS):
        for name, objects in zip(names, invent(found, seed), strict=True):
            path = folder / "fixture" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_objects(path, objects, content.options)
        with contextlib.suppress(SourceError):
            conversion = convert_source(load_source(folder), place)
            if conversion.manifest["counts"]["pairs"]:
                return conversion
    return _converted(folder, place, found)


def _converted(folder: Path, origin: Path, found: Guess) -> Conversion:
    try:
        return convert_source(load_source(folder), origin)
    except SourceError as error:
        reason = str(error).replace(str(folder), "the new source")
        raise SourceError(
            f"what was guessed does not convert: {reason}. Guessed: {_summary(found)}; name the "
            "right columns with --context, --context-id, --candidate, --candidate-id, --system, "
            "--label, --score or --rating, or correct a copy of the file"
        ) from error


def _summary(found: Guess) -> str:
    taken = [f"{name} is {role}" for name, role in found.roles().items() if role != UNUSED]
    return ", ".join(taken)
