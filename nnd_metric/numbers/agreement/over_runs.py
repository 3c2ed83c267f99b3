"""Agreement of stored runs with human scores, on one dataset or on several."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, overload

import polars as pl

from nnd.metric.data import (
    PairData,
    PairSet,
    choose_splits,
    cluster_of_runs,
    describe_splits,
    fill_clusters,
    find_judgements_in,
    is_several,
    load_pairs,
    missing_clusters,
    only_of_one,
    read_human_scores,
    read_human_scores_in,
    read_signatures,
    read_splits,
    scored_splits,
)
from nnd.metric.numbers.agreement.agreement import COLUMNS, Agreement
from nnd.metric.numbers.agreement.from_results import (
    agree_scored,
    read_pass_rates,
    read_scored,
    stored_systems,
)
from nnd.metric.numbers.agreement.measures import try_agreement
from nnd.metric.numbers.agreement.over_datasets import Agreements
from nnd.metric.numbers.manners.manner import (
    check_runs,
    describe_mixture,
    describe_others,
    name_protocols,
    name_readings,
    read_manners,
    read_manners_of,
)
from nnd.metric.numbers.rates.by_dataset import split_by_dataset
from nnd.metric.numbers.rates.cluster_words import few_clusters, levels_in
from nnd.metric.numbers.statistics.chosen_statistics import choose_statistics
from nnd.metric.numbers.statistics.correlations import STATISTICS
from nnd.metric.numbers.statistics.extrapolation import Extrapolation
from nnd.schemas import MANIFEST, ScoringError, listed

_Each = TypeVar("_Each", bound=PairData)


@overload
def agree(
    results: str | Path | Sequence[str | Path],
    data: list[_Each] | tuple[_Each, ...],
    *,
    systems: Mapping[str, str] | None = None,
    aspect: str | None = None,
    splits: Sequence[str] = (),
    mixed_rules: bool = False,
    statistics: str = "nnd",
) -> Agreements: ...
@overload
def agree(
    results: str | Path | Sequence[str | Path],
    data: PairData | None = None,
    *,
    human_scores: PairData | None = None,
    systems: Mapping[str, str] | None = None,
    aspect: str | None = None,
    order: Sequence[str] = (),
    splits: Sequence[str] = (),
    mixed_rules: bool = False,
    statistics: str = "nnd",
) -> Agreement: ...
def agree(
    results: str | Path | Sequence[str | Path],
    data: PairData | Sequence[PairData] | None = None,
    *,
    human_scores: PairData | None = None,
    systems: Mapping[str, str] | None = None,
    aspect: str | None = None,
    order: Sequence[str] = (),
    splits: Sequence[str] = (),
    mixed_rules: bool = False,
    statistics: str = "nnd",
) -> Agreement | Agreements:
    """Correlate stored pass rates of models with human scores.

    No model is run. The result has permutation p-values, intervals over contexts and over systems,
    and, for models that were not judged, human scores predicted from their pass rates.

    Args:
        results: Folders that `nnd evaluate` wrote, or one table of pass rates (.csv, .tsv, .jsonl,
            .json or .parquet) with columns model, category (overall for all pairs) and pass_rate,
            from 0 to 1; a table gives no intervals.
        data: The data that was scored, if it comes with human scores. Each dataset is matched to
            the runs that share pairs with it.
        human_scores: Your own human scores for one dataset: a Parquet file, or data that comes with
            them. None means those that come with the data.
        systems: The human-judged system that a model stands for, if its id does not name it. In
            Python, model → system; with several datasets, it applies to those with such a system.
        aspect: Only pairs and human scores of this aspect; a table must have rates of this aspect.
        order: Order of the systems, on which the gap correlation of the NND paper depends. Empty
            means the order of the models.
        splits: Only pairs of these splits of the data. Empty means all that were scored.
        mixed_rules: Whether to also take models that were scored by different protocols, or by
            different rules of different nnd versions. Across protocols there are no p-values and no
            agreement, except for one and the same model.
        statistics: Columns of the first table of one dataset: nnd (tau_b, gap_r), wmt
            (system_accuracy, pearson, tau_b), laban2022 (tau_a, gap_r_laban2022, gap_r: Table 1 of
            the paper), or names separated by commas, also spearman.

    Returns:
        The agreement; for a list of datasets, the agreement on each and the mean over them.

    Raises:
        ScoringError: If there are no human scores, results cannot be read or do not belong
            together, models were scored by different rules, or fewer than two models are matched to
            systems.

    Examples:
        nnd agree run --data quiz_design-nnd
        nnd agree run --data quiz_design-nnd --system my-org/quiz-gpt2=gpt2b_sup
        nnd agree runs/frank runs/summeval --data frank --data summeval
    """
    columns = choose_statistics(statistics, COLUMNS, ("system_accuracy", *STATISTICS))
    paths = [Path(path) for path in ([results] if isinstance(results, str | Path) else results)]
    if is_several(data):
        for argument, value in (("human_scores", human_scores), ("order", order or None)):
            if value is not None:
                raise only_of_one(argument)
        return _agree_each(paths, data, systems, aspect, splits=splits, mixed_rules=mixed_rules)
    pairs: Any = data
    judged: Any = data if human_scores is None else human_scores
    if judged is None:
        raise ScoringError(
            "option.needs-another",
            "human scores are missing",
            remedy="pass data (--data) or human_scores (--human-scores)",
        )
    if len(paths) == 1 and not paths[0].is_dir():
        if splits:
            raise ScoringError(
                "option.conflict", "a table of pass rates has no splits", remedy="leave out --split"
            )
        people = read_human_scores(judged)
        rates = read_pass_rates(paths[0])
        agreement, reason = try_agreement(
            rates,
            people,
            systems=systems,
            aspect=aspect,
            order=order,
            judgements=None if human_scores is not None else find_judgements_in(judged, None),
        )
    else:
        scored = _read_models(paths, pairs, splits=splits, mixed_rules=mixed_rules)
        of_splits = None if human_scores is not None else [*splits] or read_splits(paths)
        people = read_human_scores_in(judged, of_splits)
        chosen = stored_systems(paths, people, systems)
        agreement, reason = agree_scored(
            scored,
            people,
            systems=chosen,
            aspect=aspect,
            order=order,
            judgements=None if human_scores is not None else find_judgements_in(judged, of_splits),
        )
        agreement = agreement and _described(agreement, paths, pairs, scored, splits)
    if agreement is None:
        raise ScoringError("agreement.undefined", str(reason))
    return replace(agreement, columns=columns)


def _agree_each(
    folders: Sequence[Path],
    data: Sequence[PairData],
    systems: Mapping[str, str] | None,
    aspect: str | None,
    *,
    splits: Sequence[str],
    mixed_rules: bool,
) -> Agreements:
    if not mixed_rules:
        check_runs(folders)
    agreements: dict[str, Agreement] = {}
    for name, (pairs, runs, asked) in split_by_dataset(folders, data, systems).items():
        if not runs:
            raise ScoringError(
                "run.another-dataset", "none of the runs was made on this dataset", name
            )
        chosen_pairs = choose_splits(pairs, [*splits] or read_splits(runs))
        people = chosen_pairs.human_scores
        if people is None:
            raise ScoringError(
                "option.conflict", "this dataset has no human scores", name, "leave it out"
            )
        scored = _read_models(runs, pairs, splits=splits, mixed_rules=mixed_rules)
        chosen = stored_systems(runs, people, asked)
        agreement, reason = agree_scored(
            scored, people, systems=chosen, aspect=aspect, judgements=chosen_pairs.judgements()
        )
        if agreement is None:
            raise ScoringError("agreement.undefined", str(reason), name)
        agreements[name] = _described(agreement, runs, pairs, scored, splits)
    mixture = describe_mixture(each for run in folders for each in read_manners(run).values())
    return Agreements(agreements, mixture)


def _read_models(
    folders: Sequence[Path],
    data: PairData | PairSet | None,
    *,
    splits: Sequence[str],
    mixed_rules: bool,
) -> pl.DataFrame:
    """Read scored pairs as `read_scored` does, of models that stand for systems.

    Runs that do not say which contexts belong together take that from the data.
    """
    scored = read_scored(folders, splits=splits, mixed_rules=mixed_rules)
    if readings := name_readings(folders):
        raise ScoringError(
            "run.too-few-models",
            "runs of one model, which read contexts in different ways "
            f"({listed([*readings.values()])}), but agreement needs several models",
            listed([*map(str, folders)]),
            "name one of the runs, and those of other models",
        )
    pairs = _pairs_in(data) if missing_clusters(folders, scored) else None
    return scored if pairs is None else fill_clusters([scored], pairs.pairs)[0]


def _pairs_in(data: PairData | PairSet | None) -> PairSet | None:
    """Return the pairs of a converted folder; None for others, such as tables of human scores."""
    if isinstance(data, PairSet):
        return data
    is_folder = isinstance(data, str | Path) and (Path(data) / MANIFEST).is_file()
    return load_pairs(data) if is_folder and data is not None else None


def _described(
    agreement: Agreement,
    runs: Sequence[Path],
    data: PairData | PairSet | None,
    scored: pl.DataFrame,
    chosen: Sequence[str],
) -> Agreement:
    """Return an agreement that says how its models were scored.

    Across several protocols, nothing is correlated, and each model is named with its protocol.
    """
    missing = missing_clusters(runs, scored)
    pairs = _pairs_in(data) if missing else None
    few = few_clusters(levels_in(scored), cluster_of_runs(runs, pairs))
    signatures = [text for run in runs for text in read_signatures(run).values()]
    splits = scored_splits(scored, signatures, chosen)
    notes = [f"Pass rates are of {describe_splits(splits)}."] if splits else []
    manners = read_manners_of(runs)
    notes += [f"{missing}."] if missing and pairs is None else []
    notes += [f"{few[0].upper()}{few[1:]}."] if few else []
    unlike = describe_others(manners)
    agreement = replace(agreement, notes=(*notes, *([unlike] if unlike else [])))
    mixture = describe_mixture(manners.values())
    if mixture is None:
        return agreement
    names, nothing = name_protocols(manners), dict.fromkeys(STATISTICS)
    kinds = ("statistics", "intervals", "intervals_over_systems", "p_values")
    undefined: dict[str, Any] = {**dict.fromkeys(kinds, nothing), "permutations": None}
    undefined |= {"interval_reasons": {}, "interval_reasons_over_systems": {}}
    by_category = {
        category: replace(
            each,
            **undefined,
            judged={names.get(model, model): judged for model, judged in each.judged.items()},
            extrapolation=Extrapolation(each.n, None, mixture, ()),
            system_accuracy=None,
            system_accuracy_interval=None,
            system_accuracy_interval_reason=None,
        )
        for category, each in agreement.by_category.items()
    }
    mean = replace(agreement.mean, **undefined, categories=dict.fromkeys(STATISTICS, 0))
    return replace(
        agreement,
        by_category=by_category,
        mean=mean,
        systems={names.get(model, model): system for model, system in agreement.systems.items()},
        unmatched=[names.get(model, model) for model in agreement.unmatched],
        unscored=agreement.unscored
        and {names.get(model, model): n for model, n in agreement.unscored.items()},
        mixture=mixture,
        equal_length={},
        notes=(mixture, *agreement.notes),
    )
