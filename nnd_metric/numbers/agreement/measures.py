"""Compute the agreement of pass rates with human scores of the same systems.

The mean is over the categories other than "overall" that define the statistic, as in Table 1 of
Laban et al. (2022); their number is given with it. Without such a category it is None: "overall"
has its own entry.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from nnd.metric.data import (
    Judgements,
    human_numbers_for,
    human_scores_for,
    in_order,
    match_systems,
    names_in,
    of_aspect,
)
from nnd.metric.numbers.agreement.agreement import (
    Agreement,
    CategoryAgreement,
    JudgedModel,
    MeanAgreement,
)
from nnd.metric.numbers.agreement.human_noise import find_noise
from nnd.metric.numbers.statistics.correlation_estimates import CategoryScores, correlate
from nnd.metric.numbers.statistics.extrapolation import extrapolate
from nnd.metric.numbers.statistics.intervals import FloatArray, covering_interval
from nnd.metric.numbers.statistics.order_noise import reason_against_order
from nnd.metric.numbers.statistics.soft_accuracy import system_accuracy
from nnd.schemas import OVERALL, ScoringError

FEWEST_MODELS = 2
_MOST_LISTED = 8


def try_agreement(
    pass_rates: pl.DataFrame,
    human_scores: pl.DataFrame,
    *,
    systems: Mapping[str, str] | None = None,
    aspect: str | None = None,
    order: Sequence[str] = (),
    samples: FloatArray | None = None,
    stretch: FloatArray | None = None,
    judgements: Judgements | None = None,
) -> tuple[Agreement | None, str | None]:
    """Correlate pass rates with human scores, per category and on average.

    Args:
        pass_rates: One row per model and category: model, category ("overall", an error or context
            category), pass_rate (0 to 1, or null), n.
        human_scores: Rows of the human_score schema.
        systems: Model → system, for models that `match_systems` cannot match.
        aspect: Compare with the human scores of this aspect only.
        order: Systems in the order of `gap_r_laban2022`; those not named follow, in the order of
            their models in `pass_rates`.
        samples: Resampled pass rates, with the same clusters for all models, [resamples, models,
            categories], models and categories in order of first appearance in `pass_rates`.
        stretch: How much farther than their percentiles intervals reach (`stretches`), [models,
            categories]; None means not at all.
        judgements: The judgements behind the human scores, or None if they are unknown.

    Returns:
        The agreement and None, or None and the reason why it is undefined: fewer than two models
        are matched to systems.
    """
    models, categories = names_in(pass_rates, "model"), names_in(pass_rates, "category")
    _check_one_row_each(pass_rates)
    if samples is None:
        samples = np.empty((0, len(models), len(categories)))
    stretch = np.ones(samples.shape[1:]) if stretch is None else stretch
    matches = in_order(match_systems(models, human_scores, systems), human_scores, order)
    people = of_aspect(human_scores, aspect)
    if len(matches) < FEWEST_MODELS:
        return None, _too_few(matches, human_scores)
    defined = pass_rates.drop_nulls("pass_rate").select("category", "model", "pass_rate")
    rates = {
        category: dict(defined.filter(category=category).drop("category").iter_rows())
        for category in categories
    }
    n = {(row["model"], row["category"]): row["n"] for row in pass_rates.iter_rows(named=True)}
    compared = {}
    for column, category in enumerate(categories):
        scores = human_scores_for(people, category)
        used = [m for m in matches if m in rates[category] and matches[m] in scores]
        places = [models.index(model) for model in used]
        compared[category] = CategoryScores(
            models=used,
            ours=[rates[category][model] for model in used],
            theirs=[scores[matches[model]] for model in used],
            resampled=samples[:, places, column],
            stretch=float(stretch[places, column].max(initial=1.0)),
        )
    averaged = [category for category in categories if category != OVERALL]
    correlated, mean, counts = correlate(compared, averaged)
    by_category = {
        category: CategoryAgreement.extend(
            correlated[category],
            n=len(each.models),
            judged={
                model: JudgedModel(ours, n[model, category], theirs)
                for model, ours, theirs in zip(each.models, each.ours, each.theirs, strict=True)
            },
            human_numbers=human_numbers_for(people, category),
            dropped=len(matches) - len(each.models),
            extrapolation=extrapolate(
                each.ours,
                each.theirs,
                {m: rate for m, rate in rates[category].items() if m not in each.models},
            ),
            human_noise=judgements
            and find_noise(judgements.numbers(category, aspect), [matches[m] for m in each.models]),
            **_accuracy(each),
        )
        for category, each in compared.items()
    }
    return Agreement(
        by_category=by_category,
        mean=MeanAgreement.extend(mean, categories=counts),
        systems=matches,
        unmatched=[model for model in models if model not in matches],
        scores_missing=people.get_column("score").null_count(),
        unscored=None,
    ), None


def _accuracy(scores: CategoryScores) -> dict[str, Any]:
    if len(scores.models) < FEWEST_MODELS:
        return {}
    theirs = np.array(scores.theirs, dtype=np.float64)
    value = float(system_accuracy(theirs, np.array(scores.ours, dtype=np.float64)))
    bounds, reason = None, reason_against_order(scores.ours, scores.resampled)
    if reason is None:
        drawn = scores.resampled[~np.isnan(scores.resampled).any(axis=1)]
        bounds, reason = covering_interval(
            value, system_accuracy(theirs, drawn), stretch=scores.stretch, lowest=0
        )
    return {
        "system_accuracy": value,
        "system_accuracy_interval": bounds,
        "system_accuracy_interval_reason": reason,
    }


def _too_few(matches: Mapping[str, str], human_scores: pl.DataFrame) -> str:
    if human_scores.is_empty():  # errors made on purpose, or unnamed systems
        return "agreement with human scores is undefined, because no system's own output was judged"
    matched = "".join(f"only {model} is" for model in matches)
    known = names_in(human_scores, "system")
    more = f" and {len(known) - _MOST_LISTED} more" if len(known) > _MOST_LISTED else ""
    return (
        f"agreement needs two models matched to judged systems, but {matched or 'none is'}; match "
        "models with systems (--system MODEL=SYSTEM); the systems are "
        f"{', '.join(known[:_MOST_LISTED])}{more}"
    )


def _check_one_row_each(pass_rates: pl.DataFrame) -> None:
    keys = pass_rates.select("model", "category")
    repeated = keys.filter(keys.is_duplicated())
    if not repeated.is_empty():
        model, category = repeated.row(0)
        raise ScoringError(
            "name.twice",
            f'model "{model}" has several rows for category "{category}"',
            "pass rates",
            "keep one",
        )
