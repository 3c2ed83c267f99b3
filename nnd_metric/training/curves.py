"""The curves of training runs that were watched: a figure, and the numbers in it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nnd.metric.data import OVERALL
from nnd.metric.drawing import png, svg_file
from nnd.metric.training.figure import training_curves
from nnd.metric.training.history import HISTORY, Entry, line_of, read_history, share_of_time
from nnd.schemas import ScoringError, write_whole

_WRITERS = {".svg": svg_file, ".png": png}


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


@dataclass(frozen=True, slots=True)
class Curves:
    """Several runs side by side.

    Attributes:
        runs: The runs.
        categories: What is shown of them: "overall" first.
        notes: What to know before comparing them, a sentence each.
    """

    runs: tuple[Run, ...]
    categories: tuple[str, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {
            "runs": [run.to_dict(self.categories) for run in self.runs],
            "notes": list(self.notes),
        }


def curve(
    histories: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    categories: Sequence[str] = (),
) -> Curves:
    """Draw pass rates over training steps, a panel for all tests and for each category.

    Args:
        histories: Files that `NNDCallback` wrote; several are laid over each other.
        out: The figure, .svg or .png.
        categories: Which categories to show beside all tests; none means all there are.

    Returns:
        What was drawn.

    Raises:
        ScoringError: If a history cannot be read or is empty or named twice, there is no such
            category, or `out` is of another kind.
    """
    paths = [
        Path(each) for each in ([histories] if isinstance(histories, str | Path) else histories)
    ]
    target = Path(out)
    if target.suffix not in _WRITERS:
        raise ScoringError(f"{out}: a figure is .svg or .png; name such a file with --out")
    found = _read(paths, categories)
    lines = {
        category: [line_of(run.entries, category) for run in found.runs]
        for category in found.categories
    }
    drawing = training_curves([run.name for run in found.runs], lines)
    write_whole(target, _WRITERS[target.suffix](drawing))
    return found


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
        raise ScoringError(f'there is no category "{unknown[0]}"; known: {", ".join(known)}')
    shown = list(dict.fromkeys(categories or known))
    shown = [OVERALL, *(category for category in shown if category != OVERALL)]
    return Curves(tuple(runs), tuple(shown), tuple(_notes(runs)))


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
