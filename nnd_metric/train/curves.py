"""Curves of watched trainings: a figure and its numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from nnd.metric.data import OVERALL
from nnd.metric.numbers import Result, percent
from nnd.metric.train.checkpoint_history import read_trainings
from nnd.metric.train.history import (
    HISTORY,
    HistoryEntry,
    Point,
    Training,
    read_history,
    share_of_time,
)
from nnd.schemas import ScoringError, did_you_mean, has_mark, record_frame, replace_own

if TYPE_CHECKING:
    from rich.table import Table

    from nnd.metric.show import Drawing

_FORMATS = (".svg", ".png")
_COLUMNS = ("run", "category", "step", "n", "pass_rate", "low", "high")


@dataclass(frozen=True, slots=True, repr=False)
class Curves(Result):
    """Curves of several runs.

    Attributes:
        runs: The runs.
        categories: The shown categories, "overall" first.
        notes: Caveats for comparing them, a sentence each.
    """

    runs: tuple[Training, ...]
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
            category: [run.line_of(category) for run in self.runs] for category in self.categories
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
            for step, rate in run.line_of(category)
        )
        return record_frame(_COLUMNS, rows, Point, HistoryEntry)

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
        from nnd.metric.show import png, svg_file  # noqa: PLC0415 - matplotlib loads slowly

        drawing, encode = curves.drawing(), svg_file if Path(out).suffix == ".svg" else png
        with replace_own(Path(out), has_mark) as fresh:
            fresh.write_bytes(encode(drawing))
    return curves


def _read(paths: Sequence[Path], categories: Sequence[str]) -> Curves:
    if not paths:
        raise ScoringError("no history was given; name at least one")
    for path in paths:
        if paths.count(path) > 1:
            raise ScoringError(f"{path}: named twice; name each history once")
    runs = [run for path in paths for run in _read_runs(path)]
    short = [*map(_short_name, runs)]
    runs = [
        replace(run, name=name) if short.count(name) == 1 else run
        for run, name in zip(runs, short, strict=True)
    ]
    known = sorted({category for run in runs for entry in run.entries for category in entry.by})
    unknown = [category for category in categories if category not in (OVERALL, *known)]
    if unknown:
        raise ScoringError(
            f'unknown category "{unknown[0]}"{did_you_mean(unknown[0], known)}; known: '
            f"{', '.join(known)}"
        )
    shown = dict.fromkeys([OVERALL, *(categories or known)])
    return Curves(tuple(runs), tuple(shown), tuple(_notes(runs)))


def _end(run: Training) -> str:
    last = run.entries[-1]
    rate = "none" if last.overall.pass_rate is None else f"{percent(last.overall.pass_rate)} %"
    return f"{run.name} passes {rate} of {last.overall.n:,} tests at step {last.step:,}"


def _change(run: Training) -> str:
    change = run.change
    if change is None or change.difference is None or change.flipped is None:
        return f"{run.name}: no test was scored."
    bounds = change.interval
    interval = "" if bounds is None else f" [{100 * bounds[0]:+.1f}, {100 * bounds[1]:+.1f}]"
    return (
        f"{run.name}: {100 * change.difference:+.1f} points{interval} from step "
        f"{run.entries[0].step:,} to step {run.entries[-1].step:,}; "
        f"{percent(change.flipped)} % of the verdicts change."
    )


def _read_runs(path: Path) -> list[Training]:
    """Return the run of a history, or the runs of a folder's checkpoints, with full names."""
    if path.is_dir():
        return read_trainings(path)
    entries = read_history(path)
    if not entries:
        raise ScoringError(
            f"{path}: the history is empty, because training has not begun; name another one"
        )
    return [Training(str(path), path, tuple(entries))]


def _short_name(run: Training) -> str:
    """Return the folder of a run's checkpoints, or of a history with the default name."""
    path = run.history
    if run.change is not None:
        return Path(run.name).name or path.resolve().name
    return path.resolve().parent.name if path.name == HISTORY else path.stem


def _notes(runs: Sequence[Training]) -> list[str]:
    return [
        f"{runs[0].name} and {run.name} were not scored on the same pairs in the same way: "
        "their curves cannot be compared"
        for run in runs[1:]
        if _scored(run) != _scored(runs[0])
    ]


def _scored(run: Training) -> list[str]:
    """Return the properties that comparable runs share; models may differ."""
    names = ("data:", "protocol:", "template:", "n:")
    return [part for part in run.entries[-1].signature.split("|") if part.startswith(names)]
