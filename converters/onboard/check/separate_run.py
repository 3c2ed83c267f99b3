"""Running conversions in a separate process (`child`), in a sandbox and within `limits`."""

import contextlib
import itertools
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import polars as pl

from nnd.converters.folder import Conversion, convert_again
from nnd.converters.onboard.check import child_process as child
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
from nnd.converters.source import Source
from nnd.schemas import nnd_version, polars_schema

LIMITS = Limits()
"""What converting all readings of a source may use."""

_MOST_REPORT_BYTES = 64 * 2**20


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
        child.write_jobs(readings, place)
        sandbox = find_sandbox(place)
        command = [*sandbox.command, sys.executable, "-m", child.__name__, str(place)]
        end = run_limited(command, LIMITS, cwd=work, env=clean_environment(home, work))
        none = {"error": end or "there is no report", "is_ended": str(end).startswith(ENDED)}
        reports = itertools.chain(_read_reports(place), itertools.repeat(none))
        return [
            read_report(reading, place, number, report, sandbox)
            for number, (reading, report) in enumerate(zip(readings, reports, strict=False))
        ]


def _read_reports(place: Path) -> Iterator[dict[str, Any]]:
    path = place / child.REPORTS
    if _is_plain(path) and path.stat().st_size <= _MOST_REPORT_BYTES:
        with contextlib.suppress(ValueError):
            yield from map(json.loads, path.read_bytes().splitlines())


def read_report(
    reading: Reading, place: Path, number: int, report: dict[str, Any], sandbox: Sandbox
) -> ReadingRun:
    """Return a report of `child` as a ReadingRun, with the rows that it wrote to `place`.

    A convert.py may write there too, so none of it is sure to be what `child` wrote.
    """
    paths = [place / name for name in child.frame_names(number)]
    with contextlib.suppress(TypeError, KeyError, OSError, pl.exceptions.PolarsError):
        if report["error"] is not None:
            return ReadingRun(reading, **report, sandbox=sandbox)
        if all(map(_is_plain, paths)):
            annotations, references = map(pl.read_parquet, paths)
            return ReadingRun(reading, annotations, references, **report, sandbox=sandbox)
    return ReadingRun(reading, error="the process did not write a valid report", sandbox=sandbox)


def _is_plain(path: Path) -> bool:
    """Say whether a path is a file, and not a link or a pipe, which might never end."""
    return path.is_file() and not path.is_symlink()
