"""One training with several seeds: the mean and the spread of the pass rate.

A difference between two ways of training means little if it is smaller than what another seed
does. The spread is the standard deviation over seeds, with n - 1 in the denominator. It says
nothing about other contexts, which the interval of each training does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import polars as pl

from nnd.metric.data import RESULT
from nnd.metric.numbers import Comparisons, Result, compare, percent
from nnd.metric.train.objective import Objective, Schedule
from nnd.metric.train.trained import TrainingFacts
from nnd.metric.train.training_folder import TRAINING, is_interrupted
from nnd.schemas import ScoringError, counted, read_document, text_table

if TYPE_CHECKING:
    from rich.table import Table

    from nnd.metric.train.recipe import Recipe

_COLUMNS = {"seed": pl.Int64, "data": pl.String, "n": pl.Int64}
_RATES = ("before", "after", "difference")


class Train(Protocol):
    """A training of which only the folder, the schedule and whether to resume are open."""

    def __call__(self, *, out: Path, schedule: Schedule, resume: bool) -> Any:  # noqa: ANN401, D102
        ...


class SeedSpread(NamedTuple):
    """The pass rates on one dataset.

    Attributes:
        n: Tests.
        before: The pass rate before training.
        after: Those after training, one per seed.
    """

    n: int
    before: float
    after: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean pass rate after training."""
        return fmean(self.after)

    @property
    def deviation(self) -> float | None:
        """The standard deviation of the pass rate after training; None for one seed."""
        return stdev(self.after) if len(self.after) > 1 else None


@dataclass(frozen=True, slots=True, repr=False)
class TrainedSeeds(Result):
    """A model after training with several seeds, compared with itself before.

    Attributes:
        seeds: Seed → the comparisons of its training: before against after, on each dataset.
    """

    seeds: Mapping[int, Comparisons]

    def spread(self) -> dict[str, SeedSpread]:
        """Return dataset → the pass rates of all seeds on it."""
        found: dict[str, SeedSpread] = {}
        for comparisons in self.seeds.values():
            for each in comparisons:
                whole = each.overall
                so_far = found.setdefault(each.data or "", SeedSpread(whole.n, whole.rate or 0, ()))
                found[each.data or ""] = so_far._replace(after=(*so_far.after, whole.other or 0))
        return found

    def headline(self) -> str:
        """Return the mean pass rate after training on the first dataset, and its spread."""
        data, first = next(iter(self.spread().items()))
        spread = "" if first.deviation is None else f" (sd {100 * first.deviation:.1f} points)"
        on = f" on {data}" if data else ""
        return (
            f"Over {counted(len(first.after), 'seed')}, the mean pass rate{on} goes from "
            f"{percent(first.before)} % to {percent(first.mean)} %{spread}."
        )

    def table(self) -> "Table":
        """Return the pass rate of every seed, their mean and their spread, a row per dataset."""
        titles = ["tests", "before", *(f"seed {seed}" for seed in self.seeds), "mean", "sd, points"]
        table = text_table(["pass rate, %", *titles], right=titles)
        for data, each in self.spread().items():
            deviation = "n/a" if each.deviation is None else f"{100 * each.deviation:.1f}"
            after = map(percent, (*each.after, each.mean))
            table.add_row(data, f"{each.n:,}", percent(each.before), *after, deviation)
        return table

    def details(self) -> "Sequence[Table | str]":
        """Return the differences of each seed, by slice."""
        shown: list[Table | str] = []
        for seed, comparisons in self.seeds.items():
            shown += [f"seed {seed}: {comparisons.headline()}", *comparisons.details()]
        return shown

    def to_frame(self) -> pl.DataFrame:
        """Return a row per seed and dataset: the pass rates, and their difference."""
        rows = [
            (seed, each.data, each.overall.n, each.overall.rate, each.overall.other)
            for seed, comparisons in self.seeds.items()
            for each in comparisons
        ]
        frame = pl.DataFrame(
            rows, _COLUMNS | dict.fromkeys(_RATES[:2], pl.Float64), orient="row", strict=False
        )
        return frame.with_columns((pl.col("after") - pl.col("before")).alias("difference"))


def train_seeds(
    train: Train,
    schedule: Schedule,
    objective: Objective,
    repeats: int,
    out: Path,
    *,
    resume: bool,
    is_loaded: bool,
) -> TrainedSeeds:
    """Train with several seeds in `OUT/SEED` (`train`); to resume is to read finished trainings.

    Raises ScoringError if the model is loaded (its second training would begin with the weights of
    the first), or if a finished training has another recipe, before another one begins.
    """
    if repeats < 1:
        raise ScoringError(
            "option.bad-value", "give a number of at least 1", f"--repeats {repeats}"
        )
    if is_loaded:
        raise ScoringError(
            "option.conflict",
            "a loaded model is trained in place, so it can be trained once",
            "--repeats",
            "pass its name or its folder",
        )
    seeds = range(schedule.seed, schedule.seed + repeats)
    places = {seed: out / str(seed) for seed in seeds}
    finished = {seed for seed in seeds if resume and (places[seed] / TRAINING).is_file()}
    recipes = [
        _recipe(places[seed], objective, replace(schedule, seed=seed)) for seed in sorted(finished)
    ]
    for seed, place in places.items():
        of_seed = replace(schedule, seed=seed)
        if seed not in finished:
            train(out=place, schedule=of_seed, resume=resume and is_interrupted(place))
        recipes.append(_recipe(place, objective, of_seed))
        if recipes[-1] != recipes[0]:
            raise _other_options(place)
    return TrainedSeeds(
        {
            seed: compare([*_runs(place / "before"), *_runs(place / "after")])
            for seed, place in places.items()
        }
    )


def _recipe(place: Path, objective: Objective, schedule: Schedule) -> "Recipe":
    """Return the recipe of a finished training without its seed, checked against what is asked."""
    recipe = TrainingFacts.from_dict(read_document(place / TRAINING)).recipe
    if (recipe.schedule, recipe.objective.to_dict()) != (schedule, objective.to_dict()):
        raise _other_options(place)
    return replace(recipe, schedule=replace(schedule, seed=0))


def _other_options(place: Path) -> ScoringError:
    return ScoringError("place.holds-training", "was trained with other options", place)


def _runs(folder: Path) -> list[Path]:
    """Return the runs in a folder: itself if it is of one dataset."""
    if (folder / RESULT).is_file():
        return [folder]
    return sorted(path for path in folder.iterdir() if path.is_dir())
