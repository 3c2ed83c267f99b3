"""Validation of a converted folder: contract, manifest, and everything derived again."""

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from nnd.cards import check_validity
from nnd.converters.folder.derived import Part, derive
from nnd.converters.folder.row_differences import PAIR_KEY, SCORE_KEY, differences
from nnd.converters.folder.set_checks import HumanRows, check_sets
from nnd.converters.folder.validation_result import Finding, Validation, located
from nnd.converters.pairs import check_annotations, check_numbers, check_references
from nnd.converters.reading import shown
from nnd.converters.source import Source, check_instruction, check_licence
from nnd.schemas import (
    MANIFEST,
    VALIDITY,
    FrameName,
    Problem,
    SchemaName,
    SourceError,
    check_document,
    check_frame,
    find_change,
    fingerprint,
    frame_files,
    missing_frame,
    polars_schema,
    published_path,
    read_file,
    read_manifest,
    read_rules,
    read_validity,
)

_CONVERT_AGAIN = "convert the source again"
_BUILD_AGAIN = "build the suite again"
_COMPARE_AGAIN = "write it again with `nnd compare --by origin --out`, or remove it"

_SCHEMAS: dict[FrameName, SchemaName] = {
    "pairs": "pair",
    "human_scores": "human_score",
    "annotations": "annotation",
    "references": "reference",
}

_GIVEN: tuple[FrameName, ...] = ("annotations", "references")
"""The rows that a source states; the other rows follow from them."""


def validate(folder: str | Path) -> Validation:
    """Check a converted folder against the contract and its manifest, and derive it again.

    Pairs, human scores and counts must follow from the annotations by the rule in the manifest.

    Args:
        folder: What `convert` wrote, or a copy from the Hub of what `publish` made of it.

    Raises:
        SchemaError: If the folder is neither, or a file in it cannot be read.
    """
    folder = Path(folder)
    return Validation(folder, tuple(_findings(folder)))


def _findings(folder: Path) -> Iterator[Finding]:
    manifest = read_manifest(folder, changed=True)
    yield from _check_document(manifest, MANIFEST, _CONVERT_AGAIN)
    parts = {name: _read_parts(folder, name) for name in _SCHEMAS}
    wrong = {
        name: [
            Finding(path, problem)
            for path, frame in parts[name].items()
            for problem in _check_file(folder, path, schema, frame, manifest)
        ]
        for name, schema in _SCHEMAS.items()
    }
    yield from itertools.chain.from_iterable(wrong.values())
    sets = _read_sets(folder, manifest)
    yield from _check_set_files(folder, sets, manifest)
    there = set().union(*parts.values(), *sets.values())
    for path in sorted(_section(manifest, "outputs").keys() - there):
        yield from (Finding(path, each) for each in _check_other(folder / path, path, manifest))
    yield from _check_splits(parts)
    of_manifest = list(_check_manifest(manifest))
    yield from (Finding(MANIFEST, problem) for problem in of_manifest)
    validity = read_validity(folder, changed=True)
    if validity is not None:
        yield from _check_document(validity, VALIDITY, _COMPARE_AGAIN)
    if validity is not None and not of_manifest:
        yield from (
            Finding(VALIDITY, problem)
            for problem in check_validity(validity, manifest, _pairs_of_sets(sets))
        )
    columns_fit = all(
        dict(frame.schema) == dict(polars_schema(schema))
        for name, schema in _SCHEMAS.items()
        for frame in parts[name].values()
    )
    rows_fit = all(finding.problem.row is None for name in _GIVEN for finding in wrong[name])
    if not of_manifest and columns_fit and rows_fit:  # otherwise nothing can be derived
        yield from _check_derived(manifest, parts)
        yield from check_sets(manifest, sets, HumanRows(*_whole(parts, "pairs", *_GIVEN)))


def _check_file(
    folder: Path, path: str, schema: SchemaName, frame: pl.DataFrame, manifest: dict[str, Any]
) -> Iterator[Problem]:
    """Check that a file keeps the contract, and that the manifest lists exactly it."""
    yield from check_frame(schema, frame)
    recorded = _section(_section(manifest, "outputs"), path)
    if recorded.get("rows") != frame.height:
        yield _problem("", f"{frame.height} rows, but the manifest states {recorded.get('rows')}")
    yield from _check_bytes(folder / path, recorded)


