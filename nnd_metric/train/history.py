"""The history of a training run: the result of every scoring, one JSON object per line."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nnd.metric.data import OVERALL, SLICES
from nnd.metric.numbers import PassRates, Rate, wilson
from nnd.schemas import ScoringError, find_change, seal, write_whole

HISTORY = "nnd_history.jsonl"
"""Default name of the file."""


@dataclass(frozen=True, slots=True)
class Point:
    """A pass rate at one step.

    Attributes:
        pass_rate: Share of the tests passed, or None without tests.
        n: Tests.
        interval: 95 % interval over contexts, or None (`results.Rate`).
    """

    pass_rate: float | None
    n: int
    interval: tuple[float, float] | None

    @property
    def wilson(self) -> tuple[float, float] | None:
        """95 % Wilson interval (`results.Rate`), or None without tests."""
        return None if self.pass_rate is None else wilson(round(self.pass_rate * self.n), self.n)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values, as `results.Rate` names them."""
        return {
            "pass_rate": self.pass_rate,
            "n": self.n,
            "interval": None if self.interval is None else list(self.interval),
            "wilson": None if self.wilson is None else list(self.wilson),
        }


@dataclass(frozen=True, slots=True)
class Entry:
    """The scoring at one step of a training run.

    Attributes:
        step: Optimiser steps done.
        epoch: Passes over the training data done, or None if unknown.
        overall: Rate over distinct candidates (`results.PassRates`).
        column: The column of `results.SLICES` with the categories.
        by: Category → rate over its pairs.
        seconds: Time of this scoring.
        training_seconds: Time since the last scoring, or since training began.
        signature: Everything that decides the numbers, in one line (`signature`); the model's
            version is the step.
    """

    step: int
    epoch: float | None
    overall: Point
    column: str
    by: dict[str, Point]
    seconds: float
    training_seconds: float
    signature: str

    @property
    def recipe(self) -> str:
        """The signature without the model, which is the same during a run."""
        parts = self.signature.split("|")
        return "|".join(part for part in parts if not part.startswith("model:"))


def summarise(rates: PassRates) -> tuple[Point, str, dict[str, Point]]:
    """Return the overall rate, and the rates of the finest column that has several categories.

    Args:
        rates: Pass rates of one model.

    Returns:
        The overall rate, the column, and category → rate.
    """
    column = next((name for name in SLICES if len(rates.by[name]) > 1), SLICES[0])
    by = {category: _point(rate) for category, rate in rates.by[column].items()}
    return _point(rates.overall), column, by


def read_history(path: str | Path) -> list[Entry]:
    """Read a history; an empty one has no entries.

    Raises:
        ScoringError: If the file does not exist, a line is not an entry or was changed since it was
            written, or steps do not increase.
    """
    path = Path(path)
    try:
        if path.exists() and not path.is_file():  # a named pipe would wait, a device may never end
            raise ScoringError(f"{path}: is not a file; name a history that NNDCallback wrote")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ScoringError(f"{path}: {reason}; name a history that NNDCallback wrote") from error
    entries: list[Entry] = []
    # Not splitlines: a category may contain characters that it treats as line ends.
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else (), start=1):
        try:
            entry = _read_entry(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ScoringError(
                f"{path} line {number}: is not an entry of a history ({error!r}); delete it, or "
                "name a history that NNDCallback wrote"
            ) from error
        if entries and entry.step <= entries[-1].step:
            raise ScoringError(
                f"{path} line {number}: step {entry.step} comes after step {entries[-1].step}; "
                "the file holds several runs; split it into one file per run"
            )
        entries.append(entry)
    return entries


def line_of(entries: Sequence[Entry], category: str) -> list[tuple[int, Point]]:
    """Return step and rate of a category, or of "overall", for the steps with tests of it."""
    found = [
        (entry.step, entry.overall if category == OVERALL else entry.by.get(category))
        for entry in entries
    ]
    return [(step, rate) for step, rate in found if rate is not None and rate.n]


def write_history(path: Path, entries: Sequence[Entry]) -> None:
    """Write a history atomically; folders are made if needed."""
    lines = [json.dumps(seal(asdict(entry)), ensure_ascii=False) for entry in entries]
    write_whole(path, "".join(f"{line}\n" for line in lines))


def share_of_time(entries: Sequence[Entry]) -> float:
    """Return the time of a run's scorings, as a share of its whole time."""
    scoring = sum(entry.seconds for entry in entries)
    whole = scoring + sum(entry.training_seconds for entry in entries)
    return scoring / whole if whole else 0.0


def log_of(entry: Entry) -> dict[str, float]:
    """Return the values of an entry that the Trainer logs.

    Returns:
        `nnd/pass_rate`, `nnd/<category>`, the seconds it took as `nnd/seconds`, and as
        `nnd/share_of_time` their share of the time since the last scoring.
    """
    rates = {**entry.by, "pass_rate": entry.overall}  # whatever a category is called
    found = {name: rate.pass_rate for name, rate in rates.items() if rate.pass_rate is not None}
    found |= {"seconds": entry.seconds, "share_of_time": share_of_time([entry])}
    return {f"nnd/{name}": value for name, value in found.items()}


def describe_cost(entries: list[Entry]) -> str:
    """Return the cost of a run's scorings in words."""
    seconds = sum(entry.seconds for entry in entries)
    return (
        f"{len(entries)} scorings of {entries[-1].overall.n:,} tests took {seconds:.1f} s, "
        f"{100 * share_of_time(entries):.1f} % of the time of training"
    )


def _point(rate: Rate) -> Point:
    return Point(rate.pass_rate, rate.n, rate.interval)


def _read_entry(stored: Mapping[str, Any]) -> Entry:
    if problem := find_change(stored, HISTORY):
        raise ValueError(problem)
    by = {str(category): _read_point(point) for category, point in stored["by"].items()}
    epoch = stored["epoch"]
    return Entry(
        step=_read_count(stored["step"]),
        epoch=None if epoch is None else float(epoch),
        overall=_read_point(stored["overall"]),
        column=str(stored["column"]),
        by=by,
        seconds=_read_seconds(stored["seconds"]),
        training_seconds=_read_seconds(stored["training_seconds"]),
        signature=str(stored["signature"]),
    )


def _read_point(stored: Mapping[str, Any]) -> Point:
    rate, bounds = stored["pass_rate"], stored["interval"]
    n = _read_count(stored["n"])
    if bounds is not None:
        low, high = map(_read_share, bounds)
        bounds = (low, high)
    if (rate is None) != (n == 0):
        raise ValueError(f"a pass rate of {rate} over {n} tests")
    return Point(None if rate is None else _read_share(rate), n, bounds)


def _read_count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r} is not a count")
    return value


def _read_share(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError(f"{value!r} is not from 0 to 1")
    return float(value)


def _read_seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ValueError(f"{value!r} is not a time in seconds")
    return float(value)
