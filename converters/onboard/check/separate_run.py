"""Running conversions in a separate process, in a sandbox and within limits.

    python -m nnd.converters.onboard.check.separate_run PLACE

is that process. PLACE/jobs.pickle lists the readings to convert. For each, the annotations are
written to `N.parquet`, the references to `N.references.parquet`, and a line to `reports.jsonl`.
"""

import contextlib
import itertools
import json
import pickle
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import polars as pl

from nnd.converters.folder import Conversion, convert_again
from nnd.converters.onboard.check.file_changes import Change, Changer
from nnd.converters.onboard.check.process_limits import (
    ENDED,
    NONE,
    Limits,
    Sandbox,
    clean_environment,
    find_sandbox,
    run_limited,
)
from nnd.converters.onboard.check.source_readings import Reading
from nnd.converters.pairs import annotation_frame, reference_frame
from nnd.converters.source import Files, Source, choose_converter
from nnd.schemas import NNDError, nnd_version, polars_schema

LIMITS = Limits()
"""What converting all readings of a source may use."""

_MOST_REPORT_BYTES = 64 * 2**20
_JOBS, _REPORTS = "jobs.pickle", "reports.jsonl"


def _no_rows(of: Literal["annotation", "reference"]) -> pl.DataFrame:
    return pl.DataFrame(schema=polars_schema(of))


@dataclass(frozen=True)
class ReadingRun:
    """The result of converting a reading."""

    reading: Reading
    annotations: pl.DataFrame = field(default_factory=lambda: _no_rows("annotation"))
    references: pl.DataFrame = field(default_factory=lambda: _no_rows("reference"))
    files: list[dict[str, Any]] = field(default_factory=list)  # digests of the files that were read
    oddities: list[str] = field(default_factory=list)  # what the converter reported
    # The files whose content was changed, as the reading asks.
    changed: list[str] = field(default_factory=list)
    error: str | None = None  # why it gave no rows, or None
    seconds: float = 0.0  # processor time
    sandbox: Sandbox = NONE
    is_ended: bool = False  # whether it was ended because it exceeded a limit

    @property
    def label(self) -> str:
        """Its name in messages."""
        return self.reading.label

    @property
    def source(self) -> Source:
        """The source in its set and variant."""
        return self.reading.source

    @cached_property
    def conversion(self) -> Conversion:
        """What `nnd convert` makes of the annotations; raises a SourceError without any pair."""
        facts = {k: v for k, v in self.source.facts.items() if k not in ("sets", "variants")}
        manifest = {
            "nnd_version": nnd_version(),
            "source": facts,
            "files": self.files,
            "oddities": self.oddities,
            "normalised": [],
        }
        return convert_again(self.annotations, self.references, manifest)


def run_readings(readings: Sequence[Reading]) -> list[ReadingRun]:
    """Convert readings of one source one after the other in one process."""
    with TemporaryDirectory(prefix="nnd-check-", ignore_cleanup_errors=True) as folder:
        place = Path(folder)
        home, work = place / "home", place / "work"
        home.mkdir()
        work.mkdir()
        (place / _JOBS).write_bytes(pickle.dumps([_with_whole_paths(one) for one in readings]))
        sandbox = find_sandbox(place)
        command = [*sandbox.command, sys.executable, "-m", __name__, str(place)]
        end = run_limited(command, LIMITS, cwd=work, env=clean_environment(home, work))
        none = {"error": end or "there is no report", "is_ended": str(end).startswith(ENDED)}
        found = itertools.chain(_read_reports(place), itertools.repeat(none))
        return [
            read_report(reading, place, number, report, sandbox)
            for number, (reading, report) in enumerate(zip(readings, found, strict=False))
        ]


def _with_whole_paths(reading: Reading) -> Reading:
    source = Source(reading.source.folder.absolute(), reading.source.facts)
    return replace(reading, source=source, origin=reading.origin.absolute())


def _read_reports(place: Path) -> Iterator[dict[str, Any]]:
    path = place / _REPORTS
    if _is_plain(path) and path.stat().st_size <= _MOST_REPORT_BYTES:
        with contextlib.suppress(ValueError, RecursionError):
            yield from map(json.loads, path.read_bytes().splitlines())


def read_report(
    reading: Reading, place: Path, number: int, report: dict[str, Any], sandbox: Sandbox
) -> ReadingRun:
    """Return a report as a ReadingRun, with the rows that the process wrote to `place`.

    A convert.py may write there too, so none of it is sure to be right.
    """
    paths = [place / name for name in _frame_names(number)]
    with contextlib.suppress(TypeError, KeyError, OSError, pl.exceptions.PolarsError):
        if report["error"] is not None:
            return ReadingRun(reading, **report, sandbox=sandbox)
        if all(map(_is_plain, paths)):
            annotations, references = map(pl.read_parquet, paths)
            return ReadingRun(reading, annotations, references, **report, sandbox=sandbox)
    return ReadingRun(reading, error="the process did not write a valid report", sandbox=sandbox)


def _frame_names(number: int) -> tuple[str, str]:
    return f"{number}.parquet", f"{number}.references.parquet"


def _is_plain(path: Path) -> bool:
    """Say whether a path is a file, and not a link or a pipe, which might never end."""
    return path.is_file() and not path.is_symlink()


def reports(readings: Sequence[Reading], place: Path) -> Iterator[dict[str, Any]]:
    """Convert readings, writing rows to `place`; yield a report of each, as in `ReadingRun`."""
    samples: dict[Path, dict[tuple[object, ...], Any]] = {}
    for number, reading in enumerate(readings):
        began = time.process_time()
        change = Changer(reading.change or Change(), samples.setdefault(reading.origin, {}))
        files = Files(reading.source, reading.origin, change=change if reading.change else None)
        report: dict[str, Any] = {"error": None}
        try:
            for frame, name in zip(
                _convert(reading.source, files), _frame_names(number), strict=True
            ):
                frame.write_parquet(place / name)
            report |= {"files": files.digests(), "oddities": files.oddities}
        except NNDError as error:
            report["error"] = str(error)
        seconds = time.process_time() - began
        yield report | {"changed": sorted(change.files), "seconds": seconds}


def _convert(source: Source, files: Files) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return annotations and references as `convert` does."""
    with contextlib.redirect_stdout(sys.stderr):
        converter = choose_converter(source)
        annotations = annotation_frame(source, converter.annotations(files))
        references = converter.references(files)
        return annotations, reference_frame(source, references, annotations, files.report)


def main(place: Path) -> None:
    """Convert the readings that a folder lists, and write the results there."""
    readings = pickle.loads((place / _JOBS).read_bytes())  # noqa: S301 - `run_readings` wrote it
    with (place / _REPORTS).open("w", encoding="utf-8") as file:
        for report in reports(readings, place):
            file.write(json.dumps(report) + "\n")
            file.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
