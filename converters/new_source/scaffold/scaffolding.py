"""`nnd new-source`: from an annotation file that nobody has described to a source that converts."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nnd.converters.examples import pair_examples
from nnd.converters.folder import Conversion, convert_source
from nnd.converters.new_source.guess import (
    COUNTED,
    Answers,
    Ask,
    Content,
    Guess,
    guess,
    more_is_better,
    read_content,
)
from nnd.converters.new_source.scaffold.code import nested_code
from nnd.converters.new_source.scaffold.facts import is_mapped, source_facts
from nnd.converters.new_source.scaffold.files import write_objects
from nnd.converters.new_source.scaffold.fixture import invent
from nnd.converters.new_source.scaffold.gather import gathered_code
from nnd.converters.new_source.scaffold.outcome import NewSource
from nnd.converters.new_source.scaffold.yaml import as_yaml, expected_yaml, left_to_fill
from nnd.converters.source import BUILT_IN, Source, load_source
from nnd.schemas import SourceError, check_new, check_rows, make_new

_COUNTS = ("annotations", "contexts", "systems", "pairs", "by_error_category")
_LEAST_SYSTEMS = 2
_EXAMPLES = 2


def new_source(
    name: str,
    file: str | Path,
    out: str | Path | None = None,
    *,
    answers: Answers | None = None,
    sheet: str | None = None,
    ask: Ask | None = None,
) -> NewSource:
    """Look at an annotation file, and write a source folder for it that converts.

    The folder holds source.yaml, a convert.py where a `table:` section does not do, and a fixture
    of invented rows. Both the file and the fixture were converted before it is put in its place;
    the same file and answers give the same bytes.

    Args:
        name: Name of the source: lower-case letters, digits and underscores.
        file: A csv, tsv, jsonl, json, xlsx or parquet file, a row or an object per candidate.
        out: Folder to make; None: called like the source, in the current folder.
        answers: What need not be guessed.
        sheet: Sheet of a workbook; None: the first.
        ask: Puts what cannot be guessed to a person; None: it is an error that names the flag.

    Raises:
        SourceError: If the file cannot be read, something cannot be guessed, or what was guessed
            does not convert. Nothing is written then.
        NNDError: If `out` exists, or cannot be written.
    """
    path, target = Path(file), Path(name if out is None else out)
    _check_name(name, path)
    check_new(target)
    content = read_content(path, sheet)
    found = _guessed(content, answers, ask)
    declared = {"name": path.name, "url": None, **_digest(path)}
    facts = source_facts(name, found, declared, sheet)
    code = gathered_code(found) if is_mapped(found) else nested_code(found)
    _check_facts(facts, target)
    with make_new(target) as fresh:
        (fresh / "fixture").mkdir(parents=True)
        if code is not None:
            (fresh / "convert.py").write_text(code, encoding="utf-8", newline="")
        write_objects(fresh / "fixture" / path.name, invent(found), content, sheet)
        conversion = _prove(fresh, facts, path, found)
    files = tuple(str(p.relative_to(target)) for p in sorted(target.rglob("*")) if p.is_file())
    left = tuple(left_to_fill(facts))
    notes = (*content.notes, *_left_aside(found))
    counts = conversion.manifest["counts"]
    examples = pair_examples(name, conversion.pairs, _EXAMPLES)
    return NewSource(target, path, found, files, counts, notes, left, examples)


def _left_aside(found: Guess) -> Iterator[str]:
    """Say which columns would be scores, were it not for some of their cells, or for their name."""
    by_number = not any(measure.has_labels for measure in found.measures)
    for column in found.unused:
        is_judged = column.kind == "number" and not column.words & COUNTED
        if by_number and is_judged and more_is_better([column]) is False:
            yield (
                f"column {column.name} is not used: less of it is better, by its name; convert it "
                "apart, with --score and --high"
            )
        if column.spoilt_by is not None:
            yield (
                f"column {column.name} is not used: {found.why[column.name]}; leave such a cell "
                "empty in a copy of the file if it is a score"
            )


def _guessed(content: Content, answers: Answers | None, ask: Ask | None) -> Guess:
    try:
        return guess(content, answers, ask)
    except SourceError as error:
        left_out = "".join(f"; {note}" for note in content.notes)
        raise SourceError(f"{content.file}: {error}{left_out}") from error


def _check_name(name: str, file: Path) -> None:
    for problem in check_rows("source", [{"name": name}]):
        if problem.path == "name":
            raise SourceError(f"{problem.message} ({problem.remedy})")
    if (BUILT_IN / name).is_dir():
        raise SourceError(f"{name}: a built-in source has this name; choose another")
    if not file.is_file():
        what = "is a folder" if file.is_dir() else "there is no such file"
        raise SourceError(f"{file}: {what}; name the annotation file with --from")


def _digest(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return {"sha256": digest, "bytes": file.tell()}


def _check_facts(facts: dict[str, Any], target: Path) -> None:
    """Complain of what no source.yaml may hold, such as a file that is called `.a.csv`."""
    for problem in check_rows("source", [{**facts, "expected": None}]):
        raise SourceError(
            f"{target}: {problem.path}: {problem.message} ({problem.remedy}); correct the file, or "
            "name other columns"
        )


def _prove(folder: Path, facts: dict[str, Any], file: Path, found: Guess) -> Conversion:
    """Convert file and fixture, and write source.yaml and expected.yaml with what they give."""
    facts["expected"] = None
    why = {"quality": found.quality.why} | {
        "table" if "table" in facts else "aspects": _told(found)
    }
    (folder / "source.yaml").write_text(as_yaml(facts, why), encoding="utf-8", newline="")
    conversion = _converted(load_source(folder), file, found)
    counts = conversion.manifest["counts"]
    if counts["systems"] >= _LEAST_SYSTEMS:
        facts["expected"] = {name: counts[name] for name in _COUNTS}
        if counts["by_category"]:
            facts["expected"]["by_category"] = counts["by_category"]
    (folder / "source.yaml").write_text(as_yaml(facts, why), encoding="utf-8", newline="")
    fixture = _converted(load_source(folder), folder / "fixture" / file.name, found).manifest
    dropped = {entry["reason"]: entry["n"] for entry in fixture["dropped"]}
    text = expected_yaml(fixture["counts"], dropped)
    (folder / "fixture" / "expected.yaml").write_text(text, encoding="utf-8", newline="")
    return conversion


def _converted(source: Source, file: Path, found: Guess) -> Conversion:
    try:
        return convert_source(source, file)
    except SourceError as error:
        reason = str(error).replace(str(source.folder), "the new source")
        raise SourceError(
            f"what was guessed does not convert: {reason}. Guessed: {_told(found)}; name the right "
            "columns with --context, --candidate, --system, --label, --score or --rating, or "
            "correct a copy of the file"
        ) from error


def _told(found: Guess) -> str:
    """Say in a line what the columns were taken for."""
    taken = [f"{name} is {role}" for name, role in found.roles().items() if role != "not used"]
    return ", ".join(taken)
