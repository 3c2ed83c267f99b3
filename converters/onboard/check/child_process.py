"""Runs the convert.py of a source in a process that `separate_run` starts.

    python -m nnd.converters.onboard.check.child_process PLACE [--sandboxed]

PLACE/jobs.pickle lists the readings to convert (`write_jobs`). For each, the annotations are
written to `N.parquet`, the references to `N.references.parquet`, and a line to `reports.jsonl`:
files, oddities, error, changed files, seconds, peak_bytes.
"""

import contextlib
import json
import pickle
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from nnd.converters import Annotation
from nnd.converters.onboard.check.file_changes import Change, Changer
from nnd.converters.onboard.check.process_limits import limit_files, limit_threads, peak_memory
from nnd.converters.onboard.check.source_readings import Reading
from nnd.converters.pairs import ANY_SYSTEM, annotation_frame, reference_frame
from nnd.converters.source import Files, Source, choose_converter
from nnd.schemas import NNDError

JOBS = "jobs.pickle"
REPORTS = "reports.jsonl"
SANDBOXED = "--sandboxed"


def frame_names(number: int) -> tuple[str, str]:
    """Return the names of the files of annotations and references of a reading."""
    return f"{number}.parquet", f"{number}.references.parquet"


def _run(source: Source, files: Files) -> Sequence[pl.DataFrame]:
    """Return annotations and references as `convert` does, but accept unknown names."""
    with contextlib.redirect_stdout(sys.stderr):
        converter = choose_converter(source)
        rows = list(converter.annotations(files))
        annotations = annotation_frame(_lenient(source, rows), rows)
        references = converter.references(files)
        return annotations, reference_frame(source, references, annotations, files.report)


def _lenient(source: Source, rows: Sequence[Annotation]) -> Source:
    """Return a source that accepts all names in its rows, since a check reports unknown ones."""
    found = [row for row in rows if isinstance(row, Annotation)]
    labels = {row.label: None for row in found if isinstance(row.label, str)}
    aspects = {row.aspect: "" for row in found if isinstance(row.aspect, str)}
    facts = {
        **source.facts,
        "systems": {**source.facts["systems"], ANY_SYSTEM: None},
        "taxonomy": {**labels, **source.taxonomy},
        "aspects": {**aspects, **source.facts["aspects"]},
        "empty_candidates": "keep",
    }
    return Source(source.folder, facts)


def reports(readings: Sequence[Reading], place: Path) -> Iterator[dict[str, Any]]:
    """Convert readings, writing rows to `place`; yield a report of each, as in `ReadingRun`."""
    samples: dict[Path, dict[tuple[object, ...], Any]] = {}
    for number, reading in enumerate(readings):
        began = time.process_time()
        change = Changer(reading.change or Change(), samples.setdefault(reading.origin, {}))
        files = Files(reading.source, reading.origin, change=change if reading.change else None)
        report: dict[str, Any] = {"error": None}
        try:
            frames = _run(reading.source, files)
            for frame, name in zip(frames, frame_names(number), strict=True):
                frame.write_parquet(place / name)
            report |= {"files": files.digests(), "oddities": files.oddities}
        except NNDError as error:
            report["error"] = str(error)
        yield report | {
            "changed": sorted(change.files),
            "seconds": time.process_time() - began,
            "peak_bytes": peak_memory(),
        }


def write_jobs(readings: Sequence[Reading], place: Path) -> None:
    """Write the readings to convert into a folder for `main`."""
    jobs = [
        replace(
            one,
            source=Source(one.source.folder.absolute(), one.source.facts),
            origin=one.origin.absolute(),
        )
        for one in readings
    ]
    (place / JOBS).write_bytes(pickle.dumps(jobs))


def main(place: Path, *options: str) -> None:
    """Convert the readings that a folder lists, and write the results there."""
    limit_files()
    if SANDBOXED in options:
        limit_threads()
    readings = pickle.loads((place / JOBS).read_bytes())  # noqa: S301 - `write_jobs` wrote it
    with (place / REPORTS).open("w", encoding="utf-8") as file:
        for report in reports(readings, place):
            file.write(json.dumps(report) + "\n")
            file.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
