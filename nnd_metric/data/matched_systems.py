"""Match models with judged systems, and pass rates with human scores.

The pass rate of a category, or of all tests, is compared with these rows of the human scores:

1. rows of that category: an error category or context category, or "overall" for all tests;
2. if there are none, and the category is the name of an aspect (rules without error labels use the
   aspect as error category: SummEval, Challenge 300), the "overall" rows of that aspect.

Categories are given by their keys (`nnd.schemas.category_key`): one called "overall", which is the
name of an aspect, is compared with the second kind of rows only.

A system with several such rows, one per aspect, gets their mean; `aspect=` keeps one aspect's rows.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from nnd.schemas import OVERALL, Record, ScoringError, category_of, check_known, frame_schema


@dataclass(frozen=True, slots=True)
class HumanNumber(Record):
    """Which human scores the pass rates of a category are compared with.

    Attributes:
        aspect: The aspect that was judged.
        category: Their category.
        definition: A description of the scores; None if unknown.
    """

    aspect: str
    category: str
    definition: str | None


def are_judged(
    models: Sequence[str], human_scores: pl.DataFrame | None, systems: Mapping[str, str]
) -> bool:
    """Return whether people judged the system that some model stands for (`match_systems`)."""
    return human_scores is not None and bool(match_systems(models, human_scores, systems))


def match_systems(
    models: Sequence[str], human_scores: pl.DataFrame, systems: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Match each model to a system with human scores.

    `systems` takes precedence. Any other model is matched to the only system that has it as
    `model_id`, else to the system of the same name, unless `systems` gives that system to another
    model. No two models may stand for one system.

    Returns model → system in the order of `models`; models without a system are omitted.
    """
    chosen = dict(systems or {})
    known = names_in(human_scores, "system")
    check_known("model", chosen.keys(), models, family=ScoringError)
    check_known("system", chosen.values(), known, family=ScoringError)
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


def choices_for(
    people: pl.DataFrame, systems: Mapping[str, str], models: Collection[str]
) -> dict[str, str]:
    """Return the choices for models and judged systems of one dataset."""
    known = names_in(people, "system")
    return {
        model: system for model, system in systems.items() if model in models and system in known
    }


def check_systems(
    systems: Mapping[str, str], models: Sequence[str], judged: Sequence[pl.DataFrame]
) -> None:
    """Check that the models and the systems that the user matched exist on any of several datasets.

    `models` were scored on any of the datasets; `judged` are the human scores of each dataset that
    has some. If none has, nothing is checked.
    """
    if judged:
        known = pl.concat([people.select("system") for people in judged])
        check_known("system", systems.values(), names_in(known, "system"), family=ScoringError)
        check_known("model", systems, models, family=ScoringError)


def human_scores_for(human_scores: pl.DataFrame, category: str) -> dict[str, float]:
    """Return the human score of each system to compare with a category's pass rate.

    The category is given by its key (module docstring).
    Systems without a score are omitted.
    """
    rows = _rows_for(human_scores, category)
    return dict(rows.group_by("system").agg(pl.col("score").mean()).iter_rows())


def human_numbers_for(human_scores: pl.DataFrame, category: str) -> list[HumanNumber]:
    """Describe the human scores of `human_scores_for`; the mean of several is used there."""
    rows = _rows_for(human_scores, category)
    if "definition" not in rows.columns:
        rows = rows.with_columns(definition=pl.lit(None, pl.String))
    numbers = rows.select(*frame_schema(HumanNumber)).unique().sort(pl.all())
    return [HumanNumber(*row) for row in numbers.iter_rows()]


def _rows_for(human_scores: pl.DataFrame, key: str) -> pl.DataFrame:
    name = category_of(key)
    rows = human_scores.filter(pl.col("category") == (OVERALL if name is None else name))
    if name is not None and (name == OVERALL or rows.is_empty()):
        rows = human_scores.filter((pl.col("aspect") == name) & (pl.col("category") == OVERALL))
    return rows.drop_nulls("score")


def of_aspect(human_scores: pl.DataFrame, aspect: str | None) -> pl.DataFrame:
    """Return the human scores of one aspect, or all of them for None."""
    if aspect is None:
        return human_scores
    check_known("aspect", [aspect], names_in(human_scores, "aspect"), family=ScoringError)
    return human_scores.filter(pl.col("aspect") == aspect)


def in_order(
    matches: Mapping[str, str], human_scores: pl.DataFrame, order: Sequence[str]
) -> dict[str, str]:
    """Return the matches in an explicit order of systems; those not named follow."""
    check_known("system", order, names_in(human_scores, "system"), family=ScoringError)
    repeated = [system for place, system in enumerate(order) if system in order[:place]]
    if repeated:
        raise ScoringError("name.twice", f'the order names system "{repeated[0]}" twice')
    place = {system: number for number, system in enumerate(order)}
    ordered = sorted(matches.items(), key=lambda match: place.get(match[1], len(order)))
    return dict(ordered)


def names_in(frame: pl.DataFrame, column: str) -> list[str]:
    """Return the values of a column in the order of their first appearance."""
    return frame.get_column(column).unique(maintain_order=True).to_list()


def _check_one_to_one(matches: Mapping[str, str]) -> None:
    models: dict[str, str] = {}
    for model, system in matches.items():
        if system in models:
            raise ScoringError(
                "name.twice",
                f'models "{models[system]}" and "{model}" both stand for system "{system}"',
                remedy='give each its own (--system MODEL=SYSTEM, systems={"model": "system"})',
            )
        models[system] = model


def check_choices(
    systems: Mapping[str, str], models: Sequence[str], judged: Sequence[pl.DataFrame]
) -> None:
    """Check before scoring that models can be matched with judged systems."""
    check_systems(systems, models, judged)
    for people in judged:
        match_systems(models, people, choices_for(people, systems, systems))
