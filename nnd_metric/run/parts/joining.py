"""Compute the results of a merged run from its file, the rows of one model at a time.

Rates and agreement with people count contexts and tests, so numbers can replace ids
(`to_rate`); the effects of sets need the ids of one model.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from nnd.metric.data import PARTS, SAME, STORED, read_pieces, read_sets
from nnd.metric.numbers import PARENTS, agree_rated
from nnd.metric.run.evaluation import Evaluation
from nnd.metric.run.model_result import ModelResult
from nnd.metric.run.parts.joined_result import join_parts, rate_parts
from nnd.metric.run.parts.part_file import Footer
from nnd.metric.run.parts.run_plan import Plan
from nnd.metric.run.summary import summarise
from nnd.schemas import ScoringError

if TYPE_CHECKING:
    from nnd.metric.run.model_result import ModelResult

_PAIR = pl.struct("pair_id", "cluster", *SAME).hash().alias("pair")
"""Hash of the columns that are equal in all models' rows of a pair."""


def join(plan: Plan, fresh: Path, footers: Mapping[str, Sequence[Footer]]) -> Evaluation:
    """Return the evaluation of a merged run, without its rows."""
    people = plan.human_scores
    results: list[ModelResult] = []
    rated: dict[str, pl.DataFrame] = {}
    for model, pieces in _by_model(fresh, footers):
        parts = [footer.result for footer in footers[model]]
        if people is None:
            results.append(join_parts(parts, rate_parts(parts, pieces)))
        else:
            rows = rate_parts(parts, pieces, "pair_id", _PAIR)
            results.append(join_parts(parts, rows.drop("pair_id", "pair")))
            ordered = rows.sort("pair_id", maintain_order=True)
            rated[model] = _share_columns(rated, model, ordered, plan.run / PARTS)
    return summarise(
        replace(plan.pair_set(), human_scores=people),
        results,
        read_sets(fresh),
        (
            (model, pl.concat(rows.select(PARENTS) for rows in pieces))
            for model, pieces in _by_model(fresh, footers)
        ),
        lambda own: agree_rated(rated, people, systems=own),
        systems=plan.asked["systems"],
        templates=plan.asked["templates"],
        scored=pl.DataFrame(schema=STORED),
    )


def _by_model(
    fresh: Path, models: Mapping[str, object]
) -> Iterator[tuple[str, Iterator[pl.DataFrame]]]:
    """Yield each model with its rows in pieces, which must be read before the next model's."""
    stored = groupby(read_pieces(fresh), key=lambda rows: str(rows["model"][0]))
    for model in models:
        _, pieces = next(stored, ("", iter([pl.DataFrame(schema=STORED)])))
        yield model, pieces


def _share_columns(
    rated: Mapping[str, pl.DataFrame], model: str, rows: pl.DataFrame, parts: Path
) -> pl.DataFrame:
    """Return a model's verdicts with the other columns of the first model, to save memory."""
    if not rated:
        return rows.drop("pair_id")
    name, first = next(iter(rated.items()))
    differs = rows["pair"] != first["pair"]
    if differs.any():
        raise ScoringError(
            "run.another-data",
            f'pair {rows["pair_id"][differs.arg_max() or 0]} is not the same in "{name}" '
            f'and "{model}": the data was changed while it was scored',
            remedy=f"remove {parts} and start the workers again",
        )
    return first.with_columns(rows["passed"], rows["unscored"])
