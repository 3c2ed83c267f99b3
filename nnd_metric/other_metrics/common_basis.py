"""Restrict all rows of a table of metrics to the same systems and candidates.

A run has scores only for candidates in pairs and for systems that its models stand for, while ROUGE
scores all candidates. Correlations over different systems or candidates cannot be compared. So only
the systems and candidates that all rows have are used, unless "all" is requested. A list of systems
restricts the data to their candidates, the tests between these, and their human scores.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, NamedTuple, TypeAlias, get_args

import polars as pl

from nnd.metric.data import names_in
from nnd.metric.numbers import FEWEST_MODELS
from nnd.metric.other_metrics.judged_candidates import CANDIDATE, JudgedCandidates
from nnd.schemas import Count, Limit, Record, ScoringError, did_you_mean

Over: TypeAlias = Literal["shared", "all"]
"""The basis of correlations: what all rows have in common, or everything that each row has."""


class Numbers(NamedTuple):
    """The numbers of one row; name, kind and definition are those of `MetricRow`.

    The candidates are those of `JudgedCandidates` with their scores; `scored` are the pairs, rows
    of SCORED_SCHEMA.
    """

    name: str
    kind: Literal["scorer", "model"]
    definition: str
    candidates: pl.DataFrame
    scored: pl.DataFrame


@dataclass(frozen=True, slots=True)
class CommonBasis(Record):
    """The common basis of all rows of a table.

    Attributes:
        systems: Systems with a human score, for which every row has a number.
        other_systems: Systems with a human score, left out because a row lacks a number.
        candidates: Candidates that every row scored.
        other_candidates: Candidates left out because a row did not score them.
        unscored: Row → number of candidates that it did not score, if any.
    """

    systems: tuple[str, ...]
    other_systems: tuple[str, ...]
    candidates: Count
    other_candidates: Count
    unscored: Mapping[str, Annotated[int, Limit("minimum", 1)]]


def of_systems(judged: JudgedCandidates, names: Sequence[str]) -> JudgedCandidates:
    """Restrict the data to some systems; candidates that other systems wrote, too, are included."""
    writers = judged.candidates["system"].drop_nulls().str.split("|").explode()
    known = names_in(writers.to_frame(), "system")
    for name in names:
        if name not in known:
            raise ScoringError(
                "option.unknown-value",
                f'no candidate was written by system "{name}"{did_you_mean(name, known)}',
                "over",
                f"choose {', '.join(get_args(Over))}, or some of the systems: "
                f"{', '.join(known) or 'none'}",
            )
    candidates = _name_only(judged.candidates, names).drop_nulls("system")
    pairs, people = judged.pairs.pairs, judged.pairs.human_scores
    for side in ("high_id", "low_id"):
        kept = candidates.select("split", pl.col("candidate_id").alias(side))
        pairs = pairs.join(kept, on=["split", side], how="semi", maintain_order="left")
    if people is not None:
        people = people.filter(pl.col("system").is_in(list(names)))
    return replace(
        judged,
        pairs=replace(judged.pairs, pairs=pairs, human_scores=people),
        candidates=candidates,
        human=judged.human.join(candidates, on=CANDIDATE, how="semi", maintain_order="left"),
    )


def find_shared(
    rows: Sequence[Numbers], people: pl.DataFrame | None, matched: Mapping[str, str]
) -> tuple[list[Numbers], CommonBasis]:
    """Restrict the rows to what all of them have in common, and describe it.

    A row without any number is ignored; the others have numbers of the same candidates. `people`
    are the human scores of systems, and `matched` gives model of the run → system that it stands
    for, as NND itself ranks them.
    """
    unscored = {row.name: row.candidates["score"].null_count() for row in rows}
    common = rows[0].candidates
    for row in rows:
        if unscored[row.name] < row.candidates.height:
            common = common.join(row.candidates.drop_nulls("score"), on=CANDIDATE, how="semi")
    judged = [] if people is None else names_in(people.drop_nulls("score"), "system")
    writers = set(common["system"].drop_nulls().str.split("|").explode())
    if len(matched) >= FEWEST_MODELS:
        writers &= set(matched.values())
    systems = sorted(set(judged) & writers)
    shared = CommonBasis(
        systems=tuple(systems),
        other_systems=tuple(sorted(set(judged) - writers)),
        candidates=common.height,
        other_candidates=rows[0].candidates.height - common.height,
        unscored={name: n for name, n in unscored.items() if n},
    )
    kept = (
        row.candidates.join(common, on=CANDIDATE, how="semi", maintain_order="left") for row in rows
    )
    restricted = (_name_only(candidates, systems) for candidates in kept)
    return [
        row._replace(candidates=candidates)
        for row, candidates in zip(rows, restricted, strict=True)
    ], shared


def _name_only(candidates: pl.DataFrame, systems: Sequence[str]) -> pl.DataFrame:
    """Return the candidates with only some of their systems, or null for none."""
    known = pl.element().filter(pl.element().is_in(list(systems)))
    names = pl.col("system").str.split("|").list.eval(known)
    return candidates.with_columns(system=pl.when(names.list.len() > 0).then(names.list.join("|")))
