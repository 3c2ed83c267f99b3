"""The curves of training runs that were watched: a figure, and the numbers in it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from nnd.metric.data import OVERALL
from nnd.metric.drawing import Pictured
from nnd.metric.statistics import percent
from nnd.metric.training.history import HISTORY, Entry, line_of, read_history, share_of_time
from nnd.schemas import ScoringError, did_you_mean, replace_own

if TYPE_CHECKING:
    from rich.table import Table

    from nnd.metric.drawing import Drawing

_FORMATS = (".svg", ".png")
_SCHEMA = {
    "run": pl.String,
    "category": pl.String,
    "step": pl.Int64,
    "n": pl.Int64,
    "pass_rate": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
}


@dataclass(frozen=True, slots=True)
class Run:
    """One training run.

    Attributes:
        name: What it is called in the figure.
        history: Its history file.
        entries: What was found on the way.
    """

    name: str
    history: Path
    entries: tuple[Entry, ...]

    def to_dict(self, categories: Sequence[str]) -> dict[str, Any]:
        """Return plain Python values, with the points of some categories."""
        return {
            "name": self.name,
            "history": str(self.history),
            "share_of_time": share_of_time(self.entries),
            "signature": self.entries[-1].signature,
            "points": [
                {"category": category, "step": step, **rate.to_dict()}
                for category in categories
                for step, rate in line_of(self.entries, category)
            ],
        }


@dataclass(frozen=True, slots=True, repr=False)
class Curves(Pictured):
    """Several runs side by side.

    Attributes:
        runs: The runs.
        categories: What is shown of them: "overall" first.
        notes: What to know before comparing them, a sentence each.
    """

    runs: tuple[Run, ...]
    categories: tuple[str, ...]
    notes: tuple[str, ...]

    def headline(self) -> str:
        """Return the last pass rate of every run, over all tests."""
        return f"{'; '.join(_end(run) for run in self.runs)}."

    def table(self) -> "Table":
        """Return where each category of each run began and ended."""
        from nnd.metric.tables import curve_table  # noqa: PLC0415 - rich is for people only

        return curve_table(self.to_dict()["runs"])

    def remarks(self) -> tuple[str, ...]:
        """Return what to know before comparing them."""
        return self.notes

    def details(self) -> list[str]:
        """Return how long scoring took, and how each run was scored."""
        times = [
            f"{run.name}: scoring took {percent(share_of_time(run.entries))} % of the training time"
            for run in self.runs
        ]
        return [*times, *(run.entries[-1].signature for run in self.runs)]

    def drawing(self) -> "Drawing":
        """Return pass rates over steps, a panel for all tests and for each category."""
        from nnd.metric.training.figure import training_curves  # noqa: PLC0415 - as is matplotlib

        lines = {
            category: [line_of(run.entries, category) for run in self.runs]
            for category in self.categories
        }
        return training_curves([run.name for run in self.runs], lines)

    def to_frame(self) -> pl.DataFrame:
        """Return a row per run, category and step.

        Returns:
            run, category, step, n, pass_rate, low and high (as `results.rate_frame`).
        """
        rows = [
            (
                *(run.name, category, step, rate.n, rate.pass_rate),
                *(rate.interval or (None, None)),
            )
            for run in self.runs
            for category in self.categories
            for step, rate in line_of(run.entries, category)
        ]
        return pl.DataFrame(rows, _SCHEMA, orient="row")

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
        histories: Files that `NNDCallback` wrote; several are laid over each other.
        out: File for the figure, .svg or .png, new or drawn by nnd; None means it is not written.
        categories: Which categories to show beside all tests; none means all there are.

    Returns:
        What was drawn.

    Raises:
        ScoringError: If a history cannot be read or is empty or named twice, there is no such
            category, or `out` is of another kind.
        NNDError: If `out` is a file that nnd did not draw.
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
    from nnd.metric.drawing import is_ours, png, svg_file  # noqa: PLC0415 - matplotlib loads slowly

    with replace_own(path, is_ours) as fresh:
        fresh.write_bytes(svg_file(drawing) if path.suffix == ".svg" else png(drawing))


def _read(paths: Sequence[Path], categories: Sequence[str]) -> Curves:
    twice = [path for path in paths if paths.count(path) > 1]
    if twice or not paths:
        raise ScoringError(
            f"{twice[0]}: is named twice" if twice else "there is no history to draw"
        )
    runs = []
    for name, path in zip(_names(paths), paths, strict=True):
        entries = read_history(path)
        if not entries:
            raise ScoringError(f"{path}: is empty: training has not begun; name another history")
        runs.append(Run(name, path, tuple(entries)))
    known = sorted({category for run in runs for entry in run.entries for category in entry.by})
    unknown = [category for category in categories if category not in (OVERALL, *known)]
    if unknown:
        raise ScoringError(
            f'there is no category "{unknown[0]}"{did_you_mean(unknown[0], known)}; known: '
            f"{', '.join(known)}"
        )
    shown = list(dict.fromkeys(categories or known))
    shown = [OVERALL, *(category for category in shown if category != OVERALL)]
    return Curves(tuple(runs), tuple(shown), tuple(_notes(runs)))


def _end(run: Run) -> str:
    last = run.entries[-1]
    rate = "none" if last.overall.pass_rate is None else f"{percent(last.overall.pass_rate)} %"
    return f"{run.name} passes {rate} of {last.overall.n:,} tests at step {last.step:,}"


def _names(paths: Sequence[Path]) -> list[str]:
    """Call a run by its folder where the file has the usual name, if that tells runs apart."""
    short = [path.resolve().parent.name if path.name == HISTORY else path.stem for path in paths]
    return [
        name if short.count(name) == 1 else str(path)
        for name, path in zip(short, paths, strict=True)
    ]


def _notes(runs: Sequence[Run]) -> Iterator[str]:
    first = runs[0]
    for run in runs[1:]:
        if _scored(run) != _scored(first):
            yield (
                f"{first.name} and {run.name} were not scored on the same pairs in the same way: "
                "their curves cannot be compared"
            )


def _scored(run: Run) -> list[str]:
    """Return what two runs must share for their rates to be compared; models may differ."""
    names = ("data:", "protocol:", "template:", "n:")
    return [part for part in run.entries[-1].signature.split("|") if part.startswith(names)]
