"""NND against other metrics, in one table as in Table 1 of Laban et al. (2022).

Each row is a way to judge, and is asked the same three questions:

    pass rate     How often does it prefer the candidate that people preferred (the NND pairs)?
    systems       Does it rank the systems as people do? See `system_means`.
    candidates    Does it agree with people on single candidates (`meta`)?

Rows are scorers, such as ROUGE; models of a stored run, with their log-likelihoods of the
candidates in pairs (others were not scored, and are counted so); and, for the run as a whole, NND
itself: the pass rates of its models against the human scores of the systems they stand for.
"""

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import polars as pl

from nnd.metric.agreement import Agreement, agree_scored
from nnd.metric.meta.candidates import CandidateAgreement, correlate_candidates
from nnd.metric.meta.judged import CANDIDATE, Judged
from nnd.metric.meta.systems import agree_on_systems
from nnd.metric.results import SCORED_SCHEMA, PassRates, measure, pass_rates
from nnd.metric.scorers import TextScorer, score_texts
from nnd.schemas import ScoringError, write_whole

MODEL_DEFINITION = "log-likelihood in the run, of the candidates in pairs"
NND_DEFINITION = "pass rates of the run's models against human scores of the systems they stand for"


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One way to judge, and how well it does.

    Attributes:
        name: Of the scorer or the model; "NND pass rate" for all models of a run together.
        kind: What the row is.
        definition: What is computed, in one line; "" where nobody says.
        rates: Pass rates on the NND pairs; None for NND itself, which has one per model.
        systems: Agreement with the human scores of systems, or None.
        systems_reason: Why there is none, or None.
        candidates: Aspect to agreement on single candidates; nothing for NND itself.
    """

    name: str
    kind: Literal["scorer", "model", "nnd"]
    definition: str
    rates: PassRates | None
    systems: Agreement | None
    systems_reason: str | None
    candidates: Mapping[str, CandidateAgreement]

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {
            "name": self.name,
            "kind": self.kind,
            "definition": self.definition,
            "rates": None if self.rates is None else self.rates.to_dict(),
            "systems": None if self.systems is None else self.systems.to_dict(),
            "systems_reason": self.systems_reason,
            "candidates": {name: found.to_dict() for name, found in self.candidates.items()},
        }


@dataclass(frozen=True, slots=True)
class MetricTable:
    """NND against other metrics.

    Attributes:
        rows: Scorers, then models, then NND itself.
        scores: The numbers behind it: scorer, split, context_id, candidate_id, score.
    """

    rows: tuple[MetricRow, ...]
    scores: pl.DataFrame

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {"rows": [row.to_dict() for row in self.rows]}

    def write(self, folder: str | Path) -> None:
        """Write metrics.json and scores.parquet into a folder, each whole or not at all."""
        buffer = io.BytesIO()
        self.scores.write_parquet(buffer)
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"
        write_whole(Path(folder) / "scores.parquet", buffer.getvalue())
        write_whole(Path(folder) / "metrics.json", text)


_SCORES = {
    "scorer": pl.String,
    "split": pl.String,
    "context_id": pl.String,
    "candidate_id": pl.String,
    "score": pl.Float64,
}


class _Numbers(NamedTuple):
    """What one row says.

    Attributes:
        name: As in `MetricRow`, and so are the next two.
        kind: What the row is.
        definition: What is computed.
        candidates: Those of `judged`, with a score each.
        scored: The pairs, rows of SCORED_SCHEMA.
    """

    name: str
    kind: Literal["scorer", "model"]
    definition: str
    candidates: pl.DataFrame
    scored: pl.DataFrame


def compare_metrics(
    judged: Judged,
    scorers: Iterable[TextScorer],
    *,
    references: pl.DataFrame | None = None,
    run: pl.DataFrame | None = None,
    systems: Mapping[str, str] | None = None,
) -> MetricTable:
    """Ask scorers, and the models of a stored run, how well they agree with people.

    Args:
        judged: Pairs, candidates and what people said (`judged.read_judged`).
        scorers: Scorers, each by a name of its own.
        references: A table of references (`references.read_references`).
        run: Scored pairs of one or more models (`agree.read_scored`); nothing is scored again.
        systems: Model of the run → system it stands for, where the model's id does not say it.

    Raises:
        ScoringError: If two rows have one name, a scorer or the references do not fit the data, the
            run was made on other pairs, or two models stand for one system.
    """
    asked = list(scorers)
    scored = None if run is None else _of_pairs(run, judged)
    models = _models(scored)
    _check_names([*(scorer.name for scorer in asked), *models])
    numbers = [*_ask(asked, judged, references), *_look_up(models, judged)]
    rows = [_row(each, judged) for each in numbers]
    if scored is not None:
        rows.append(_nnd_row(scored, judged, systems))
    kept = [
        each.candidates.with_columns(scorer=pl.lit(each.name)).select(*_SCORES) for each in numbers
    ]
    return MetricTable(tuple(rows), pl.concat([pl.DataFrame(schema=_SCORES), *kept]))


def _ask(
    scorers: Sequence[TextScorer], judged: Judged, references: pl.DataFrame | None
) -> Iterator[_Numbers]:
    texts = judged.texts(references)
    pairs = judged.pairs.pairs.hstack(measure(judged.pairs.pairs))
    for scorer in scorers:
        candidates = judged.candidates.with_columns(score=score_texts(scorer, texts))
        scored = prefer(candidates, pairs)
        known = [scorer.definition, scorer.made_with() if scorer.made_with else ""]
        definition = "; ".join(each for each in known if each)
        yield _Numbers(scorer.name, "scorer", definition, candidates, scored)


def _look_up(models: Mapping[str, pl.DataFrame], judged: Judged) -> Iterator[_Numbers]:
    """Yield the stored likelihoods of each model; null for candidates in no pair."""
    for model, scored in models.items():
        sides = [
            scored.select("split", candidate_id=f"{side}_id", score=f"ll_{side}")
            for side in ("high", "low")
        ]
        known = pl.concat(sides).unique(CANDIDATE, keep="first")
        candidates = judged.candidates.join(known, on=CANDIDATE, how="left", maintain_order="left")
        yield _Numbers(model, "model", MODEL_DEFINITION, candidates, scored)


def _row(numbers: _Numbers, judged: Judged) -> MetricRow:
    pairs, people = judged.pairs.pairs, judged.pairs.human_scores
    systems, reason = agree_on_systems(numbers.candidates, pairs, people, aspect=judged.aspect)
    said = judged.human.join(numbers.candidates, on=CANDIDATE)
    return MetricRow(
        numbers.name,
        numbers.kind,
        numbers.definition,
        pass_rates(numbers.scored),
        systems,
        reason,
        {
            aspect: correlate_candidates(said.filter(pl.col("aspect") == aspect))
            for aspect in sorted(judged.human["aspect"].unique())
        },
    )


def prefer(candidates: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """Judge pairs by a number per candidate, as `scoring.score_pairs` does by likelihoods.

    Args:
        candidates: split, candidate_id and score (null where there is none).
        pairs: NND pairs; further columns of SCORED_SCHEMA are kept.

    Returns:
        Rows of SCORED_SCHEMA with the numbers in the place of likelihoods. A pair is passed iff the
        better candidate has the higher number; an equal or missing one is a failure.
    """
    scores = candidates.select(*CANDIDATE, "score")
    found = pairs
    for side in ("high", "low"):
        found = found.join(
            scores.rename({"candidate_id": f"{side}_id", "score": f"ll_{side}"}),
            on=["split", f"{side}_id"],
            how="left",
            maintain_order="left",
        )
    high, low = pl.col("ll_high"), pl.col("ll_low")
    found = found.with_columns(
        truncated=pl.lit(None),  # a scorer does not say what it cut
        passed=(high > low).fill_null(value=False),
        tie=(high == low).fill_null(value=False),
    )
    return found.select(
        (pl.col(name) if name in found.columns else pl.lit(None)).cast(dtype).alias(name)
        for name, dtype in SCORED_SCHEMA.items()
    )


def _nnd_row(scored: pl.DataFrame, judged: Judged, systems: Mapping[str, str] | None) -> MetricRow:
    people, aspect = judged.pairs.human_scores, judged.aspect
    found, reason = agree_scored(scored, people, systems=systems, aspect=aspect)
    return MetricRow("NND pass rate", "nnd", NND_DEFINITION, None, found, reason, {})


def _of_pairs(run: pl.DataFrame, judged: Judged) -> pl.DataFrame:
    """Return what a run says of these pairs, all of which it must know."""
    pairs = judged.pairs.pairs.select("pair_id")
    for model, rows in _models(run).items():
        missing = pairs.join(rows, on="pair_id", how="anti").height
        if missing:
            raise ScoringError(
                f'model "{model}" was not scored on {missing} of the {pairs.height} pairs; name a '
                "run on this data, or evaluate anew"
            )
    return run.join(pairs, on="pair_id", how="semi", maintain_order="left")


def _models(scored: pl.DataFrame | None) -> dict[str, pl.DataFrame]:
    if scored is None:
        return {}
    names = scored["model"].unique(maintain_order=True)
    return {name: scored.filter(pl.col("model") == name) for name in names}


def _check_names(names: Sequence[str]) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ScoringError(f'two rows are called "{repeated[0]}"; name each scorer once')
