"""Running conversions in a separate process (`child`, in a `sandbox`) with a time limit."""

import itertools
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from nnd.converters.check_source import child
from nnd.converters.check_source.reading import Reading
from nnd.converters.check_source.sandbox import Sandbox, clean_environment, find_sandbox
from nnd.schemas import polars_schema

LONGEST_S = 900.0
"""Seconds after which a conversion is ended."""

_LATE = "was ended"


def _no_references() -> pl.DataFrame:
    return pl.DataFrame(schema=polars_schema("reference"))


@dataclass(frozen=True, slots=True)
class Run:
    """The result of converting a reading.

    Attributes:
        annotations: Its rows, those that source.yaml does not know included; None where it came to
            none; and, apart, those of references.
        files: Digests of the files that were read.
        oddities: What the converter reported.
        error: Why it gave no rows, or None.
        refused: What the converter wanted and did not get: connections, other programs, native
            code, changing files of others, and, after `import: `, reading while it is imported.
        seconds: Processor time.
        peak_bytes: Upper bound of the memory in use.
        sandbox: The sandbox, in words.
        is_late: Whether it exceeded the time limit.
    """

    reading: Reading
    annotations: pl.DataFrame | None = None
    references: pl.DataFrame = field(default_factory=_no_references)
    files: list[dict[str, Any]] = field(default_factory=list)
    oddities: list[str] = field(default_factory=list)
    error: str | None = None
    refused: list[str] = field(default_factory=list)
    seconds: float = 0.0
    peak_bytes: int = 0
    sandbox: str = ""
    is_late: bool = False

    @property
    def label(self) -> str:
        """Its name in messages."""
        return self.reading.label


def run_readings(readings: Sequence[Reading]) -> list[Run]:
    """Convert readings of one source one after the other in one process."""
    with TemporaryDirectory(prefix="nnd-check-") as folder:
        place = Path(folder)
        child.write_jobs(readings, place)
        sandbox = find_sandbox(place)
        end = _run_child(place, sandbox, LONGEST_S) or "there is no report"
        path = place / "reports.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        none = {"error": end, "is_late": end.startswith(_LATE)}
        reports = itertools.chain(map(json.loads, lines), itertools.repeat(none))
        return [
            read_report(reading, place, number, report, sandbox.description)
            for number, (reading, report) in enumerate(zip(readings, reports, strict=False))
        ]


def _run_child(place: Path, sandbox: Sandbox, longest_s: float) -> str | None:
    """Return how the process failed, or None if it finished."""
    home, work = place / "home", place / "work"
    home.mkdir()
    work.mkdir()
    try:
        done = subprocess.run(  # noqa: S603 - our own module
            [*sandbox.command, sys.executable, "-m", child.__name__, str(place)],
            cwd=work,
            env=clean_environment(home, work),
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=longest_s,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return f"{_LATE} after {longest_s:g} s"
    if done.returncode == 0:
        return None
    last = (done.stderr.strip().splitlines() or ["without a message"])[-1]
    return f"the process ended with {done.returncode}: {last}"


def read_report(
    reading: Reading, place: Path, number: int, report: dict[str, Any], sandbox: str
) -> Run:
    """Return a report of `child` as a Run, with the rows that it wrote to `place`."""
    if report["error"] is not None:
        return Run(reading, **report, sandbox=sandbox)
    annotations = pl.read_parquet(place / f"{number}.parquet")
    references = pl.read_parquet(place / f"{number}.references.parquet")
    return Run(reading, annotations, references, **report, sandbox=sandbox)
