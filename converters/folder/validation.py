"""Validation of a converted folder: contract, manifest, and everything derived again."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from nnd.cards import check_validity
from nnd.converters.folder.derived import Part, derive
from nnd.converters.folder.row_differences import PAIR_KEY, SCORE_KEY, differences
from nnd.converters.folder.set_checks import check_sets
from nnd.converters.folder.validation_result import Finding, Validation, located
from nnd.converters.pairs import (
    check_annotations,
    check_numbers,
    check_references,
    row_problems,
)
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
    optional_columns,
    polars_schema,
    published_path,
    read_file,
    read_manifest,
    read_rules,
    read_validity,
    shown,
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
    """Check a converted folder and list every problem.

    Pairs, human scores and counts must follow from the annotations by the rule in the manifest. The
    exit code is 1 if there are problems.

    Args:
        folder: A folder that `nnd convert` wrote, or a copy from the Hub of a published one.

    Raises:
        SchemaError: If the folder is neither, or a file in it cannot be read.

    Examples:
        nnd validate quiz_design-nnd
    """
    folder = Path(folder)
    return Validation(folder, tuple(_findings(folder)))


def _findings(folder: Path) -> Iterator[Finding]:
    manifest = read_manifest(folder, changed=True)
    yield from _check_document(manifest, MANIFEST, _CONVERT_AGAIN)
    outputs = _section(manifest, "outputs")
    parts = {name: _read_parts(folder, name) for name in _SCHEMAS}
    wrong = {name: list(_check_files(folder, parts[name], name, outputs)) for name in parts}
    yield from itertools.chain.from_iterable(wrong.values())
    sets: dict[str, dict[str, pl.DataFrame]] = {}
    for path in (path for path in outputs if path.startswith("sets/")):
        files = sets.setdefault(path.split("/")[1].removesuffix(".parquet"), {})
        if (folder / path).is_file():
            files[path] = read_file(folder / path)
    listed = {str(entry.get("name")) for entry in manifest.get("sets", ())}
    for name in sorted(listed ^ sets.keys()):
        where = "no file" if name in listed else "no entry in `sets`"
        yield Finding(MANIFEST, Problem(None, "sets", f"{name} has {where}", _BUILD_AGAIN))
    for files in sets.values():
        yield from _check_files(folder, files, "pairs", outputs)
    for path in sorted(outputs.keys() - set().union(*parts.values(), *sets.values())):
        if (folder / path).is_file():  # such as a schema
            yield from _check_bytes(folder, path, outputs)
        else:
            message = "is missing, although the manifest lists it"
            yield Finding(path, Problem(None, "", message, _CONVERT_AGAIN))
    yield from _check_splits(parts)
    of_manifest = list(_check_manifest(manifest))
    yield from (Finding(MANIFEST, problem) for problem in of_manifest)
    validity = read_validity(folder, changed=True)
    if validity is not None:
        yield from _check_document(validity, VALIDITY, _COMPARE_AGAIN)
    if validity is not None and not of_manifest:
        ids = {
            name: pl.concat([frame.select("pair_id") for frame in files.values()])
            for name, files in sets.items()
            if files and all(frame.schema.get("pair_id") == pl.String for frame in files.values())
        }
        yield from (Finding(VALIDITY, each) for each in check_validity(validity, manifest, ids))
    columns_fit = all(
        {**polars_schema(schema)}
        == {key: kind for key, kind in frame.schema.items() if key not in optional_columns(schema)}
        for name, schema in _SCHEMAS.items()
        for frame in parts[name].values()
    )
    rows_fit = all(finding.problem.row is None for name in _GIVEN for finding in wrong[name])
    if not of_manifest and columns_fit and rows_fit:  # otherwise nothing can be derived
        rows = {name: _whole(parts[name].values(), schema) for name, schema in _SCHEMAS.items()}
        yield from _check_derived(manifest, parts, rows)
        yield from check_sets(manifest, sets, rows)


def _check_files(
    folder: Path, files: Mapping[str, pl.DataFrame], name: FrameName, outputs: dict[str, Any]
) -> Iterator[Finding]:
    """Check that files keep the contract, and that the manifest lists exactly them."""
    for path, frame in files.items():
        yield from (Finding(path, each) for each in check_frame(_SCHEMAS[name], frame))
        stated = _section(outputs, path).get("rows")
        if stated != frame.height:
            message = f"{frame.height} rows, but the manifest states {stated}"
            yield Finding(path, Problem(None, "", message, _CONVERT_AGAIN))
        yield from _check_bytes(folder, path, outputs)


def _check_derived(
    manifest: dict[str, Any],
    parts: Mapping[FrameName, Mapping[str, pl.DataFrame]],
    rows: Mapping[FrameName, pl.DataFrame],
) -> Iterator[Finding]:
    """Check that `convert` accepts the annotations, and that all else follows from them."""
    source = Source(Path(MANIFEST), manifest["source"])
    pairs, annotations, references = rows["pairs"], rows["annotations"], rows["references"]
    of_annotations = [
        *_check_source(annotations, source.name),
        *check_annotations(source, annotations),
    ]
    of_references = [
        *_check_source(references, source.name),
        *check_references(references, annotations),
        *check_numbers(references),
    ]
    yield from (located(problem, parts["annotations"]) for problem in of_annotations)
    yield from (located(problem, parts["references"]) for problem in of_references)
    if of_annotations:
        return
    keep_equal = bool(manifest.get("keep_equal"))
    part = Part(manifest["slice"]["name"], {*pairs["pair_id"]}) if "slice" in manifest else None
    derived = derive(annotations, references, source, keep_equal=keep_equal, part=part)
    for problem in differences(pairs, derived.pairs, PAIR_KEY, "pair"):
        yield located(problem, parts["pairs"])
    scores = rows["human_scores"]
    for problem in differences(scores, derived.human_scores, SCORE_KEY, "human score"):
        yield located(problem, parts["human_scores"])
    for problem in _check_facts(manifest, derived.facts):
        yield Finding(MANIFEST, problem)


def _whole(frames: Iterable[pl.DataFrame], schema: SchemaName) -> pl.DataFrame:
    columns = polars_schema(schema)
    in_order = (frame.select(columns.names()) for frame in frames)
    return pl.concat([pl.DataFrame(schema=columns), *in_order])


def _read_parts(folder: Path, name: FrameName) -> dict[str, pl.DataFrame]:
    """Return the rows of each file of a frame, by path within the folder."""
    files = frame_files(folder, name, changed=True)
    if not files and name != "references":
        raise missing_frame(folder, name)
    return {path.relative_to(folder).as_posix(): read_file(path) for path in files}


def _section(value: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a part of the manifest, or an empty one if it is missing."""
    part = value.get(name)
    return part if isinstance(part, dict) else {}


