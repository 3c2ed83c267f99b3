"""`nnd new-source`: from undescribed annotation files to a source.yaml, which is then edited."""

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nnd.converters.folder import convert_source, pair_examples
from nnd.converters.onboard.contents.reading_files import Content, read_contents
from nnd.converters.onboard.guess.draft import Draft
from nnd.converters.onboard.guess.roles import FLAGS, Roles
from nnd.converters.onboard.guess.shapes import Shape, draft_of, shape_named, shapes_of
from nnd.converters.onboard.scaffold.first_facts import (
    OPEN,
    TO_FILL,
    OpenField,
    as_yaml,
    left_to_fill,
    source_facts,
)
from nnd.converters.onboard.scaffold.new_source_result import NewSource, common_place
from nnd.converters.onboard.scaffold.open_choices import INSTEAD, with_choices
from nnd.converters.source import BUILT_IN, load_source
from nnd.schemas import (
    CONTEXT,
    TABLE_SUFFIXES,
    SourceError,
    check_document,
    file_digest,
    make_new,
    read_text,
)

_EXAMPLES = 2
_FROM = re.compile(r"^# Written by `nnd new-source`, from: (.*)$", re.MULTILINE)
_ANNOTATED = frozenset(["annotation", "annotations", "annotator", "errors", "label", "labels"])
_PARTS = ("table", "quality")
"""Fields of a source.yaml that decide what the pairs are."""


def new_source(
    name: str,
    file: str | Path | Sequence[str | Path] | None = None,
    out: str | Path | None = None,
    *,
    sheet: str | None = None,
    shape: str | None = None,
    context: str | Sequence[str] = (),
    candidate: str | Sequence[str] = (),
    system: str | None = None,
    label: str | Sequence[str] = (),
    score: str | Sequence[str] = (),
) -> NewSource:
    """Show annotation files, and write a source that reads them.

    It shows the columns of the files, those of nested JSON by their paths (`outputs[].text`), and
    writes a source.yaml with the likeliest way to read them. A comment that begins with OPEN is
    above every line that the file does not settle, with what it might say instead. Edit the file,
    and run the same command again: for a folder that exists, it changes nothing, and says what is
    still open and whether it converts.

    Args:
        name: Name of the source: a-z, 0-9 and underscores.
        file: Annotation file (csv, tsv, jsonl, json, xlsx or parquet), or a folder of them. For a
            folder that exists, the files that it was written from.
        out: Folder to make. None means the name of the source.
        sheet: Sheet of a workbook. None means the first.
        shape: Shape of the rows. None means the likeliest.
        context: Columns that the systems were given.
        candidate: Column of the generated text, or the columns of several that a row holds.
        system: Column of the system that wrote the candidate.
        label: Columns of labels that say how good a candidate is, or of marked errors.
        score: Columns of numbers that say how good a candidate is.

    Returns:
        The folder, the columns of the files, the lines that are open, and the counts of the pairs.

    Raises:
        SourceError: If a file cannot be read, or an option names no column or shape.

    Examples:
        nnd new-source my_ratings --from ratings.csv
        nnd new-source my_ratings
    """
    folder = Path(name if out is None else out)
    exists = (folder / "source.yaml").is_file()
    if file is None and not exists:
        raise SourceError(
            "source.unknown", "no such source", folder, "name the annotation file with --from"
        )
    given = [file] if isinstance(file, str | Path) else list(file or _written_from(folder))
    origin = tuple(Path(path) for path in given)
    paths = _files(origin)
    contents = read_contents(paths, sheet)
    found: tuple[Shape, ...] = ()
    if not exists:
        _check_name(name)
        options = zip(FLAGS, (context, candidate, system, label, score), strict=True)
        chosen = {role: [own] if isinstance(own, str) else own for role, own in options if own}
        contents, found, draft = _drafted(contents, chosen, shape)
        _write(folder, name, draft, found[0], paths, origin)
    elif shape or context or candidate or system or label or score:
        raise SourceError(
            "option.conflict",
            f"exists, so that --shape and --{', --'.join(FLAGS)} change nothing",
            folder,
            "edit its source.yaml, or name another folder with --out",
        )
    return _examined(folder, origin, tuple(contents), found)


def _drafted(
    contents: list[Content], given: Mapping[str, Sequence[str]], shape: str | None
) -> tuple[list[Content], tuple[Shape, ...], Draft]:
    """Return the contents, the one with the judged texts first, its shapes, and the draft."""
    known = {path for paths in given.values() for path in paths}

    def rank(content: Content) -> tuple[bool, int]:
        paths = {column.path for column in content.columns}
        roles = Roles(content)
        is_judged = bool(roles.judged or roles.listed)
        is_about = any(column.all_words & _ANNOTATED for column in content.columns)
        return bool(known & paths), 2 * is_about + is_judged + bool(roles.candidates)

    contents = sorted(contents, key=rank, reverse=True)
    roles = Roles(contents[0], given)
    found = shapes_of(roles)
    if shape is not None:
        wanted = shape_named(shape)
        found = [wanted, *(one for one in found if one is not wanted)]
    draft = draft_of(roles, found[0])
    if draft.table.get("columns", {}).get("candidate") == TO_FILL:
        draft.join([Roles(content) for content in contents[1:]])
    return contents, tuple(found), draft


