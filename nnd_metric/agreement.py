"""Agreement with people: do the pass rates rank the systems as human scores do?

Which human score stands against a category's pass rate:

1. rows of that category: an error category or context category, or "overall";
2. else, for a category that is the name of an aspect (rules without error labels use the aspect as
   error category: SummEval, Challenge 300), the "overall" rows of that aspect.

A system with several such rows, one per aspect, gets their mean; `aspect=` keeps one aspect's rows.

The mean is over the categories other than "overall", as in Table 1 of Laban et al. (2022), and over
those that define the statistic; how many stands beside it. With no such category it is None:
"overall" has its own entry and is no mean. Intervals show how far the numbers move with other
contexts; human scores and the set of systems are held fixed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from .correlations import BATCHED, STATISTICS
from .errors import ScoringError
from .intervals import FloatArray, percentile_interval

Interval = tuple[float, float]

OVERALL = "overall"
FEWEST_MODELS = 2


@dataclass(frozen=True, slots=True)
class CategoryAgreement:
    """Agreement in one category.

    Attributes:
        statistics: Each of `STATISTICS`; None where undefined.
        n: Models compared.
        dropped: Matched models without a pass rate or without a human score in this category.
        intervals: 95 % bootstrap interval of each statistic; None without samples, and where the
            statistic is.
    """

    statistics: Mapping[str, float | None]
    n: int
    dropped: int
    intervals: Mapping[str, Interval | None]


@dataclass(frozen=True, slots=True)
class MeanAgreement:
    """Mean over the categories other than "overall".

    Attributes:
        statistics: Mean of each statistic over the categories that define it; None if none does.
        categories: How many categories that is, per statistic.
        intervals: 95 % bootstrap interval of each mean; None without samples.
    """

    statistics: Mapping[str, float | None]
    categories: Mapping[str, int]
    intervals: Mapping[str, Interval | None]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement between pass rates and human scores over the same systems.

    Attributes:
        by_category: In the order of the pass rates, "overall" among them.
        mean: Over the categories other than "overall".
        systems: Which system each matched model stands for.
        unmatched: Models that stand for no known system.
    """

    by_category: Mapping[str, CategoryAgreement]
    mean: MeanAgreement
    systems: Mapping[str, str]
    unmatched: Sequence[str]

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, strings and numbers, ready for JSON."""
        return {
            "by_category": {
                category: {
                    **found.statistics,
                    "n": found.n,
                    "dropped": found.dropped,
                    "intervals": _lists(found.intervals),
                }
                for category, found in self.by_category.items()
            },
            "mean": dict(self.mean.statistics),
            "mean_categories": dict(self.mean.categories),
            "mean_intervals": _lists(self.mean.intervals),
            "systems": dict(self.systems),
            "unmatched": list(self.unmatched),
        }


def match_systems(
    models: Sequence[str], human_scores: pl.DataFrame, systems: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Say which human-scored system each model stands for.

    `systems` decides where it names the model. Any other model is the system that alone has it as
    `model_id`, else the system of that very name, unless `systems` gave that one to another model.

    Args:
        models: Names of the evaluated models.
        human_scores: Human scores; `system` and `model_id` are read.
        systems: Explicit choices, model to system.

    Returns:
        Model to system, in the order of `models`; models without a system are left out.

    Raises:
        ScoringError: If `systems` names an unknown model or system, or two models come out as the
            same system.
    """
    chosen = dict(systems or {})
    known = _names(human_scores, "system")
    _check_known("model", chosen.keys(), models)
    _check_known("system", chosen.values(), known)
    owners: dict[str, list[str]] = {}
    for system, model_id in human_scores.select("system", "model_id").unique().iter_rows():
        owners.setdefault(model_id, []).append(system)
    taken = set(chosen.values())
    matches: dict[str, str] = {}
    for model in dict.fromkeys(models):
        owner = owners.get(model, [])
        system = chosen.get(model, owner[0] if len(owner) == 1 else model)
        if model in chosen or (system in known and system not in taken):
            matches[model] = system
    _check_one_to_one(matches)
    return matches


