"""Histories of made-up trainings, for tests of what reads them."""

from collections.abc import Sequence
from pathlib import Path

from nnd.metric.train.history import HistoryEntry, Point, write_history


def entry(step: int, rate: float | None = 0.5, **by: float | None) -> HistoryEntry:
    """An entry of 100 tests, with intervals of ten points to either side."""
    return HistoryEntry(
        step=step,
        epoch=step / 100,
        overall=point(rate),
        column="error_category",
        by={category: point(each) for category, each in by.items()},
        seconds=1.0,
        training_seconds=3.0,
        signature=f"nnd|v:0|model:toy@{step}|data:made_up@1|protocol:native|template:default|n:100",
    )


def point(rate: float | None) -> Point:
    if rate is None:
        return Point(None, 0, None)
    return Point(rate, 100, (round(max(0.0, rate - 0.1), 6), round(min(1.0, rate + 0.1), 6)))


def write(path: Path, entries: Sequence[HistoryEntry]) -> Path:
    write_history(path, entries)
    return path
