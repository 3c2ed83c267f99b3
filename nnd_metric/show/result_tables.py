"""The tables of each type of result: those of its headline, and those with more details.

Types are known by name, so that to show one result loads nothing that the others need.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from nnd.metric.numbers import Comparisons, findings, percent, short_names
from nnd.metric.show.tables.agreement import (
    agreement_notes,
    agreement_table,
    correlations_table,
    datasets_table,
    equal_length_line,
    extrapolation_tables,
    people_table,
    points_table,
)
from nnd.metric.show.tables.comparisons import ahead_table, rates_table, verdict_table
from nnd.metric.show.tables.effects import category_effects_table, effects_table, variation_table
from nnd.metric.show.tables.metric_details import metrics_details
from nnd.metric.show.tables.metrics import metrics_by_dataset, metrics_overview, metrics_remarks
from nnd.metric.show.tables.pass_rates import (
    baselines_table,
    counts_table,
    length_table,
    pass_rate_table,
    slices_table,
    sweep_table,
)
from nnd.metric.show.tables.published import (
    PublishedModel,
    published_details,
    published_notes,
    published_table,
)
from nnd.metric.show.tables.selftest import selftest_table
from nnd.metric.show.tables.slices import from_rest_table, slice_rates_table
from nnd.metric.show.tables.validity import giveaways_table, validity_table
from nnd.schemas import counted

if TYPE_CHECKING:
    from rich.table import Table

    from nnd.metric.numbers import Agreement, Agreements, Slices
    from nnd.metric.run import Evaluation, Sweep

Parts: TypeAlias = "list[Table | str]"


def table(result: object) -> "Table | None":
    """Return the numbers of a result's headline, or None if there are none."""
    return _TABLES[type(result).__name__](result)


def remarks(result: object) -> "Sequence[Table | str]":
    """Return what to know before believing a result, where that needs tables."""
    return _REMARKS.get(type(result).__name__, lambda _: [])(result)


def details(result: object) -> "Sequence[Table | str]":
    """Return the tables and lines of a result for those who want to know more."""
    return _DETAILS.get(type(result).__name__, lambda _: [])(result)


def _agreement(agreement: "Agreement") -> "Table":
    main = agreement.main()
    if agreement.mixture is None and (main.says_something or agreement.shows_chosen):
        return correlations_table(agreement.to_dict(), agreement.columns)
    judged = sorted(main.judged.items(), key=lambda item: -item[1].pass_rate)
    names = short_names([model for model, _ in judged])
    points = (
        (
            name,
            agreement.systems[model],
            percent(of.pass_rate) if agreement.of_pass_rates else f"{of.pass_rate:.3f}",
            f"{of.human_score:.3f}",
        )
        for name, (model, of) in zip(names, judged, strict=True)
    )
    return points_table(points, "pass rate, %" if agreement.of_pass_rates else "mean score")


def _agreement_remarks(agreement: "Agreement") -> Parts:
    beside = people_table(agreement.to_dict()) if len(agreement.by_category) > 1 else None
    return [*agreement.beside(), *([] if beside is None else [beside]), *agreement.cautions()]


def _agreement_details(agreement: "Agreement") -> Parts:
    values = agreement.to_dict()
    return [
        agreement_table(values),
        *equal_length_line(values),
        *extrapolation_tables(values),
        *agreement_notes(values),
    ]


def _agreements(agreements: "Agreements") -> "Table":
    by_dataset = {name: each.to_dict() for name, each in agreements.datasets.items()}
    return datasets_table(by_dataset, agreements.mean())


def _comparisons_details(comparisons: Comparisons) -> Parts:
    shown: Parts = []
    for data, on_data in comparisons.by_data().items():
        shown += [] if data is None else [f"on {data}"]
        rates = rates_table(on_data.comparisons)
        shown += [] if rates is None else [rates]
        for each in sorted(on_data, key=lambda each: sorted(each.rates)[::-1], reverse=True):
            shown.append(ahead_table(each))
            if each.overall.verdict == "undecided":
                shown.append(next(findings(*each.labels, each.overall, each.by, each.cluster)))
    signatures = [s for each in comparisons for s in (each.signature_first, each.signature_second)]
    shown += dict.fromkeys(signature for signature in signatures if signature)
    if len(comparisons) > 1:
        shown.append(
            "p (Holm) is adjusted within each comparison, not over all "
            f"{len(comparisons)} comparisons"
        )
    return shown


def _slices_details(slices: "Slices") -> Parts:
    tried = len(slices.slices) if slices.search is None else slices.search.tried
    of = f"{counted(tried, 'slice')} and {counted(len(slices.overall), 'model')}"
    about = f"p is of the score test over {slices.noun}s; Holm's adjustment is over {of}."
    return [from_rest_table(slices), about]


def _evaluation(evaluation: "Evaluation") -> "Table":
    return pass_rate_table({each.model: each.rates for each in evaluation.best_first()})


