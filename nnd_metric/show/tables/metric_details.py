"""NND compared with other metrics: all statistics, and notes on each row and on omissions."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from nnd.metric.numbers import ALL_AGREE, mean_defined
from nnd.metric.show.tables.agreement import human_notes
from nnd.metric.show.tables.cells import NOTHING, number, p_value, pass_rate
from nnd.metric.show.tables.differences import CELLS, difference_table
from nnd.schemas import OVERALL, counted, text_table

if TYPE_CHECKING:
    from rich.table import Table

    from nnd.metric.numbers import Agreement, Interval
    from nnd.metric.other_metrics import (
        CandidateAgreement,
        CommonBasis,
        MeanJudgement,
        MetricDifference,
        MetricRow,
        MetricTable,
    )

_SYSTEMS = {"tau_a": "tau-a", "gap_r": "gap r", "gap_r_laban2022": "gap r (laban2022)"}
_CANDIDATES = {"spearman": "Spearman", "pearson": "Pearson", "tau_b": "tau-b"}
_LEVELS = ("pooled", "context", "system")
_HOW_TO_READ = (
    "systems: overall, and mean over categories; candidates: pooled, mean within contexts, and "
    "between the means of systems; a tie fails; intervals: 95 %, over independent contexts (the "
    f"file has more of them); {ALL_AGREE}"
)
_AHEAD = (
    "ahead: paired jackknife over independent contexts, 95 % interval, p not adjusted for multiple "
    "comparisons; all pairs of metrics are in the file"
)


def metrics_details(table: "MetricTable") -> "list[Table | str]":
    """Return the tables and the notes."""
    tables = [metrics_table(table.rows)]
    tables += [people_table(table.people)] if any(table.people.values()) else []
    tables += [differences_table(table.differences)] if table.differences else []
    tables += [accuracy_table(table)] if table.accuracy_differences else []
    noise = table.human_noise
    said = [] if noise is None else [f"{noise.sentence()}.", *noise.ceiling_sentence()]
    return [*tables, *said, *metrics_notes(table)]


def metrics_table(rows: Sequence["MetricRow"]) -> "Table":
    """Return a row per metric: its results on NND pairs, on systems, and on single candidates."""
    titles = ["metric", "pass rate, %", "tests", "ties", "systems"]
    titles += [f"{where} {title}" for where in ("overall", "mean") for title in _SYSTEMS.values()]
    titles += ["candidates", "contexts"]
    titles += [f"{level} {title}" for level in _LEVELS for title in _CANDIDATES.values()]
    table = text_table(titles, right=titles[1:])
    for row in rows:
        cells = [*_rates(row), *_systems(row.systems), *_candidates([*row.candidates.values()])]
        table.add_row(row.name, *cells)
    return table


def _rates(row: "MetricRow") -> list[str]:
    if row.rates is None or not row.rates.overall.n:
        return [NOTHING, "", ""]
    rate = row.rates.overall
    return [pass_rate(rate.pass_rate, rate.interval), f"{rate.n:,}", f"{rate.ties:,}"]


def people_table(people: Mapping[str, Mapping[str, "MeanJudgement"]]) -> "Table":
    """Return the mean judgement of each system's candidates: a row per system."""
    table = text_table(("human mean", *people), right=[*people])
    for system in dict.fromkeys(name for systems in people.values() for name in systems):
        means = (systems.get(system) for systems in people.values())
        table.add_row(system, *(number(None if each is None else each.mean) for each in means))
    return table


def differences_table(differences: Sequence["MetricDifference"]) -> "Table":
    """Return the lead of the best metric of each aspect over each of the others.

    `differences` has those of the best metric first.
    """
    best = {each.aspect: each.metric for each in reversed(differences)}
    rows = [
        ((each.aspect, each.metric, each.other_metric), each)
        for each in differences
        if each.metric == best[each.aspect]
    ]
    keys = ("aspect", "best metric", "other metric")
    columns = {"pooled Spearman ahead": _ahead, "p": CELLS["p"]}
    return difference_table(keys, columns, [("", rows)])


def accuracy_table(table: "MetricTable") -> "Table":
    """Return the lead in acc_eq* of the best metric of each aspect over each of the others."""
    numbers = ("acc_eq* ahead", "p (swaps)")
    rows = (
        (each.aspect, each.metric, each.other_metric, f"{each.difference:+.3f}", p_value(each.p))
        for each in table.accuracy_differences
    )
    return text_table(("aspect", "best metric", "other metric", *numbers), rows, right=numbers)


def _ahead(difference: "MetricDifference") -> str:
    bounds = ", ".join(f"{bound:+.3f}" for bound in difference.interval or ())
    return f"{difference.difference:+.3f}{bounds and f' [{bounds}]'}"


