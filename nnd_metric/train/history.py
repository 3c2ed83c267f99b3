"""The history of a training run: the result of every scoring, one JSON object per line."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from nnd.metric.data import SLICES, SliceColumn
from nnd.metric.numbers import Flips, PassRates, wilson
from nnd.schemas import (
    Amount,
    Count,
    Name,
    Record,
    SchemaError,
    ScoringError,
    Share,
    SourceError,
    category_key,
    category_of,
    find_change,
    load_json,
    read_lines,
    seal,
    write_whole,
)

HISTORY = "nnd_history.jsonl"
"""Default name of the file."""


@dataclass(frozen=True, slots=True)
class Point(Record):
    """A pass rate at one step.

    Attributes:
        pass_rate: Share of the tests passed, or None without tests.
        n: Tests.
        interval: 95 % interval over contexts, or None if fewer than two contexts have tests.
    """

    pass_rate: Share | None
    n: Count
    interval: tuple[Share, Share] | None

    @property
    def wilson(self) -> tuple[float, float] | None:
        """95 % Wilson interval (`Rate`), or None without tests."""
        return None if self.pass_rate is None else wilson(round(self.pass_rate * self.n), self.n)


@dataclass(frozen=True, slots=True)
class HistoryEntry(Record):
    """The scoring at one step of a training run.

    Attributes:
        step: Optimiser steps done.
        epoch: Passes over the training data done, or None if unknown.
        overall: Rate over distinct candidates.
        column: The column of the pairs with the categories.
        by: Category → rate over its pairs.
        seconds: Seconds that this scoring took.
        training_seconds: Seconds since the last scoring, or since training began.
        signature: Everything that decides the numbers, in one line; the model's version is the
            step.
    """

    step: Count
    epoch: Amount | None
    overall: Point
    column: SliceColumn
    by: Mapping[str, Point]
    seconds: Amount
    training_seconds: Amount
    signature: Name

    @classmethod
    def of(cls, rates: PassRates, step: int, signature: str, **times: float | None) -> Self:
        """Return the entry of the pass rates of a step; times are 0 unless they are given.

        The categories are those of the finest column that has several.
        """
        column = next((name for name in SLICES if len(rates.by[name]) > 1), SLICES[0])
        overall, *others = (
            Point(rate.pass_rate, rate.n, rate.interval)
            for rate in (rates.overall, *rates.by[column].values())
        )
        by = dict(zip(rates.by[column], others, strict=True))
        whole: dict[str, Any] = {"epoch": None, "seconds": 0.0, "training_seconds": 0.0} | times
        return cls(step=step, overall=overall, column=column, by=by, signature=signature, **whole)

    @property
    def recipe(self) -> str:
        """The signature without the model, which is the same during a run."""
        parts = self.signature.split("|")
        return "|".join(part for part in parts if not part.startswith("model:"))


@dataclass(frozen=True, slots=True)
class TrainingRun:
    """One training run.

    Attributes:
        name: Its name in the figure.
        history: Its history file, or the run with the scores of its checkpoints.
        entries: The scorings during training, in the order of the steps.
        change: Changes of verdicts from the first to the last checkpoint; None if unknown.
    """

    name: str
    history: Path
    entries: Sequence[HistoryEntry]
    change: Flips | None = None

    def line(self, category: str) -> list[tuple[int, Point]]:
        """Return step and rate of the category with a key, for the steps with tests of it."""
        name = category_of(category)
        rates = (
            (entry.step, entry.overall if name is None else entry.by.get(name))
            for entry in self.entries
        )
        return [(step, rate) for step, rate in rates if rate is not None and rate.n]


def read_history(path: str | Path) -> list[HistoryEntry]:
    """Read a history; an empty one has no entries."""
    path = Path(path)
    try:
        lines = list(read_lines(path))
    except SourceError as error:
        raise ScoringError("train.history", error.what, path) from error
    entries: list[HistoryEntry] = []
    for number, line in enumerate(lines, start=1):
        try:
            entry = _read_entry(load_json(line, path.name, with_nul=True))
        except (ValueError, AttributeError, SchemaError, SourceError) as error:
            reason = (
                f"{error.where}: {error.what}" if isinstance(error, SchemaError) else str(error)
            )
            raise ScoringError(
                "train.history",
                f"is not an entry of a history ({reason})",
                f"{path} line {number}",
                "delete it, or name a history that NNDCallback wrote",
            ) from error
        if entries and entry.step <= entries[-1].step:
            raise ScoringError(
                "train.history",
                f"step {entry.step} comes after step {entries[-1].step}; the file holds "
                "several runs",
                f"{path} line {number}",
                "split it into one file per run",
            )
        entries.append(entry)
    return entries


def write_history(path: Path, entries: Sequence[HistoryEntry]) -> None:
    """Write a history atomically; folders are made if needed."""
    lines = [json.dumps(seal(entry.to_dict()), ensure_ascii=False) for entry in entries]
    write_whole(path, "".join(f"{line}\n" for line in lines))


def share_of_time(entries: Sequence[HistoryEntry]) -> float:
    """Return the time of a run's scorings, as a share of its whole time."""
    scoring = sum(entry.seconds for entry in entries)
    whole = scoring + sum(entry.training_seconds for entry in entries)
    return scoring / whole if whole else 0.0


def log_of(entry: HistoryEntry) -> dict[str, float]:
    """Return the values of an entry that the Trainer logs.

    They are `nnd/pass_rate`, `nnd/<category>`, the seconds it took as `nnd/seconds`, and as
    `nnd/share_of_time` their share of the time since the last scoring. A category with one of these
    names is in quotes.
    """
    log: dict[str, float | None] = {"pass_rate": entry.overall.pass_rate}
    log |= {"seconds": entry.seconds, "share_of_time": share_of_time([entry])}
    by = {category_key(name, {*log}): rate.pass_rate for name, rate in entry.by.items()}
    return {f"nnd/{name}": value for name, value in (log | by).items() if value is not None}


def describe_cost(entries: list[HistoryEntry]) -> str:
    """Return the cost of a run's scorings in words."""
    seconds = sum(entry.seconds for entry in entries)
    return (
        f"{len(entries)} scorings of {entries[-1].overall.n:,} tests took {seconds:.1f} s, "
        f"{100 * share_of_time(entries):.1f} % of the time of training"
    )


def _read_entry(stored: Mapping[str, Any]) -> HistoryEntry:
    if problem := find_change(stored, HISTORY):
        raise ValueError(problem)
    entry = HistoryEntry.from_dict(stored)
    for point in (entry.overall, *entry.by.values()):
        if (point.pass_rate is None) != (point.n == 0):
            raise ValueError(f"a pass rate of {point.pass_rate} over {point.n} tests")
    return entry