def _evaluation_remarks(evaluation: "Evaluation") -> Parts:
    no_agreement = evaluation.agreement_reason if evaluation.asks_agreement else None
    shown: Parts = [*evaluation.caveats(), evaluation.readings(), *evaluation.languages()]
    if evaluation.agreement is not None:
        shown += [evaluation.agreement.headline(), *evaluation.agreement.beside()]
    shown += [no_agreement] if no_agreement else []
    if (effects := evaluation.effects) is not None:
        shown += [effects.headline(), effects_table(effects), *effects.remarks()]
    return shown + _beside(_published(evaluation, evaluation.data))


def _published(evaluation: "Evaluation", dataset: str) -> "list[PublishedModel]":
    """Return the models whose list of runs states what others published for them."""
    return [
        PublishedModel(each.model, dataset, each.rates, each.published)
        for each in evaluation.results
        if each.published is not None
    ]


def _beside(published: "Sequence[PublishedModel]") -> Parts:
    return [published_table(published), *published_notes(published)] if published else []


def _evaluation_details(evaluation: "Evaluation") -> Parts:
    best_first = evaluation.best_first()
    overall = {each.model: each.rates.overall for each in best_first}
    shown: Parts = [
        slices_table({each.model: each.rates for each in best_first}),
        baselines_table(overall),
        *_known(length_table(overall)),
        counts_table(best_first),
    ]
    if published := _published(evaluation, evaluation.data):
        shown.append(published_details(published))
    shown += evaluation.requests()
    shown += [f"{each.model}: {note}" for each in best_first for note in each.notes]
    if evaluation.agreement is not None:
        shown += [_agreement(evaluation.agreement), *_agreement_details(evaluation.agreement)]
    if evaluation.effects is not None:
        shown.append(category_effects_table(evaluation.effects))
    for each in best_first:
        shown += [
            f"{each.model} was scored through the path {each.work.path}; switched off: {reason}"
            for reason in each.work.switched_off
        ]
        shown += [f"{each.model}: {each.memory()}"] if each.weight_bytes else []
    shown += [each.sentence() for each in evaluation.costs]
    return shown + [each.signature for each in best_first]


def _known(table: "Table | None") -> "list[Table]":
    return [] if table is None else [table]


def _sweep(sweep: "Sweep") -> "Table | None":
    if not sweep.evaluations:
        return None
    if (readings := sweep.readings_of_one()) is not None:
        return readings.table()
    return sweep_table(
        {
            name: {result.model: result.rates.overall for result in evaluation.results}
            for name, evaluation in sweep.evaluations.items()
        }
    )


def _sweep_remarks(sweep: "Sweep") -> Parts:
    if (readings := sweep.readings_of_one()) is not None:
        rates = {result.model: result.rates.overall for result in readings.best_first()}
        return [baselines_table(rates), *readings.caveats()]
    evaluations = [*sweep.evaluations.values()]
    of_each = dict.fromkeys(
        line for each in evaluations for line in (each.readings(), *each.languages())
    )
    published = [_published(each, name) for name, each in sweep.evaluations.items()]
    scorers = [line for each in sweep.scorers.values() for line in each.summary()]
    return [*of_each, *_beside([each for on_data in published for each in on_data]), *scorers]


def _sweep_details(sweep: "Sweep") -> Parts:
    shown: Parts = []
    for name, each in sweep.evaluations.items():
        shown += [f"on {name}", _evaluation(each), *_evaluation_remarks(each)]
        shown += _evaluation_details(each)
    return shown


_TABLES: Mapping[str, Callable[[Any], "Table | None"]] = {
    "Agreement": _agreement,
    "Agreements": _agreements,
    "Comparison": lambda result: verdict_table([result]),
    "Comparisons": lambda result: verdict_table(result.comparisons),
    "Effects": effects_table,
    "Evaluation": _evaluation,
    "MetricSlices": metrics_by_dataset,
    "MetricTable": metrics_overview,
    "MetricTables": metrics_by_dataset,
    "SelfTest": selftest_table,
    "Slices": lambda result: slice_rates_table(result) if result.slices else None,
    "Sweep": _sweep,
    "Validity": validity_table,
    "Variation": variation_table,
}
_REMARKS: Mapping[str, Callable[[Any], Parts]] = {
    "Agreement": _agreement_remarks,
    "Evaluation": _evaluation_remarks,
    "MetricTable": lambda result: [*metrics_remarks(result)],
    "Sweep": _sweep_remarks,
}
_DETAILS: Mapping[str, Callable[[Any], Parts]] = {
    "Agreement": _agreement_details,
    "Comparison": lambda result: _comparisons_details(Comparisons((result,))),
    "Comparisons": _comparisons_details,
    "Effects": lambda result: [category_effects_table(result)],
    "Evaluation": _evaluation_details,
    "MetricTable": metrics_details,
    "Slices": _slices_details,
    "Sweep": _sweep_details,
    "Validity": lambda result: [giveaways_table(result)],
}