def _write(  # noqa: PLR0917 - what a folder is written from
    folder: Path,
    name: str,
    draft: Draft,
    shape: Shape,
    paths: Mapping[str, Path],
    origin: Sequence[Path],
) -> None:
    first = draft.roles.content.files
    names = sorted(paths, key=lambda path: (path not in first, path))
    files = [
        {
            "name": path,
            "url": None,
            "sha256": file_digest(paths[path]),
            "bytes": paths[path].stat().st_size,
        }
        for path in names
    ]
    facts = source_facts(name, draft, files)
    where = shlex.join(map(str, origin))
    notes = with_choices(draft.notes, draft.choices, facts)
    text = as_yaml(facts, notes, where, f"{shape.name}, {shape.picture}")
    with make_new(folder) as fresh:
        fresh.mkdir(parents=True, exist_ok=True)
        (fresh / "source.yaml").write_text(text, encoding="utf-8", newline="")


def _examined(
    folder: Path, origin: tuple[Path, ...], contents: tuple[Content, ...], shapes: tuple[Shape, ...]
) -> NewSource:
    """Return what a source folder says of its files, as its source.yaml is now."""
    text = read_text(folder / "source.yaml")
    problem, counts, with_pair, examples, left = None, dict[str, Any](), 0, None, list[OpenField]()
    lines = _open_lines(text)
    unsaid = [line.partition(":")[0] for line in lines if TO_FILL in line.partition("  #")[0]]
    try:
        source = load_source(folder)
        left = left_to_fill(source.facts)
        if unsaid:
            problem = f"{', '.join(unsaid)} of source.yaml still says {TO_FILL}; say what it is"
        else:
            conversion = convert_source(source, common_place(origin))
            counts, pairs = conversion.manifest["counts"], conversion.pairs
            with_pair = pairs.select(CONTEXT).n_unique()
            examples = pair_examples(source.name, pairs, _EXAMPLES)
    except SourceError as error:
        problem = str(error).replace(str(folder), folder.name)
    return NewSource(
        folder, origin, contents, shapes, tuple(lines), problem,
        counts, with_pair, tuple(left), examples,
    )  # fmt: skip


def _open_lines(text: str) -> list[str]:
    """Return the lines of a source.yaml that are open, with their numbers and comments."""
    found, comment = list[str](), ""
    part, is_prose = "", False
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        part = line.partition(":")[0] if line[:1].isalpha() else part
        if stripped.startswith("#"):
            body = stripped.lstrip("# ")
            if body.startswith(f"{OPEN}:"):
                comment, is_prose = body.removeprefix(f"{OPEN}:").strip(), True
            elif body.startswith(INSTEAD):
                is_prose = False
            elif comment and is_prose:
                comment += f" {body}"
            continue
        if comment or (part in _PARTS and re.search(rf"\b{TO_FILL}\b", stripped)):
            found.append(f"line {number}: {stripped}" + (f"  # {comment}" if comment else ""))
        comment = ""
    return found


def _written_from(folder: Path) -> list[str]:
    """Return the files that a source.yaml says it was written from."""
    found = _FROM.search(read_text(folder / "source.yaml"))
    if found is None:
        raise SourceError(
            "source.definition",
            "does not say which files it was written from",
            f"{folder}/source.yaml",
            "name them with --from",
        )
    return shlex.split(found[1])


def _files(given: Sequence[Path]) -> dict[str, Path]:
    """Return name in source.yaml → file."""
    remedy = "name the annotation file with --from"
    paths: list[Path] = []
    for path in given:
        if not path.exists():
            raise SourceError("file.not-found", "file not found", path, remedy)
        inside = sorted(path.rglob("*")) if path.is_dir() else []
        paths += [p for p in inside if p.suffix.lower() in TABLE_SUFFIXES and p.is_file()] or [path]
        if paths[-1].is_dir():
            raise SourceError(
                "file.not-a-table",
                f"a folder without {', '.join(TABLE_SUFFIXES)} files",
                path,
                remedy,
            )
    if len(paths) == 1:
        return {paths[0].name: paths[0]}
    folder = common_place(paths).resolve()
    return {path.resolve().relative_to(folder).as_posix(): path for path in paths}


def _check_name(name: str) -> None:
    for problem in check_document("source", {"name": name}):
        if problem.path == "name":
            raise problem.error(SourceError, "option.bad-value", "")
    if (BUILT_IN / name).is_dir():
        raise SourceError("name.twice", "a built-in source has this name", name, "choose another")
