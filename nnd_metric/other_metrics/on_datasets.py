"""NND against other metrics, on one dataset or on several."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack, get_args, overload

from nnd.metric.data import Table, is_several, only_of_one, read_splits
from nnd.metric.numbers import (
    check_runs,
    choose_statistics,
    read_manners_of,
    read_scored,
    split_by_dataset,
    stored_systems,
)
from nnd.metric.other_metrics.common_basis import Over
from nnd.metric.other_metrics.judged_candidates import JudgedCandidates, read_judged
from nnd.metric.other_metrics.measuring_metrics import compare_metrics
from nnd.metric.other_metrics.metric_slices import MetricSlices, slices_of, where_judged
from nnd.metric.other_metrics.metric_table import (
    COLUMNS,
    MAIN,
    MEANS,
    METRICS,
    MetricTable,
    MetricTables,
)
from nnd.metric.other_metrics.pair_statistics import PAIR_STATISTICS
from nnd.metric.other_metrics.scorers.letter_case import Normalise
from nnd.metric.other_metrics.scorers.reference_scorers import Several
from nnd.metric.other_metrics.scorers.references import read_references
from nnd.metric.other_metrics.scorers.scorer_names import (
    AnyScorer,
    find_scorers,
    plain_names,
    with_trivial,
)
from nnd.metric.other_metrics.stored_values import read_values
from nnd.metric.text import LanguageOptions
from nnd.schemas import ScoringError, check_replaceable

_Each = TypeVar("_Each", bound=str | Path)


class _Options(TypedDict, total=False):
    """The arguments for any number of datasets."""

    scorers: AnyScorer | Sequence[AnyScorer] | None
    systems: Mapping[str, str] | None
    several: Several
    normalise: Normalise | None
    template: str
    prefix: str
    language: str | None
    context_language: str | None
    aspect: str | None
    splits: Sequence[str]
    mixed_rules: bool
    over: Over | Sequence[str]
    where: str | None
    training_texts: str | Path | None
    statistics: str
    out: str | Path | None


@overload
def metrics(
    runs: str | Path | Sequence[str | Path] = (),
    *,
    data: list[_Each] | tuple[_Each, ...],
    **options: Unpack[_Options],
) -> MetricTables: ...
@overload
def metrics(
    runs: str | Path | Sequence[str | Path] = (),
    *,
    data: str | Path,
    references: str | Path | Table | None = None,
    scores: str | Path | Table | None = None,
    by: None = None,
    **options: Unpack[_Options],
) -> MetricTable: ...
@overload
def metrics(
    runs: str | Path | Sequence[str | Path] = (),
    *,
    data: str | Path,
    by: str | Sequence[str],
    references: str | Path | Table | None = None,
    scores: str | Path | Table | None = None,
    **options: Unpack[_Options],
) -> MetricSlices: ...
def metrics(
    runs: str | Path | Sequence[str | Path] = (),
    *,
    data: str | Path | Sequence[str | Path],
    scorers: AnyScorer | Sequence[AnyScorer] | None = None,
    systems: Mapping[str, str] | None = None,
    references: str | Path | Table | None = None,
    scores: str | Path | Table | None = None,
    lower: Sequence[str] = (),
    several: Several = "max",
    normalise: Normalise | None = None,
    template: str = "default",
    prefix: str = "",
    language: str | None = None,
    context_language: str | None = None,
    aspect: str | None = None,
    splits: Sequence[str] = (),
    mixed_rules: bool = False,
    over: Over | Sequence[str] = "shared",
    by: str | Sequence[str] | None = None,
    where: str | None = None,
    training_texts: str | Path | None = None,
    statistics: str = "nnd",
    out: str | Path | None = None,
) -> MetricTable | MetricTables:
    """Compare NND with other metrics: which agree with humans?

    Args:
        runs: Folders that `nnd evaluate` wrote on this data, for the row of NND itself. If they
            have only some of the pairs, all rows use these.
        data: Converted folder; each is matched to the runs that share pairs with it.
        scorers: rouge1, rouge2, rouge3, rougeL, bleu, chrf, length, overlap, bertscore[=MODEL],
            prompted=MODEL, bartscore_DIRECTION=MODEL or prompted_DIRECTION=MODEL (faithfulness,
            precision, recall, f, f_harmonic), reward=MODEL[:label], evaluate=NAME|PATH[:key]. None
            means all metrics that need no model. In Python, also functions that return a number or
            None for every text (`TextScorer`).
        systems: The human-judged system that a model stands for, if its id does not name it. In
            Python, model → system; with several datasets, it applies to those with such a system.
        references: Table with the columns context_id (or context) and reference, for one dataset.
            None means those of the data.
        scores: Table of values that other metrics gave to the candidates, such as COMET or a judge,
            for one dataset: a column per metric, and candidate_id, context_id and system, or
            candidate (and context), which say what a row is of.
        lower: Metrics of that table of which lower values are better.
        several: How several references count: by the highest number, the mean or the first.
        normalise: lower: metrics with references compare in lower case (likelihoods do not).
        template: For bartscore and prompted: template of the text that is read: instruction (that
            of the data) or your own, e.g. "Summarise: {context}".
        prefix: For bartscore and prompted: text before the predicted text, e.g. "In short, ", which
            is scored with it.
        language: For bartscore and prompted with a multilingual model (NLLB, mBART and others): the
            language of the candidates, such as de, where the data does not say it, or not exactly
            enough.
        context_language: That of the contexts, likewise.
        aspect: Only pairs and judgements of this aspect.
        splits: Only pairs and candidates of these splits of the data. Empty means those that the
            runs scored, or without runs, as in `nnd evaluate`.
        mixed_rules: Whether to also take models that were scored by different protocols, or by
            different rules of different nnd versions. Across protocols there are no p-values and no
            agreement, except for one and the same model.
        over: shared: correlate over the systems and candidates that all rows have; all: each row
            over its own; or names separated by commas: only these systems, on whose order the gap
            correlation of the NND paper depends. In Python, a list of names.
        by: Compare on each slice of these axes, which are those of `nnd slice`, for one dataset.
        where: Only pairs that meet this condition in SQL, as in `nnd slice`, and the candidates of
            their contexts.
        training_texts: Texts that models were trained on, for the axis seen, as in `nnd slice`.
        statistics: Columns of the first table: nnd, wmt (acc_eq_star, acc_eq, spa,
            system_accuracy), laban2022 (mean_tau_a, mean_gap_r_laban2022, mean_gap_r: Table 1 of
            the paper), or names separated by commas, also auc and auc_within. Next to those over
            pairs stand the values of a constant and of length.
        out: Folder for metrics.json and scores.parquet; with several datasets, it gets a subfolder
            for each.

    Returns:
        A row per metric; for a list of datasets, or slices, such rows for each, and means over
        them.

    Raises:
        ScoringError: If the data cannot be read, or a scorer, a run or the references do not fit
            it.
        NNDError: If `out` holds anything that nnd did not write, or cannot be written.

    Examples:
        nnd metrics --data quiz_design
        nnd metrics run --data summeval-nnd --references references.jsonl
        nnd metrics runs/frank runs/summeval --data frank --data summeval
        nnd metrics --data summeval --several first --over M9,M17,M20,M22,M23
        nnd metrics --data summeval-nnd --scores comet.csv
        nnd metrics --data summeval-nnd --by length:quantiles=3
        nnd metrics --data wmt_mqm-nnd --scores comet.csv --statistics wmt
    """
    _check_options(over, normalise, several_tables=bool(by) and out is not None)
    columns = choose_statistics(statistics, COLUMNS, (*MAIN, *MEANS, *PAIR_STATISTICS))

    def compare(
        runs: Sequence[Path],
        data: str | Path,
        systems: Mapping[str, str] | None,
        out: str | Path | None,
    ) -> MetricTable | MetricSlices:
        if out is not None:
            check_replaceable(Path(out), document=METRICS)
        scored = read_splits(runs) if runs else ()
        judged = read_judged(data, aspect=aspect, splits=[*splits] or scored)
        run = None
        if runs:
            known = judged.pairs.pairs  # of clusters, which older runs lack
            run = read_scored(runs, splits=splits, mixed_rules=mixed_rules, data=known)
        judged = where_judged(judged, data, where, training_texts)
        table = None if references is None else read_references(references)
        asked = plain_names(judged.texts(table)) if scorers is None else scorers
        people = judged.pairs.human_scores
        found = find_scorers(
            asked if isinstance(asked, Sequence) and not isinstance(asked, str) else [asked],
            several=several,
            template=template,
            prefix=prefix,
            instruction=judged.pairs.instruction,
            languages=LanguageOptions(language, context_language),
        )
        values = read_values(scores, judged.candidates, lower)

        def compare_on(part: JudgedCandidates) -> MetricTable:
            return compare_metrics(
                part,
                with_trivial(found) if {*columns} & {*PAIR_STATISTICS} else found,
                references=table,
                values=values,
                run=run,
                manners=read_manners_of(runs),
                systems=systems if people is None else stored_systems(runs, people, systems),
                over=over,
                normalise=normalise,
                statistics=columns,
            )

        if by:
            parts = slices_of(judged, data, [by] if isinstance(by, str) else by)
            return MetricSlices({name: compare_on(part) for name, part in parts.items()})
        result = compare_on(judged)
        if out is not None:
            result.write(out)
        return result

    folders = [Path(run) for run in ([runs] if isinstance(runs, str | Path) else runs)]
    if not is_several(data):
        return compare(folders, data, systems, out)  # type: ignore[arg-type] # it is one dataset
    for name, given in (("references", references), ("scores", scores), ("by", by or None)):
        if given is not None:
            raise only_of_one(name)
    _check_same_rules(folders, mixed_rules=mixed_rules)
    return _over_datasets(folders, data, systems, out, compare)


def _over_datasets(
    folders: Sequence[Path],
    data: Sequence[str | Path],
    systems: Mapping[str, str] | None,
    out: str | Path | None,
    compare: Callable[..., MetricTable | MetricSlices],
) -> MetricTables:
    split = split_by_dataset(folders, data, systems)
    places = {name: None if out is None else Path(out) / name for name in split}
    for place in filter(None, places.values()):
        check_replaceable(place, document=METRICS)
    tables: dict[str, Any] = {}
    for (name, each), folder in zip(split.items(), data, strict=True):
        try:
            tables[name] = compare(each.runs, folder, each.systems, places[name])
        except ScoringError as error:
            raise error.inside(name) from error
    return MetricTables(tables)


def _check_options(
    over: Over | Sequence[str], normalise: str | None, *, several_tables: bool
) -> None:
    if several_tables:
        raise ScoringError(
            "option.conflict", "a table for each slice does not go with --out", "--by"
        )
    if not over or (isinstance(over, str) and over not in get_args(Over)):
        raise ScoringError(
            "option.unknown-value",
            where=f"over {over!r}",
            remedy=f"choose {', '.join(get_args(Over))} or a list of systems",
        )
    if normalise is not None and normalise not in get_args(Normalise):
        raise ScoringError(
            "option.unknown-value",
            f'unknown "{normalise}"',
            "normalise",
            f"choose {', '.join(get_args(Normalise))}",
        )


def _check_same_rules(folders: Sequence[Path], *, mixed_rules: bool) -> None:
    try:
        check_runs(folders)
    except ScoringError as error:
        if mixed_rules:
            raise ScoringError(
                "run.different-rules",
                "there are no means over datasets of models that were scored by different rules",
                remedy="name one dataset at a time",
            ) from error
        raise