def human_scores_for(human_scores: pl.DataFrame, category: str) -> dict[str, float]:
    """Return the human score of each system that stands against a category's pass rate.

    Args:
        human_scores: Human scores, of one aspect or several.
        category: "overall", an error or context category, or an aspect (module docstring).

    Returns:
        System to score; systems without one are left out.
    """
    rows = human_scores.filter(pl.col("category") == category)
    if rows.is_empty():
        rows = human_scores.filter((pl.col("aspect") == category) & (pl.col("category") == OVERALL))
    scores = rows.drop_nulls("score").group_by("system").agg(pl.col("score").mean())
    return dict(scores.iter_rows())


def agreement(
    pass_rates: pl.DataFrame,
    human_scores: pl.DataFrame,
    *,
    systems: Mapping[str, str] | None = None,
    aspect: str | None = None,
    samples: npt.ArrayLike | None = None,
) -> Agreement:
    """Correlate pass rates with human scores, per category and on average.

    Args:
        pass_rates: One row per model and category: model, category ("overall", an error or context
            category), pass_rate (fraction, or null), n. The order of the models is the order of
            `gap_r_laban2022`.
        human_scores: source, system, model_id, aspect, category, score (higher is better), n,
            definition.
        systems: Model to system, where `match_systems` cannot know.
        aspect: Compare with the human scores of this aspect only.
        samples: Pass rates resampled with the same clusters for all models, [resamples, models,
            categories], models and categories in their order of first appearance in `pass_rates`.

    Returns:
        The agreement.

    Raises:
        ScoringError: If fewer than two models are matched to systems (`try_agreement` returns that
            as a reason instead), or an argument contradicts another.
    """
    found, reason = try_agreement(
        pass_rates, human_scores, systems=systems, aspect=aspect, samples=samples
    )
    if found is None:
        raise ScoringError(reason)
    return found


def try_agreement(
    pass_rates: pl.DataFrame,
    human_scores: pl.DataFrame,
    *,
    systems: Mapping[str, str] | None = None,
    aspect: str | None = None,
    samples: npt.ArrayLike | None = None,
) -> tuple[Agreement | None, str | None]:
    """Return the agreement and None, or None and the reason why there cannot be one.

    Arguments as in `agreement`.

    Raises:
        ScoringError: If an argument contradicts another: a mistake to mend, not a reason.
    """
    models, categories = _names(pass_rates, "model"), _names(pass_rates, "category")
    _check_one_row_each(pass_rates)
    resampled = _checked_samples(samples, len(models), len(categories))
    matches = match_systems(models, human_scores, systems)
    people = _of_aspect(human_scores, aspect)
    if len(matches) < FEWEST_MODELS:
        return None, _too_few(matches, human_scores)
    by_category: dict[str, CategoryAgreement] = {}
    draws: dict[str, dict[str, FloatArray]] = {}
    for column, category in enumerate(categories):
        rates = _pass_rates_for(pass_rates, category)
        scores = human_scores_for(people, category)
        used = [model for model in matches if model in rates and matches[model] in scores]
        ours = [rates[model] for model in used]
        theirs = [scores[matches[model]] for model in used]
        rows = [models.index(model) for model in used]
        draws[category] = _draws(resampled[:, rows, column], theirs)
        by_category[category] = _compared(ours, theirs, len(matches), draws[category])
    unmatched = [model for model in models if model not in matches]
    return Agreement(by_category, _mean(by_category, draws), matches, unmatched), None


def _compared(
    ours: Sequence[float],
    theirs: Sequence[float],
    matched: int,
    draws: Mapping[str, FloatArray],
) -> CategoryAgreement:
    statistics = {name: of(ours, theirs) for name, of in STATISTICS.items()}
    intervals = {
        name: None if value is None else percentile_interval(draws[name])
        for name, value in statistics.items()
    }
    return CategoryAgreement(statistics, len(ours), matched - len(ours), intervals)


