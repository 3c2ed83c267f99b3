"""Curves of watched trainings: a figure and its numbers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from nnd.metric.data import OVERALL
from nnd.metric.numbers import Flips, Result, percent
from nnd.metric.train.checkpoint_history import read_trainings
from nnd.metric.train.history import HISTORY, Entry, Point, line_of, read_history, share_of_time
from nnd.schemas import ScoringError, did_you_mean, has_mark, plain, record_frame, replace_own

if TYPE_CHECKING:
    from rich.table import Table

    from nnd.metric.show import Drawing

_FORMATS = (".svg", ".png")
_COLUMNS = ("run", "category", "step", "n", "pass_rate", "low", "high")


@dataclass(frozen=True, slots=True)
class Run:
    """One training run.

    Attributes:
        name: Its name in the figure.
        history: Its history file, or the run with the scores of its checkpoints.
        entries: The scorings during training.
        change: Changes of verdicts from the first to the last checkpoint; None if unknown.
    """

    name: str
    history: Path
    entries: tuple[Entry, ...]
    change: Flips | None = None

    def to_dict(self, categories: Sequence[str]) -> dict[str, Any]:
        """Return plain Python values, with the points of some categories."""
        return {
            "name": self.name,
            "history": str(self.history),
            "share_of_time": share_of_time(self.entries) if self.change is None else None,
            "signature": self.entries[-1].signature,
            "change": None if self.change is None else self.change.to_dict(),
            "points": [
                {"category": category, "step": step, **rate.to_dict(), "wilson": plain(rate.wilson)}
                for category in categories
                for step, rate in line_of(self.entries, category)
            ],
        }


@dataclass(frozen=True, slots=True, repr=False)
class Curves(Result):
    """Curves of several runs.

    Attributes:
        runs: The runs.
        categories: The shown categories, "overall" first.
        notes: Caveats for comparing them, a sentence each.
    """

    runs: tuple[Run, ...]
    categories: tuple[str, ...]
    notes: tuple[str, ...]

    def headline(self) -> str:
        """Return the last pass rate of every run, over all tests."""
        return f"{'; '.join(_end(run) for run in self.runs)}."

    def table(self) -> "Table":
        """Return the first and the last pass rate of each category of each run."""
        from nnd.metric.show import curve_table  # noqa: PLC0415 - rich is for people only

        return curve_table(self.to_dict()["runs"])

    def remarks(self) -> tuple[str, ...]:
        """Return the differences of checkpoints, and caveats for comparing runs."""
        changes = [
            _change(run) for run in self.runs if run.change is not None and len(run.entries) > 1
        ]
        return (*changes, *self.notes)

    def details(self) -> list[str]:
        """Return the time of scoring, and the signature of each run."""
        times = [
            f"{run.name}: scoring took {percent(share_of_time(run.entries))} % of the training time"
            for run in self.runs
            if run.change is None
        ]
        return [*times, *(run.entries[-1].signature for run in self.runs)]

    def drawing(self) -> "Drawing":
        """Return pass rates over steps, a panel for all tests and for each category."""
        from nnd.metric.train.curve_figure import (  # noqa: PLC0415 - as is matplotlib
            training_curves,
        )

        lines = {
            category: [line_of(run.entries, category) for run in self.runs]
            for category in self.categories
        }
        return training_curves([run.name for run in self.runs], lines)

    def to_frame(self) -> pl.DataFrame:
        """Return a row per run, category and step.

        Returns:
            run, category, step, n, pass_rate, low and high (as in `rate_frame`).
        """
        rows = (
            ({"run": run.name, "category": category, "step": step}, rate)
            for run in self.runs
            for category in self.categories
            for step, rate in line_of(run.entries, category)
        )
        return record_frame(_COLUMNS, rows, Point, Entry)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {
            "runs": [run.to_dict(self.categories) for run in self.runs],
            "notes": list(self.notes),
        }


def curve(
    histories: str | Path | Sequence[str | Path],
    out: str | Path | None = None,
    *,
    categories: Sequence[str] = (),
) -> Curves:
    """Draw pass rates over training steps, a panel for all tests and for each category.

    Args:
        histories: Files that `NNDCallback` wrote, and folders that `nnd evaluate --checkpoints`
            wrote; several are drawn in the same figure.
        out: File for the figure, .svg or .png, new or drawn by nnd; None means it is not written.
        categories: Categories to show in addition to all tests; empty means all.

    Returns:
        The curves.

    Raises:
        ScoringError: If a history cannot be read or is empty or named twice, a run holds no
            checkpoints, a category is unknown, or `out` is not an .svg or .png.
        NNDError: If `out` is a file that nnd did not draw, or that was changed since.
    """
    paths = [
        Path(each) for each in ([histories] if isinstance(histories, str | Path) else histories)
    ]
    if out is not None and Path(out).suffix not in _FORMATS:
        raise ScoringError(f"{out}: a figure is .svg or .png; name such a file with --out")
    curves = _read(paths, categories)
    if out is not None:
        _write(curves.drawing(), Path(out))
    return curves


def _write(drawing: "Drawing", path: Path) -> None:
    from nnd.metric.show import png, svg_file  # noqa: PLC0415 - matplotlib loads slowly

    with replace_own(path, has_mark) as fresh:
        fresh.write_bytes(svg_file(drawing) if path.suffix == ".svg" else png(drawing))


def _read(paths: Sequence[Path], categories: Sequence[str]) -> Curves:
    twice = [path for path in paths if paths.count(path) > 1]
    if twice or not paths:
        raise ScoringError(
            f"{twice[0]}: named twice; name each history once"
            if twice
            else "no history was given; name at least one"
        )
    runs = _named([run for path in paths for run in _read_runs(path)])
    known = sorted({category for run in runs for entry in run.entries for category in entry.by})
    unknown = [category for category in categories if category not in (OVERALL, *known)]
    if unknown:
        raise ScoringError(
            f'unknown category "{unknown[0]}"{did_you_mean(unknown[0], known)}; known: '
            f"{', '.join(known)}"
        )
    shown = list(dict.fromkeys(categories or known))
    shown = [OVERALL, *(category for category in shown if category != OVERALL)]
    return Curves(tuple(runs), tuple(shown), tuple(_notes(runs)))


def _end(run: Run) -> str:
    last = run.entries[-1]
    rate = "none" if last.overall.pass_rate is None else f"{percent(last.overall.pass_rate)} %"
    return f"{run.name} passes {rate} of {last.overall.n:,} tests at step {last.step:,}"


def _change(run: Run) -> str:
    found = run.change
    if found is None or found.difference is None or found.flipped is None:
        return f"{run.name}: no test was scored."
    bounds = found.interval
    interval = "" if bounds is None else f" [{100 * bounds[0]:+.1f}, {100 * bounds[1]:+.1f}]"
    return (
        f"{run.name}: {100 * found.difference:+.1f} points{interval} from step "
        f"{run.entries[0].step:,} to step {run.entries[-1].step:,}; "
        f"{percent(found.flipped)} % of the verdicts change."
    )


def _read_runs(path: Path) -> list[Run]:
    """Return the run of a history, or the runs of a folder's checkpoints, with full names."""
    if path.is_dir():
        return [Run(each.name, path, each.entries, each.change) for each in read_trainings(path)]
    entries = read_history(path)
    if not entries:
        raise ScoringError(
            f"{path}: the history is empty, because training has not begun; name another one"
        )
    return [Run(str(path), path, tuple(entries))]


def _named(runs: Sequence[Run]) -> list[Run]:
    """Use short names for runs if they are distinct."""
    short = [_short_name(run) for run in runs]
    return [
        replace(run, name=name) if short.count(name) == 1 else run
        for name, run in zip(short, runs, strict=True)
    ]


def _short_name(run: Run) -> str:
    """Return the folder of a run's checkpoints, or of a history with the default name."""
    path = run.history
    if run.change is not None:
        return Path(run.name).name or path.resolve().name
    return path.resolve().parent.name if path.name == HISTORY else path.stem


def _notes(runs: Sequence[Run]) -> Iterator[str]:
    first = runs[0]
    for run in runs[1:]:
        if _scored(run) != _scored(first):
            yield (
                f"{first.name} and {run.name} were not scored on the same pairs in the same way: "
                "their curves cannot be compared"
            )


def _scored(run: Run) -> list[str]:
    """Return the properties that comparable runs share; models may differ."""
    names = ("data:", "protocol:", "template:", "n:")
    return [part for part in run.entries[-1].signature.split("|") if part.startswith(names)]
