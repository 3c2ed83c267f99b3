"""Compare NND with other metrics, as in Table 1 of Laban et al. (2022).

Each row is a metric, and answers the same three questions:

    pass rate     How often does it prefer the candidate that people preferred (the NND pairs)?
    systems       Does it rank the systems as people do? See `system_correlations`.
    candidates    Does it agree with people on single candidates (`candidate_correlations`)?

Rows are scorers, such as ROUGE; models of a stored run, with their log-likelihoods of the
candidates in pairs (the others count as unscored); and, for the whole run, NND itself: the pass
rates of its models against the human scores of the systems they stand for.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import polars as pl

from nnd.metric.data import SCORED_SCHEMA, match_systems, of_aspect
from nnd.metric.numbers import (
    FEWEST_MODELS,
    HumanNoise,
    Manner,
    agree_scored,
    describe_manners,
    describe_mixture,
    few_clusters,
    find_noise,
    find_protocols,
    levels_in,
    measure,
    name_protocols,
    pass_rates,
)
from nnd.metric.other_metrics.candidate_correlations import (
    correlate_candidates,
    judgements_by_system,
)
from nnd.metric.other_metrics.common_basis import (
    CommonBasis,
    Numbers,
    Over,
    find_shared,
    of_systems,
)
from nnd.metric.other_metrics.judged_candidates import CANDIDATE, JudgedCandidates
from nnd.metric.other_metrics.metric_differences import (
    AccuracyDifference,
    find_accuracy_differences,
    find_differences,
)
from nnd.metric.other_metrics.metric_table import MAIN, MetricRow, MetricTable
from nnd.metric.other_metrics.pair_statistics import PAIR_STATISTICS, measure_pairs
from nnd.metric.other_metrics.scorers.letter_case import (
    Normalise,
    case_differs,
    in_lower_case,
)
from nnd.metric.other_metrics.scorers.scorer import Text, TextScorer, score_texts
from nnd.metric.other_metrics.scorers.unread_texts import (
    describe_english,
    describe_unread,
    reads_none,
)
from nnd.metric.other_metrics.stored_values import NO_VALUES, ValueTable
from nnd.metric.other_metrics.system_correlations import agree_on_systems
from nnd.schemas import OVERALL, ScoringError

MODEL_DEFINITION = "log-likelihood in the run, for candidates in pairs"
NND_DEFINITION = "pass rates of the run's models against human scores of the systems they stand for"


_SCORES = {
    "scorer": pl.String,
    "split": pl.String,
    "context_id": pl.String,
    "candidate_id": pl.String,
    "score": pl.Float64,
}


def compare_metrics(
    judged: JudgedCandidates,
    scorers: Iterable[TextScorer],
    *,
    references: pl.DataFrame | None = None,
    values: ValueTable = NO_VALUES,
    run: pl.DataFrame | None = None,
    systems: Mapping[str, str] | None = None,
    manners: Mapping[str, Manner] | None = None,
    over: Over | Sequence[str] = "shared",
    normalise: Normalise | None = None,
    statistics: Sequence[str] = MAIN,
) -> MetricTable:
    """Compute how well scorers, and the models of a stored run, agree with people.

    Args:
        judged: Pairs, candidates and judgements (`read_judged`).
        scorers: Scorers with distinct names.
        references: A table of references (`read_references`).
        values: Values that other metrics gave to the candidates (`read_values`).
        run: Scored pairs of one or more models (`read_scored`); no model is run.
        systems: Model of the run → system it stands for, if the model's id does not name it.
        manners: Model of the run → how it was scored.
        over: Basis of the correlations (`common_basis`).
        normalise: What reference metrics do to candidates and references first.
        statistics: Columns of the first table (`COLUMNS`). Those over pairs are computed
            only if they are among them.
    """
    all_scorers, manners = list(scorers), manners or {}
    people, run_models = judged.pairs.human_scores, list(_models(run))
    matched = {}
    if people is not None and run_models:
        matched = match_systems(run_models, people, systems)
    if not isinstance(over, str):
        judged = of_systems(judged, over)
        matched = {model: system for model, system in matched.items() if system in over}
    notes: list[str | None] = [*describe_manners(manners), *values.notes]
    if normalise is None:
        notes.append(case_differs(judged.candidates, all_scorers))
    else:
        all_scorers = in_lower_case(all_scorers)
    scored = None
    if run is not None:
        n_pairs = judged.pairs.pairs.height
        judged, scored = _on_shared_pairs(judged, run)
        if (n := judged.pairs.pairs.height) < n_pairs:  # as with `--limit`
            notes.append(
                f"The models were scored on {n:,} of the {n_pairs:,} pairs; all rows use only "
                "these."
            )
    names = name_protocols(manners)
    models = {names.get(model, model): rows for model, rows in _models(scored).items()}
    _check_names([*(scorer.name for scorer in all_scorers), *values.metrics, *models])
    texts = judged.texts(references)
    numbers = [
        *_ask(all_scorers, judged, texts),
        *_stored(values, judged),
        *_look_up(models, judged),
    ]
    comparable, shared = numbers, None
    if over != "all" and len(numbers) + (scored is not None) > 1:
        people = judged.pairs.human_scores
        of_one = None if people is None else of_aspect(people, judged.aspect)
        comparable, shared = find_shared(numbers, of_one, matched)
    of_pairs = [name for name in statistics if name in PAIR_STATISTICS]
    blind = {each.name for each in all_scorers if reads_none(each, texts)}
    order = () if isinstance(over, str) else over
    rows = [_row(each, judged, of_pairs, blind, order) for each in comparable]
    notes += [*describe_unread(all_scorers, texts), *describe_english(all_scorers, texts)]
    notes.append(_few_clusters(judged))
    if scored is not None:
        rows.append(_nnd_row(scored, judged, matched, shared, manners, order=order))
    scores = [
        each.candidates.with_columns(scorer=pl.lit(each.name)).select(*_SCORES) for each in numbers
    ]
    compared = {} if shared is None else {row.name: row.candidates for row in rows}
    protocols = {names[model]: find_protocols([manner]) for model, manner in manners.items()}
    differences = tuple(  # of scorers, and of models of one protocol
        each
        for each in find_differences(compared)
        if len({*protocols.get(each.metric, ()), *protocols.get(each.other_metric, ())}) <= 1
    )
    judgements = judged.human.join(judged.candidates, on=CANDIDATE)
    return MetricTable(
        rows=tuple(rows),
        scores=pl.concat([pl.DataFrame(schema=_SCORES), *scores]),
        judgement=judged.definition,
        people=judgements_by_system(judgements),
        differences=differences,
        shared=shared,
        normalise=normalise,
        notes=tuple(note for note in notes if note),
        splits=judged.pairs.several_splits,
        statistics=tuple(statistics),
        accuracy_differences=tuple(_accuracy_differences(comparable, judged, of_pairs)),
        reliability=judged.reliability if of_pairs else {},
        human_noise=_noise(judged, shared),
    )


def _few_clusters(judged: JudgedCandidates) -> str | None:
    pairs = judged.pairs.pairs
    judgements = judged.human.join(judged.candidates, on=CANDIDATE)
    levels = levels_in(pairs if pairs.height else judgements)
    found = few_clusters(levels, judged.pairs.cluster)
    return found and f"{found[0].upper()}{found[1:]}."


def _noise(judged: JudgedCandidates, shared: CommonBasis | None) -> HumanNoise | None:
    """Return the noise in the human scores of the systems that all rows have."""
    people, judgements = judged.pairs.human_scores, judged.pairs.judgements()
    if people is None or judgements is None:
        return None
    systems = (shared and shared.systems) or sorted(people["system"].unique())
    return find_noise(judgements.numbers(OVERALL, judged.aspect), systems)


def _ask(
    scorers: Sequence[TextScorer], judged: JudgedCandidates, texts: Sequence[Text]
) -> Iterator[Numbers]:
    pairs = judged.pairs.pairs.hstack(measure(judged.pairs.pairs))
    for scorer in scorers:
        candidates = judged.candidates.with_columns(score=score_texts(scorer, texts))
        scored = prefer(candidates, pairs)
        known = [scorer.definition, scorer.made_with() if scorer.made_with else ""]
        definition = "; ".join(each for each in known if each)
        yield Numbers(scorer.name, "scorer", definition, candidates, scored)


def _stored(values: ValueTable, judged: JudgedCandidates) -> Iterator[Numbers]:
    pairs = judged.pairs.pairs.hstack(measure(judged.pairs.pairs))
    for name, metric in values.metrics.items():
        candidates = judged.candidates.join(
            metric.values, on=CANDIDATE, how="left", nulls_equal=True, maintain_order="left"
        )
        yield Numbers(name, "scorer", metric.definition, candidates, prefer(candidates, pairs))


def _look_up(models: Mapping[str, pl.DataFrame], judged: JudgedCandidates) -> Iterator[Numbers]:
    """Yield the stored likelihoods of each model; null for candidates outside pairs."""
    for model, scored in models.items():
        sides = [
            scored.select("split", candidate_id=f"{side}_id", score=f"ll_{side}")
            for side in ("high", "low")
        ]
        known = pl.concat(sides).unique(CANDIDATE, keep="first")
        candidates = judged.candidates.join(known, on=CANDIDATE, how="left", maintain_order="left")
        yield Numbers(model, "model", MODEL_DEFINITION, candidates, scored)


def _accuracy_differences(
    numbers: Sequence[Numbers], judged: JudgedCandidates, names: Sequence[str]
) -> Iterator[AccuracyDifference]:
    if "acc_eq_star" not in names or len(numbers) < 2:  # noqa: PLR2004
        return
    for aspect, human in _by_aspect(judged):
        candidates = {each.name: _joined(human, each) for each in numbers}
        yield from find_accuracy_differences(aspect, candidates)


def _joined(human: pl.DataFrame, numbers: Numbers) -> pl.DataFrame:
    return human.join(numbers.candidates, on=CANDIDATE, maintain_order="left")


def _by_aspect(judged: JudgedCandidates) -> Iterator[tuple[str, pl.DataFrame]]:
    for aspect in sorted(judged.human["aspect"].unique()):
        yield aspect, judged.human.filter(pl.col("aspect") == aspect).sort(CANDIDATE)


def _row(
    numbers: Numbers,
    judged: JudgedCandidates,
    of_pairs: Sequence[str],
    blind: Collection[str],
    order: Sequence[str],
) -> MetricRow:
    pairs, people = judged.pairs.pairs, judged.pairs.human_scores
    systems, reason = agree_on_systems(
        numbers.candidates, pairs, people, aspect=judged.aspect, order=order
    )
    tables = {aspect: _joined(human, numbers) for aspect, human in _by_aspect(judged)}
    return MetricRow(
        numbers.name,
        numbers.kind,
        numbers.definition,
        None if numbers.name in blind else pass_rates(numbers.scored),
        systems,
        reason,
        {aspect: correlate_candidates(table) for aspect, table in tables.items()},
        {aspect: measure_pairs(table, of_pairs) for aspect, table in tables.items() if of_pairs},
    )


def prefer(candidates: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """Judge pairs by scores of candidates, as `score_pairs` does by likelihoods.

    The candidates have split, candidate_id and score (null if missing). Returns rows of
    SCORED_SCHEMA with scores in place of likelihoods. A pair is passed iff the better candidate has
    the higher score; an equal or missing score is a failure.
    """
    scores = candidates.select(*CANDIDATE, "score")
    scored = pairs
    for side in ("high", "low"):
        scored = scored.join(
            scores.rename({"candidate_id": f"{side}_id", "score": f"ll_{side}"}),
            on=["split", f"{side}_id"],
            how="left",
            maintain_order="left",
        )
    high, low = pl.col("ll_high"), pl.col("ll_low")
    scored = scored.with_columns(
        truncated=pl.lit(None),  # a scorer does not report cuts
        passed=(high > low).fill_null(value=False),
        tie=(high == low).fill_null(value=False),
    )
    return scored.select(
        (pl.col(name) if name in scored.columns else pl.lit(None)).cast(dtype).alias(name)
        for name, dtype in SCORED_SCHEMA.items()
    )


def _nnd_row(
    scored: pl.DataFrame,
    judged: JudgedCandidates,
    matched: Mapping[str, str],
    shared: CommonBasis | None,
    manners: Mapping[str, Manner],
    *,
    order: Sequence[str],
) -> MetricRow:
    """Return the row of NND itself, without systems for which other rows lack a number."""
    agreement, reason = None, describe_mixture(manners.values())
    if reason is None:
        if shared is not None and len(shared.systems) >= FEWEST_MODELS:
            left_out = [model for model, system in matched.items() if system not in shared.systems]
            scored = scored.filter(~pl.col("model").is_in(left_out))
            matched = {model: system for model, system in matched.items() if model not in left_out}
        people = judged.pairs.human_scores
        known = set() if people is None else {*people["system"]}
        agreement, reason = agree_scored(
            scored,
            people,
            systems=matched,
            aspect=judged.aspect,
            order=[system for system in order if system in known],
        )
    return MetricRow("NND pass rate", "nnd", NND_DEFINITION, None, agreement, reason, {})


def _on_shared_pairs(
    judged: JudgedCandidates, run: pl.DataFrame
) -> tuple[JudgedCandidates, pl.DataFrame]:
    """Restrict data and run to the pairs that all models of the run were scored on."""
    data, shared = judged.pairs.pairs, judged.pairs.pairs
    for model, rows in _models(run).items():
        shared = shared.join(rows, on="pair_id", how="semi", maintain_order="left")
        if shared.is_empty() and not data.is_empty():
            raise ScoringError(
                "run.another-data",
                f'model "{model}" was scored on none of the {data.height} pairs that all '
                "rows could share",
                remedy="name a run on this data, or evaluate again",
            )
    restricted = replace(judged, pairs=replace(judged.pairs, pairs=shared))
    return restricted, run.join(shared, on="pair_id", how="semi", maintain_order="left")


def _models(scored: pl.DataFrame | None) -> dict[str, pl.DataFrame]:
    if scored is None:
        return {}
    names = scored["model"].unique(maintain_order=True)
    return {name: scored.filter(pl.col("model") == name) for name in names}


def _check_names(names: Sequence[str]) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ScoringError("name.twice", f'two rows are called "{repeated[0]}"')