def metrics_notes(table: "MetricTable") -> list[str]:
    """Return notes on the basis of the rows, on their definitions, and on omissions."""
    rows = table.rows
    notes = [_HOW_TO_READ, _basis(table.shared)]
    notes.append(f"judgements of candidates: {table.judgement}")
    notes += [_AHEAD] if table.differences else []
    if table.reliability:
        alphas = ", ".join(f"{aspect} {alpha:.3f}" for aspect, alpha in table.reliability.items())
        notes.append(f"Krippendorff's alpha of the annotators (not a bound): {alphas}")
    for row in rows:
        widest = [each.epsilon for each in row.pairs.values() if each.epsilon is not None]
        if widest:
            shown = ", ".join(f"{epsilon:.3g}" for epsilon in widest)
            notes.append(f"{row.name}: acc_eq* takes differences up to {shown} for ties")
    agreements = [row.systems for row in rows if row.systems is not None]
    notes += human_notes(agreements[0].to_dict()) if agreements else []
    notes += [f"{row.name}: {row.definition}" for row in rows if row.definition]
    aspects = max((len(row.candidates) for row in rows), default=0)
    if aspects > 1:
        notes.append(f"candidates: mean over {aspects} aspects; --aspect selects one")
    for row in rows:
        if left_out := [*_left_out(row)]:
            notes.append(f"{row.name}, left out: {'; '.join(left_out)}")
        notes += _without_interval(row)
        if row.systems is None:
            notes.append(f"{row.name}, no agreement over systems: {row.systems_reason}")
    return notes


def _basis(shared: "CommonBasis | None") -> str:
    """Describe the basis of the rows: the same systems and candidates, or different ones."""
    if shared is None:
        return "each row uses all systems and candidates for which it has a number"
    names = ", ".join(shared.systems)
    systems = counted(len(shared.systems), "system") + (f" ({names})" if names else "")
    over = f"all rows use the same {systems} and {counted(shared.candidates, 'candidate')}"
    left_out = []
    if others := shared.other_systems:
        left_out.append(f"{counted(len(others), 'system')} ({', '.join(others)})")
    if shared.other_candidates:
        lacking = ", ".join(f"{name} lacks {n:,}" for name, n in shared.unscored.items())
        left_out.append(f"{counted(shared.other_candidates, 'candidate')} ({lacking})")
    if not left_out:
        return over
    return (
        f"{over}, without {' and '.join(left_out)} that some metrics did not score; --over all "
        "includes them"
    )


def _left_out(row: "MetricRow") -> Iterator[str]:
    if row.rates is not None and row.rates.overall.unscored:
        yield f"{counted(row.rates.overall.unscored, 'test')} without a score (failed)"
    if row.systems is not None:
        yield from _systems_left_out(row.systems, row.kind)
    for aspect, each in row.candidates.items():
        counts = (
            (each.unjudged, "candidate", "without a judgement"),
            (each.unscored, "candidate", "without a score"),
            (each.constant_contexts, "context", "with equal numbers for all candidates"),
            (each.single_contexts, "context", "with one candidate"),
        )
        yield from (f"{aspect}: {counted(n, noun)} {reason}" for n, noun, reason in counts if n)


def _without_interval(row: "MetricRow") -> Iterator[str]:
    """Yield which statistics of candidates and pairs have a value but no interval, and why."""
    for aspect in row.candidates:
        each = row.candidates[aspect]
        levels = [
            ("pooled", each.sample, each.sample_interval_reasons),
            ("mean within contexts", each.by_context, each.by_context_interval_reasons),
        ]
        if aspect in row.pairs:
            pairs = row.pairs[aspect]
            levels.append(("over pairs", pairs.values, pairs.interval_reasons))
        for level, values, reasons in levels:
            given = {name: why for name, why in reasons.items() if values[name] is not None}
            for reason in dict.fromkeys(given.values()):
                names = ", ".join(name for name, why in given.items() if why == reason)
                yield f"{row.name}, {aspect}, {level}: no interval of {names}: {reason}"


def _systems_left_out(agreement: "Agreement", kind: str) -> Iterator[str]:
    """Yield omissions from the agreement over systems; NND ranks models, other rows systems."""
    noun, outcome = ("test", " (failed)") if kind == "nnd" else ("candidate", "")
    for name, n in (agreement.unscored or {}).items():
        if n:
            yield f"system {name}: {counted(n, noun)} without a score{outcome}"
    for category, each in agreement.by_category.items():
        if each.dropped:
            yield f"{category}: {counted(each.dropped, 'system')} without one of the two numbers"
    if agreement.scores_missing:
        yield counted(agreement.scores_missing, "missing human score")
    if agreement.unmatched:
        yield f"models not matched to a system: {', '.join(agreement.unmatched)}"


def _systems(agreement: "Agreement | None") -> list[str]:
    if agreement is None:
        return ["", *[NOTHING] * 2 * len(_SYSTEMS)]
    overall = agreement.by_category[OVERALL]
    values = [part.statistics[name] for part in (overall, agreement.mean) for name in _SYSTEMS]
    return [f"{overall.n}", *map(number, values)]


def _candidates(aspects: Sequence["CandidateAgreement"]) -> list[str]:
    if not aspects:
        return ["", "", *[NOTHING] * len(_LEVELS) * len(_CANDIDATES)]
    first = aspects[0] if len(aspects) == 1 else None
    levels = (
        ([each.sample for each in aspects], first and first.sample_intervals),
        ([each.by_context for each in aspects], first and first.by_context_intervals),
        ([each.by_system for each in aspects], None),
    )
    counts = [_range([each.n for each in aspects]), _range([each.contexts for each in aspects])]
    # The first statistic has its interval, if there is one aspect: with those of all three, the
    # table would be too wide to read.
    return counts + [
        number(mean_defined([statistics[name] for statistics in of_aspects]))
        + (_interval(intervals[name]) if intervals and place == 0 else "")
        for of_aspects, intervals in levels
        for place, name in enumerate(_CANDIDATES)
    ]


def _interval(bounds: "Interval | None") -> str:
    return "" if bounds is None else f"\n[{bounds[0]:.2f}, {bounds[1]:.2f}]"


def _range(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low:,}" if low == high else f"{low:,}-{high:,}"
