"""Like for like: every row of a table of metrics over the same systems and the same candidates.

A run has scored the candidates in pairs, of the systems that its models stand for; ROUGE scores all
of them. Correlations over 3 systems and over 5 cannot be compared, nor can those over different
candidates: only what every row has counts, unless each is asked for all of its own. A list of
systems narrows the data to them: their candidates, the tests between these, and their human scores.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import polars as pl

from nnd.metric.agreement import FEWEST_MODELS
from nnd.metric.data import match_systems, names_in
from nnd.metric.meta.judged import CANDIDATE, Judged
from nnd.schemas import ScoringError, did_you_mean

Over: TypeAlias = Literal["shared", "all"]
"""What rows are correlated over: what all of them have, or what each has."""


class Numbers(NamedTuple):
    """What one row says.

    Attributes:
        name: As in `MetricRow`, and so are the next two.
        kind: What the row is.
        definition: What is computed.
        candidates: Those of `Judged`, with a score each.
        scored: The pairs, rows of SCORED_SCHEMA.
    """

    name: str
    kind: Literal["scorer", "model"]
    definition: str
    candidates: pl.DataFrame
    scored: pl.DataFrame


@dataclass(frozen=True, slots=True)
class Shared:
    """What all rows of a table are over.

    Attributes:
        systems: Systems with a human score, of which every row has a number.
        other_systems: Systems with a human score that some row has no number of, left out.
        candidates: Candidates that every row scored.
        other_candidates: Candidates that some row did not score, left out.
        unscored: Row → candidates that it did not score, where there are any.
    """

    systems: tuple[str, ...]
    other_systems: tuple[str, ...]
    candidates: int
    other_candidates: int
    unscored: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {
            "systems": list(self.systems),
            "other_systems": list(self.other_systems),
            "candidates": self.candidates,
            "other_candidates": self.other_candidates,
            "unscored": dict(self.unscored),
        }


def check_over(over: Over | Sequence[str]) -> None:
    """Check what rows are to be over.

    Raises:
        ScoringError: If it is neither an `Over` nor a list of systems.
    """
    if not over or (isinstance(over, str) and over not in get_args(Over)):
        raise ScoringError(
            f"over {over!r}: choose {', '.join(get_args(Over))} or a list of systems"
        )


def of_systems(judged: Judged, names: Sequence[str]) -> Judged:
    """Return what the data holds of some systems.

    Args:
        judged: All of it.
        names: The systems. A candidate that others wrote too is one of theirs.

    Raises:
        ScoringError: If a system wrote no candidate.
    """
    wrote = judged.candidates["system"].drop_nulls().str.split("|").explode()
    known = names_in(wrote.to_frame(), "system")
    for name in names:
        if name not in known:
            raise ScoringError(
                f'over: no candidate is of system "{name}"{did_you_mean(name, known)}; choose '
                f"{', '.join(get_args(Over))}, or of the systems {', '.join(known) or '(none)'}"
            )
    candidates = _only(judged.candidates, names).drop_nulls("system")
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
) -> tuple[list[Numbers], Shared]:
    """Return the rows with what all of them have in common, and say what that is.

    A row without any number takes nothing away from the others.

    Args:
        rows: At least one, with numbers of the same candidates.
        people: Human scores of systems, or None.
        matched: Model of the run → system that it stands for, as NND itself ranks them.
    """
    unscored = {row.name: row.candidates["score"].null_count() for row in rows}
    every = rows[0].candidates
    for row in rows:
        if unscored[row.name] < row.candidates.height:
            every = every.join(row.candidates.drop_nulls("score"), on=CANDIDATE, how="semi")
    judged = [] if people is None else names_in(people.drop_nulls("score"), "system")
    wrote = set(every["system"].drop_nulls().str.split("|").explode())
    if len(matched) >= FEWEST_MODELS:
        wrote &= set(matched.values())
    systems = sorted(set(judged) & wrote)
    shared = Shared(
        systems=tuple(systems),
        other_systems=tuple(sorted(set(judged) - wrote)),
        candidates=every.height,
        other_candidates=rows[0].candidates.height - every.height,
        unscored={name: n for name, n in unscored.items() if n},
    )
    return [
        row._replace(candidates=_only(_kept(row.candidates, every), systems)) for row in rows
    ], shared


def _kept(candidates: pl.DataFrame, every: pl.DataFrame) -> pl.DataFrame:
    return candidates.join(every, on=CANDIDATE, how="semi", maintain_order="left")


def _only(candidates: pl.DataFrame, systems: Sequence[str]) -> pl.DataFrame:
    """Return the candidates as written by some of their systems, by null where by none."""
    known = pl.element().filter(pl.element().is_in(list(systems)))
    names = pl.col("system").str.split("|").list.eval(known)
    return candidates.with_columns(system=pl.when(names.list.len() > 0).then(names.list.join("|")))


def find_matched(
    models: Sequence[str], people: pl.DataFrame | None, systems: Mapping[str, str] | None
) -> dict[str, str]:
    """Return model → system, as `agree` matches them; nothing without human scores."""
    return {} if people is None or not models else match_systems(models, people, systems)