def _read_sets(folder: Path, manifest: dict[str, Any]) -> dict[str, dict[str, pl.DataFrame]]:
    """Return the rows of the files of each set of a suite, by path within the folder."""
    sets: dict[str, dict[str, pl.DataFrame]] = {}
    for path in _section(manifest, "outputs"):
        if path.startswith("sets/"):
            files = sets.setdefault(path.split("/")[1].removesuffix(".parquet"), {})
            if (folder / path).is_file():
                files[path] = read_file(folder / path)
    return sets


def _pairs_of_sets(
    sets: Mapping[str, Mapping[str, pl.DataFrame]],
) -> dict[str, pl.DataFrame]:
    """Return set → the ids of its pairs, leaving out sets whose files lack them."""
    return {
        name: pl.concat([frame.select("pair_id") for frame in files.values()])
        for name, files in sets.items()
        if files and all(frame.schema.get("pair_id") == pl.String for frame in files.values())
    }


def _check_set_files(
    folder: Path, sets: Mapping[str, Mapping[str, pl.DataFrame]], manifest: dict[str, Any]
) -> Iterator[Finding]:
    """Check that the files of sets keep the contract of pairs, and are the listed ones."""
    listed = [str(entry.get("name")) for entry in manifest.get("sets", ())]
    for name in sorted({*listed} ^ sets.keys()):
        where = "no file" if name in listed else "no entry in `sets`"
        yield Finding(MANIFEST, Problem(None, "sets", f"{name} has {where}", _BUILD_AGAIN))
    for files in sets.values():
        for path, frame in files.items():
            for problem in _check_file(folder, path, "pair", frame, manifest):
                yield Finding(path, problem)


def _check_derived(
    manifest: dict[str, Any], parts: Mapping[FrameName, Mapping[str, pl.DataFrame]]
) -> Iterator[Finding]:
    """Check that `convert` accepts the annotations, and that all else follows from them."""
    source = Source(Path(MANIFEST), manifest["source"])
    pairs, human_scores, annotations, references = _whole(parts, *_SCHEMAS)
    problems: dict[FrameName, list[Problem]] = {
        "annotations": [
            *_check_source(annotations, source.name),
            *check_annotations(source, annotations),
        ],
        "references": [
            *_check_source(references, source.name),
            *check_references(references, annotations),
            *check_numbers(references),
        ],
    }
    yield from (located(each, parts[name]) for name in _GIVEN for each in problems[name])
    if problems["annotations"]:
        return
    keep_equal = bool(manifest.get("keep_equal"))
    part = Part(manifest["slice"]["name"], {*pairs["pair_id"]}) if "slice" in manifest else None
    derived = derive(annotations, references, source, keep_equal=keep_equal, part=part)
    for problem in differences(pairs, derived.pairs, PAIR_KEY, "pair"):
        yield located(problem, parts["pairs"])
    for problem in differences(human_scores, derived.human_scores, SCORE_KEY, "human score"):
        yield located(problem, parts["human_scores"])
    yield from (Finding(MANIFEST, each) for each in _check_facts(manifest, derived.facts))


def _whole(
    parts: Mapping[FrameName, Mapping[str, pl.DataFrame]], *names: FrameName
) -> Iterator[pl.DataFrame]:
    """Yield the rows of all files of each frame, concatenated."""
    for name in names:
        columns = polars_schema(_SCHEMAS[name])
        frames = (frame.select(columns.names()) for frame in parts[name].values())
        yield pl.concat([pl.DataFrame(schema=columns), *frames])


def _read_parts(folder: Path, name: FrameName) -> dict[str, pl.DataFrame]:
    """Return the rows of each file of a frame, by path within the folder."""
    files = frame_files(folder, name, changed=True)
    if not files and name != "references":
        raise missing_frame(folder, name)
    return {path.relative_to(folder).as_posix(): read_file(path) for path in files}


def _problem(path: str, message: str) -> Problem:
    return Problem(None, path, message, _CONVERT_AGAIN)