def _check_document(document: Mapping[str, Any], name: str, remedy: str) -> Iterator[Finding]:
    problem = find_change(document, name)
    if problem is not None:
        yield Finding(name, Problem(None, "", problem, remedy))


def _check_bytes(folder: Path, path: str, outputs: dict[str, Any]) -> Iterator[Finding]:
    recorded, found = _section(outputs, path), fingerprint(folder / path)
    if recorded.get("sha256") != found["sha256"]:
        message = "its SHA-256 is not the one in the manifest"
        yield Finding(path, Problem(None, "", message, _CONVERT_AGAIN))
    elif recorded.get("bytes") != found["bytes"]:
        message = f"{found['bytes']} bytes, but the manifest states {recorded.get('bytes')}"
        yield Finding(path, Problem(None, "", message, _CONVERT_AGAIN))


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
        yield Problem(None, "source", str(error), _CONVERT_AGAIN)
    declared = {
        file["name"]: {file["sha256"], *(each["sha256"] for each in file.get("versions", ()))}
        for file in manifest["source"]["files"]
    }
    for number, file in enumerate(manifest["files"]):
        if file["verified"] != (file["sha256"] in declared.get(file["name"], ())):
            is_not = "is not" if file["verified"] else "is"
            message = f"{shown(file['verified'])}, but its SHA-256 {is_not} the declared one"
            yield Problem(None, f"files/{number}/verified", message, _CONVERT_AGAIN)


def _check_source(rows: pl.DataFrame, name: str) -> Iterator[Problem]:
    strange = rows.with_row_index("row").filter(pl.col("source") != name)
    message = f"is not the source of the manifest, {shown(name)}"
    return row_problems(strange, "source", message, _CONVERT_AGAIN, quoted=True)


def _check_facts(manifest: dict[str, Any], facts: Mapping[str, Any]) -> Iterator[Problem]:
    """Check the counts of the manifest against the annotations and the expected counts."""
    counts, recorded = facts["counts"], _section(manifest, "counts")
    for name, found in counts.items():
        if recorded.get(name) != found:
            message = f"{recorded.get(name)}, but the annotations give {found}"
            yield Problem(None, f"counts/{name}", message, _CONVERT_AGAIN)
    for name in ("dropped", "agreement", "hygiene"):
        if manifest.get(name, {}) != facts[name]:
            yield Problem(None, name, "does not follow from the annotations", _CONVERT_AGAIN)
    files = manifest["files"]
    # Changed texts, kept equal texts and a slice change the counts.
    changes = (manifest["normalised"], "slice" in manifest, manifest.get("keep_equal"))
    is_redacted = "redacted" in _section(manifest, "contacts")
    if files and all(file["verified"] for file in files) and not (any(changes) or is_redacted):
        for name, expected in (manifest["source"]["expected"] or {}).items():
            if name in counts and counts[name] != expected:
                message = f"{counts[name]}, but the source expects {expected}"
                yield Problem(None, f"counts/{name}", message, _CONVERT_AGAIN)
