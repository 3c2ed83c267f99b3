"""The content of a report, before drawing: every number is a function of stored runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl

from nnd.metric.data import (
    RESULT,
    Origin,
    PairData,
    PairSet,
    SuiteSet,
    choose_splits,
    cluster_of_runs,
    missing_clusters,
    read_human_scores,
    read_sets,
    read_splits,
    scored_splits,
)
from nnd.metric.numbers import (
    Comparison,
    Effects,
    Entry,
    Manner,
    Slices,
    agree_scored,
    category_column,
    compare_entries,
    describe_manners,
    describe_mixture,
    find_effects,
    manner_of,
    name_readings,
    stored_systems,
)
from nnd.metric.show.figures.groups import RateGroup, find_groups
from nnd.metric.show.figures.points import Points, find_points
from nnd.metric.show.reports.content.report_models import ReportModel, read_models, stored_agreement
from nnd.schemas import ScoringError, check_known

MOST_COMPARISONS = 6
"""With more models, only the best one is compared with each other."""


@dataclass(frozen=True, slots=True)
class ReportContent:
    """Everything that a report shows; what the data does not have is None or empty.

    Attributes:
        models: The models, the best one first.
        groups: Pass rates: all tests, then the categories of a column that has several.
        agreement: With people (`Agreement.to_dict`).
        agreement_reason: Why there is no agreement.
        points: The numbers behind the agreement, per category.
        comparisons: Indices of two models, and their comparison, with their short names.
        families: Model → its family.
        origin: Facts about the source of the pairs.
        slices: Only if requested.
        splits: The splits of the pairs, if the data has several.
        cluster: What clusters of contexts are called, such as paragraph, or None.
        notes: Sentences on how the models were scored, if not alike, and on missing clusters.
    """

    models: Sequence[ReportModel]
    groups: Sequence[RateGroup]
    agreement: Mapping[str, Any] | None
    agreement_reason: str | None
    points: Sequence[Points]
    comparisons: Sequence[tuple[int, int, Comparison]]
    effects: Effects | None
    families: Mapping[str, str]
    texts: PairSet | None
    origin: Origin | None = None
    slices: Slices | None = None
    splits: Sequence[str] = ()
    cluster: str | None = None
    notes: Sequence[str] = ()


def gather(
    folders: Sequence[Path],
    texts: PairSet | None,
    systems: Mapping[str, str] | None,
    *,
    human_scores: PairData | None,
    families: Mapping[str, str] | None,
    among: Sequence[str],
    splits: Sequence[str],
    mixed_rules: bool,
    protocols: bool,
) -> ReportContent:
    """Read stored runs, and compute the content of their report.

    `texts` are the pairs that were scored; their human scores are used unless others are given.
    `among` are all models of the page; `protocols` says whether names of models state the protocol.
    The other arguments are those of `report`.
    """
    models = read_models(
        folders, among, splits=splits, mixed_rules=mixed_rules, protocols=protocols, texts=texts
    )
    cluster = cluster_of_runs(folders, texts)
    missing = missing_clusters(folders, models[0].rows) if texts is None else None
    manners = {each.name: manner_of(each.facts) for each in models}
    mixture = describe_mixture(manners.values())
    texts = texts and choose_splits(texts, [*splits] or read_splits(folders))
    families = dict(families or {})
    _check_families(families, models, among)
    people = texts.human_scores if texts is not None else None
    judgements = None if texts is None else texts.judgements()
    if human_scores is not None:
        people, judgements = read_human_scores(human_scores), None
    stored, reason = (None, mixture) if mixture else stored_agreement(folders, splits)
    best_first = sorted(models, key=lambda each: -(each.rates.overall.pass_rate or 0.0))
    points: Sequence[Points] = ()
    if people is not None and mixture is None:
        chosen = stored_systems(folders, people, systems)
        everything = pl.concat([each.rows.drop("occurrence", "close") for each in models])
        agreement, why = agree_scored(everything, people, systems=chosen, judgements=judgements)
        stored, reason = (None if agreement is None else agreement.to_dict()), str(why)
        if agreement is not None:
            rates = {each.model: each.rates for each in best_first}
            points = find_points(rates, agreement, people, category_column(everything, people))
    elif systems and mixture is None:
        raise ScoringError(
            "option.needs-another",
            "--system needs human scores",
            remedy="pass --data or --human-scores",
        )
    return ReportContent(
        models=best_first,
        groups=find_groups([each.rates for each in best_first]),
        agreement=stored,
        agreement_reason=None if stored is not None else reason,
        points=points,
        comparisons=_compare(best_first, manners, cluster),
        effects=_read_effects(folders, best_first),
        families={e.model: families[e.model] for e in best_first if e.model in families},
        texts=texts,
        splits=scored_splits(models[0].rows, [each.signature for each in models], splits),
        cluster=cluster,
        notes=(*describe_manners(manners), *([f"{missing}."] if missing else [])),
    )


def _compare(
    models: Sequence[ReportModel], manners: Mapping[str, Manner], cluster: str | None
) -> list[tuple[int, int, Comparison]]:
    entries = [
        Entry(each.name, each.model, each.rows, each.signature, manners[each.name], None, cluster)
        for each in models
    ]
    chosen = list(combinations(range(len(models)), 2))
    if len(chosen) > MOST_COMPARISONS:
        rates = [each.rates.overall.pass_rate or 0.0 for each in models]
        best = rates.index(max(rates))
        chosen = [(best, other) for other in range(len(models)) if other != best]
    return [(a, b, compare_entries(entries[a], entries[b])) for a, b in chosen]


def _check_families(
    families: Mapping[str, str], models: Sequence[ReportModel], among: Sequence[str]
) -> None:
    known = among or [each.model for each in models]
    check_known("model", families, known, "--family", family=ScoringError)
    unsized = [e.model for e in models if e.model in families and e.parameters is None]
    if unsized:
        raise ScoringError(
            "run.evaluate-again",
            f'the run does not state the number of parameters of "{unsized[0]}"',
            "--family",
            "evaluate again (this is quick, because likelihoods are stored)",
        )


def _read_effects(folders: Sequence[Path], models: Sequence[ReportModel]) -> Effects | None:
    """Return the effects of sets on the models that were evaluated on a suite; None without any."""
    readings = name_readings(folders)
    frames = {folder: read_sets(folder) for folder in folders}
    children = pl.concat(
        rows.with_columns(model=pl.lit(readings[folder])) if folder in readings else rows
        for folder, rows in frames.items()
    )
    chosen = [each for each in models if each.facts.get("suite")]
    if not chosen:
        return None
    sets = [_sets_of(each, folders) for each in chosen]
    own = [children.filter(model=each.model).select("set", "pair_id") for each in chosen]
    pairs = [{*rows.iter_rows()} for rows in own]
    for each, own_sets, own_pairs in zip(chosen, sets, pairs, strict=True):
        if own_sets != sets[0] or own_pairs != pairs[0]:
            raise ScoringError(
                "run.another-data",
                f'models "{chosen[0].model}" and "{each.model}" were not evaluated on the '
                "same sets",
                remedy="evaluate both on the same suite",
            )
    named = [SuiteSet(*of, pl.DataFrame()) for of in sets[0]]  # type: ignore[arg-type] # one run's
    return find_effects(named, ((each.model, each.rows) for each in chosen), children)


def _sets_of(model: ReportModel, folders: Sequence[Path]) -> list[tuple[str, str, str]]:
    try:
        return [(each["set"], each["kind"], each["op"]) for each in model.facts["suite"]]
    except (KeyError, TypeError) as error:
        raise ScoringError(
            "run.evaluate-again", f"the suite of {model.model} cannot be read", folders[0] / RESULT
        ) from error