def _section(value: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a part of the manifest, or an empty one if it is missing."""
    part = value.get(name)
    return part if isinstance(part, dict) else {}


def _check_document(document: Mapping[str, Any], name: str, remedy: str) -> Iterator[Finding]:
    problem = find_change(document, name)
    if problem is not None:
        yield Finding(name, Problem(None, "", problem, remedy))


def _check_other(path: Path, name: str, manifest: dict[str, Any]) -> Iterator[Problem]:
    """Check a listed file without rows, such as a schema."""
    if not path.is_file():
        yield _problem("", "is missing, although the manifest lists it")
    else:
        yield from _check_bytes(path, _section(_section(manifest, "outputs"), name))


def _check_bytes(path: Path, recorded: Mapping[str, Any]) -> Iterator[Problem]:
    n, digest = fingerprint(path).values()
    if recorded.get("sha256") != digest:
        yield _problem("", "its SHA-256 is not the one in the manifest")
    elif recorded.get("bytes") != n:
        yield _problem("", f"{n} bytes, but the manifest states {recorded.get('bytes')}")


def _check_splits(
    parts: Mapping[FrameName, Mapping[str, pl.DataFrame]],
) -> Iterator[Finding]:
    """Check that each file of a published folder holds only the split in its name."""
    for name, frames in parts.items():
        for path, frame in frames.items() if name != "human_scores" else ():
            if "/" not in path:
                continue
            splits = {split: published_path(name, split) for split in frame["split"].unique()}
            strange = [split for split, place in sorted(splits.items()) if place != path]
            if strange:
                message = f"{shown(strange[0])} belongs in {splits[strange[0]]}"
                yield Finding(path, Problem(None, "split", message, "publish again"))


def _check_manifest(manifest: dict[str, Any]) -> Iterator[Problem]:
    """Check the form of the manifest, its quality rule, and which files it calls verified."""
    wrong = list(check_document("manifest", manifest))
    yield from wrong
    if wrong:
        return
    try:
        check_licence(manifest["source"])
        check_instruction(manifest["source"])
        read_rules(manifest["source"]["quality"])
    except SourceError as error:
        yield _problem("source", str(error))
    declared = {
        file["name"]: {file["sha256"], *(each["sha256"] for each in file.get("versions", ()))}
        for file in manifest["source"]["files"]
    }
    for number, file in enumerate(manifest["files"]):
        if file["verified"] != (file["sha256"] in declared.get(file["name"], ())):
            is_not = "is not" if file["verified"] else "is"
            message = f"{shown(file['verified'])}, but its SHA-256 {is_not} the declared one"
            yield _problem(f"files/{number}/verified", message)


def _check_source(rows: pl.DataFrame, name: str) -> Iterator[Problem]:
    strange = rows.with_row_index("row").filter(pl.col("source") != name)
    for row, source in strange.select("row", "source").iter_rows():
        message = f"{shown(source)} is not the source of the manifest, {shown(name)}"
        yield Problem(row, "source", message, _CONVERT_AGAIN)


def _check_facts(manifest: dict[str, Any], facts: Mapping[str, Any]) -> Iterator[Problem]:
    """Check the counts of the manifest against the annotations and the expected counts."""
    counts, recorded = facts["counts"], _section(manifest, "counts")
    for name, n in counts.items():
        if recorded.get(name) != n:
            message = f"{recorded.get(name)}, but the annotations give {n}"
            yield _problem(f"counts/{name}", message)
    for name in ("dropped", "agreement", "hygiene"):
        if manifest.get(name, {}) != facts[name]:
            yield _problem(name, "does not follow from the annotations")
    files = manifest["files"]
    # Changed texts, kept equal texts and a slice change the counts.
    changes = (manifest["normalised"], "slice" in manifest, manifest.get("keep_equal"))
    is_redacted = "redacted" in _section(manifest, "contacts")
    if files and all(file["verified"] for file in files) and not (any(changes) or is_redacted):
        for name, expected in (manifest["source"]["expected"] or {}).items():
            if name in counts and counts[name] != expected:
                message = f"{counts[name]}, but the source expects {expected}"
                yield _problem(f"counts/{name}", message)