def _mean(
    by_category: Mapping[str, CategoryAgreement], draws: Mapping[str, Mapping[str, FloatArray]]
) -> MeanAgreement:
    statistics: dict[str, float | None] = {}
    counts: dict[str, int] = {}
    intervals: dict[str, Interval | None] = {}
    for name in STATISTICS:
        defined = {
            category: value
            for category, found in by_category.items()
            if category != OVERALL and (value := found.statistics[name]) is not None
        }
        counts[name] = len(defined)
        statistics[name] = sum(defined.values()) / len(defined) if defined else None
        # A resample that leaves one of the categories undefined has no mean to compare with ours.
        together = [draws[category][name] for category in defined]
        intervals[name] = percentile_interval(np.mean(together, axis=0)) if together else None
    return MeanAgreement(statistics, counts, intervals)


def _draws(resampled: FloatArray, human: Sequence[float]) -> dict[str, FloatArray]:
    """Return each statistic on each resample: [resamples, models] against one list of scores."""
    fixed = np.asarray(human, dtype=np.float64)
    return {name: of(resampled, fixed) for name, of in BATCHED.items()}


def _pass_rates_for(pass_rates: pl.DataFrame, category: str) -> dict[str, float]:
    rows = pass_rates.filter(pl.col("category") == category).drop_nulls("pass_rate")
    return dict(rows.select("model", "pass_rate").iter_rows())


def _of_aspect(human_scores: pl.DataFrame, aspect: str | None) -> pl.DataFrame:
    if aspect is None:
        return human_scores
    _check_known("aspect", [aspect], _names(human_scores, "aspect"))
    return human_scores.filter(pl.col("aspect") == aspect)


def _too_few(matches: Mapping[str, str], human_scores: pl.DataFrame) -> str:
    matched = ", ".join(f"{model} → {system}" for model, system in matches.items()) or "none"
    known = ", ".join(_names(human_scores, "system")) or "none"
    return (
        f"agreement needs at least two models matched to systems; matched: {matched}; "
        f'pass systems={{"model": "system"}} (--system MODEL=SYSTEM); known systems: {known}'
    )


def _checked_samples(samples: npt.ArrayLike | None, models: int, categories: int) -> FloatArray:
    if samples is None:
        return np.empty((0, models, categories))
    resampled = np.asarray(samples, dtype=np.float64)
    if resampled.ndim != 3 or resampled.shape[1:] != (models, categories):  # noqa: PLR2004
        raise ScoringError(
            f"samples of shape {resampled.shape} do not fit the pass rates; "
            f"expected [resamples, {models} models, {categories} categories]"
        )
    return resampled


def _check_one_row_each(pass_rates: pl.DataFrame) -> None:
    keys = pass_rates.select("model", "category")
    repeated = keys.filter(keys.is_duplicated())
    if not repeated.is_empty():
        model, category = repeated.row(0)
        raise ScoringError(
            f'pass rates: model "{model}" has several rows for category "{category}"; give one'
        )


def _check_known(what: str, names: Iterable[str], known: Sequence[str]) -> None:
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ScoringError(
            f'there is no {what} "{unknown[0]}"; known: {", ".join(known) or "none"}'
        )


def _check_one_to_one(matches: Mapping[str, str]) -> None:
    models: dict[str, str] = {}
    for model, system in matches.items():
        if system in models:
            raise ScoringError(
                f'models "{models[system]}" and "{model}" both stand for system "{system}"; '
                'give each its own by systems={"model": "system"}'
            )
        models[system] = model


def _names(frame: pl.DataFrame, column: str) -> list[str]:
    return frame.get_column(column).unique(maintain_order=True).to_list()


def _lists(intervals: Mapping[str, Interval | None]) -> dict[str, list[float] | None]:
    return {name: list(bounds) if bounds else None for name, bounds in intervals.items()}
