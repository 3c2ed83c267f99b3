"""Curves of watched trainings: a figure and its numbers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from nnd.metric.numbers import ALL_AGREE, Result, percent, rate_and_interval
from nnd.metric.train.checkpoint_history import read_trainings
from nnd.metric.train.history import (
    HISTORY,
    HistoryEntry,
    Point,
    TrainingRun,
    read_history,
    share_of_time,
)
from nnd.schemas import (
    OVERALL,
    ScoringError,
    category_key,
    check_extra,
    check_known,
    has_mark,
    plain,
    record_frame,
    replace_own,
    text_table,
)

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
        categories: Keys of the shown categories, "overall" first.
        notes: Caveats for comparing them, a sentence each.
    """

    runs: tuple[TrainingRun, ...]
    categories: tuple[str, ...]
    notes: tuple[str, ...]

    def headline(self) -> str:
        """Return the last pass rate of every run, over all tests."""
        return f"{'; '.join(_end(run) for run in self.runs)}."

    def table(self) -> "Table":
        """Return the first and the last pass rate of each category of each run."""
        titles = ("run", "category", "steps", "first, %", "last, %", "tests")
        table = text_table(titles, right=titles[3:])
        for run, category, line in self._lines():
            ends = (line[0], line[-1])
            rates = [rate_and_interval(rate.pass_rate or 0, rate.interval) for _, rate in ends]
            steps = " to ".join(f"{step:,}" for step, _ in ends)
            table.add_row(run.name, category, steps, *rates, f"{line[-1][1].n:,}")
            if any("*" in rate for rate in rates):
                table.caption = ALL_AGREE
        return table

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
        check_extra("report", "matplotlib", "drawing curves")
        from nnd.metric.train.curve_figure import (  # noqa: PLC0415 - as is matplotlib
            training_curves,
        )

        return training_curves(self.runs, self.categories)

    def to_frame(self) -> pl.DataFrame:
        """Return a row per run, category and step.

        Returns:
            run, category, step, n, pass_rate, low and high (as in `rate_frame`).
        """
        rows = (
            ({"run": run.name, "category": category, "step": step}, rate)
            for run, category, line in self._lines()
            for step, rate in line
        )
        return record_frame(_COLUMNS, rows, Point, HistoryEntry)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        runs = [
            {
                "name": run.name,
                "history": str(run.history),
                "share_of_time": share_of_time(run.entries) if run.change is None else None,
                "signature": run.entries[-1].signature,
                "change": None if run.change is None else run.change.to_dict(),
                "points": [
                    {"category": category, "step": step}
                    | rate.to_dict()
                    | {"wilson": plain(rate.wilson)}
                    for category in self.categories
                    for step, rate in run.line(category)
                ],
            }
            for run in self.runs
        ]
        return {"runs": runs, "notes": list(self.notes)}

    def _lines(self) -> Iterator[tuple[TrainingRun, str, list[tuple[int, Point]]]]:
        """Yield run, category, and the steps with their rates, unless there are none."""
        for run in self.runs:
            for category in self.categories:
                if line := run.line(category):
                    yield run, category, line


def curve(
    histories: str | Path | Sequence[str | Path],
    out: str | Path | None = None,
    *,
    categories: Sequence[str] = (),
) -> Curves:
    """Draw pass rates over training steps, by category.

    Args:
        histories: Files that `NNDCallback` wrote while training, or folders that
            `nnd evaluate --checkpoints` wrote; several are drawn in the same figure.
        out: The figure, .svg or .png. None means it is not written.
        categories: Category to show beside all tests. Empty means all.

    Returns:
        The curves.

    Raises:
        ScoringError: If a history cannot be read or is empty or named twice, a run holds no
            checkpoints, a category is unknown, or `out` is not an .svg or .png.
        NNDError: If `out` is a file that nnd did not draw, or that was changed since.

    Examples:
        nnd curve run-a/nnd_history.jsonl run-b/nnd_history.jsonl --out curve.png
        nnd curve scored --out curve.svg
    """
    paths = [
        Path(each) for each in ([histories] if isinstance(histories, str | Path) else histories)
    ]
    if out is not None and Path(out).suffix not in _FORMATS:
        raise ScoringError(
            "option.bad-value", "a figure is .svg or .png", out, "name such a file with --out"
        )
    curves = _read(paths, categories)
    if out is not None:
        from nnd.metric.show import png, svg_file  # noqa: PLC0415 - matplotlib loads slowly

        write = svg_file if Path(out).suffix == ".svg" else png
        with replace_own(Path(out), has_mark) as fresh:
            fresh.write_bytes(write(curves.drawing()))
    return curves


def _read(paths: Sequence[Path], categories: Sequence[str]) -> Curves:
    if not paths:
        raise ScoringError("input.missing", "no history was given")
    if twice := [path for path in paths if paths.count(path) > 1]:
        raise ScoringError("name.twice", "named twice", twice[0])
    runs = _named([run for path in paths for run in _read_runs(path)])
    names = sorted({category for run in runs for entry in run.entries for category in entry.by})
    known = [category_key(name) for name in names]
    check_known(
        "category", (each for each in categories if each != OVERALL), known, family=ScoringError
    )
    shown = dict.fromkeys([OVERALL, *(categories or known)])
    return Curves(tuple(runs), tuple(shown), tuple(_notes(runs)))


def _end(run: TrainingRun) -> str:
    last = run.entries[-1]
    rate = "none" if last.overall.pass_rate is None else f"{percent(last.overall.pass_rate)} %"
    return f"{run.name} passes {rate} of {last.overall.n:,} tests at step {last.step:,}"


def _change(run: TrainingRun) -> str:
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


def _read_runs(path: Path) -> list[TrainingRun]:
    """Return the run of a history, or the runs of a folder's checkpoints, with full names."""
    if path.is_dir():
        return [*read_trainings(path)]
    entries = read_history(path)
    if not entries:
        raise ScoringError(
            "train.history", "the history is empty, because training has not begun", path
        )
    return [TrainingRun(str(path), path, entries)]


def _named(runs: Sequence[TrainingRun]) -> list[TrainingRun]:
    """Use short names for runs if they are distinct."""
    short = [_short_name(run) for run in runs]
    return [
        replace(run, name=name) if short.count(name) == 1 else run
        for name, run in zip(short, runs, strict=True)
    ]


def _short_name(run: TrainingRun) -> str:
    """Return the folder of a run's checkpoints, or of a history with the default name."""
    path = run.history
    if run.change is not None:
        return Path(run.name).name or path.resolve().name
    return path.resolve().parent.name if path.name == HISTORY else path.stem


def _notes(runs: Sequence[TrainingRun]) -> Iterator[str]:
    first = runs[0]
    for run in runs[1:]:
        if _scored(run) != _scored(first):
            yield (
                f"{first.name} and {run.name} were not scored on the same pairs in the same way: "
                "their curves cannot be compared"
            )


def _scored(run: TrainingRun) -> list[str]:
    """Return the properties that comparable runs share; models may differ."""
    names = ("data:", "protocol:", "template:", "n:")
    return [part for part in run.entries[-1].signature.split("|") if part.startswith(names)]
