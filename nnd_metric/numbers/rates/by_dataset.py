"""Several datasets: the runs on each, and their results."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import polars as pl

from nnd.metric.data import (
    PairData,
    PairSet,
    check_systems,
    choices_for,
    load_pairs,
    name_datasets,
    names_in,
    read_run,
)
from nnd.metric.numbers.shown_result import Result
from nnd.schemas import ScoringError

if TYPE_CHECKING:
    from rich.table import Table


EACH_ONCE = "each counting once"
"""How headlines describe the weights of a mean over datasets."""


class OnDataset(NamedTuple):
    """The runs on one of several datasets, and model → the system that it stands for there."""

    pairs: PairSet
    runs: list[Path]
    systems: dict[str, str]


def split_by_dataset(
    folders: Sequence[Path], data: Sequence[PairData], systems: Mapping[str, str] | None = None
) -> dict[str, OnDataset]:
    """Return name of a dataset → the runs on it: those that share a pair with it.

    Raises ScoringError if a run shares pairs with none of the datasets, or with several.
    """
    pairs = dict(zip(name_datasets(data), map(load_pairs, data), strict=True))
    models: dict[str, list[str]] = {name: [] for name in pairs}
    runs: dict[str, list[Path]] = {name: [] for name in pairs}
    for folder in folders:
        scored = read_run(folder)
        name = _find_dataset(folder, {*scored["pair_id"]}, pairs)
        runs[name].append(folder)
        models[name] += names_in(scored, "model")
    systems = systems or {}
    people = {name: each.human_scores for name, each in pairs.items()}
    judged = [scores for scores in people.values() if scores is not None]
    check_systems(systems, [*chain(*models.values())], judged)
    stand_for = {
        name: {} if scores is None else choices_for(scores, systems, models[name])
        for name, scores in people.items()
    }
    return {name: OnDataset(pairs[name], runs[name], stand_for[name]) for name in pairs}


def _find_dataset(folder: Path, scored: set[str], pairs: Mapping[str, PairSet]) -> str:
    names = [name for name, each in pairs.items() if not scored.isdisjoint(each.pairs["pair_id"])]
    if len(names) > 1:
        raise ScoringError(
            "run.another-data",
            f"shares pairs with {' and '.join(names)}",
            folder,
            "name one of them with --data",
        )
    if not names:
        raise ScoringError(
            "run.another-data",
            f"shares no pair with {' or '.join(pairs)}",
            folder,
            "name the data it was scored on with --data",
        )
    return names[0]


_OnOne = TypeVar("_OnOne", bound=Result)


@dataclass(frozen=True, slots=True, repr=False)
class OverDatasets(Result, Generic[_OnOne]):
    """Results on several datasets; subclasses define the mean over them.

    Attributes:
        datasets: Name → its result; at least two.
    """

    datasets: Mapping[str, _OnOne]

    def remarks(self) -> list[str]:
        """Return the caveats of each dataset."""
        return [
            f"{name}: {line}"
            for name, result in self.datasets.items()
            for line in result.remarks()
            if isinstance(line, str)
        ]

    @abstractmethod
    def mean(self) -> Mapping[str, Any]:
        """Return the means over the datasets, with equal weights."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values: a result for each dataset, and the means."""
        results = {name: result.to_dict() for name, result in self.datasets.items()}
        return {"datasets": results, "mean": self.mean()}

    def details(self) -> "list[Table | str]":
        """Return the details of each dataset."""
        return [
            part
            for name, result in self.datasets.items()
            for part in (f"on {name}", *result.details())
        ]

    def to_frame(self) -> pl.DataFrame:
        """Return the rows of each dataset, with its name in the first column."""
        return pl.concat(
            result.to_frame().select(pl.lit(name).alias("dataset"), pl.all())
            for name, result in self.datasets.items()
        )


def mean_over(datasets: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """Return the mean over datasets of each number that all have; None if it is None for one."""
    means: dict[str, float | None] = {}
    for name in datasets[0]:
        if all(name in each for each in datasets):
            numbers = [number for each in datasets if (number := each[name]) is not None]
            is_complete = len(numbers) == len(datasets)
            means[name] = sum(numbers) / len(datasets) if is_complete else None
    return means
