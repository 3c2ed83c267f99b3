"""NND compared with other metrics: all statistics, and notes on each row and on omissions."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nnd.metric.numbers import ALL_AGREE, mean_defined
from nnd.metric.show.tables.agreement import human_notes
from nnd.metric.show.tables.cells import NOTHING, number, pass_rate
from nnd.metric.show.tables.differences import CELLS, difference_table
from nnd.schemas import counted, text_table

if TYPE_CHECKING:
    from rich.table import Table

    from nnd.metric.other_metrics import MetricDifference

_SYSTEMS = {"tau_a": "tau-a", "gap_r": "gap r"}
_CANDIDATES = {"spearman": "Spearman", "pearson": "Pearson", "tau_b": "tau-b"}
_LEVELS = {"sample": "pooled", "by_context": "context", "by_system": "system"}
_HOW_TO_READ = (
    "systems: overall, and mean over categories; candidates: pooled, mean within contexts, and "
    "between the means of systems; a tie fails; intervals: 95 %, over contexts (the file has more "
    f"of them); {ALL_AGREE}"
)
_AHEAD = (
    "ahead: paired bootstrap over contexts, 95 % interval, p not adjusted for multiple "
    "comparisons; all pairs of metrics are in the file"
)


def metrics_details(
    table: Mapping[str, Any], differences: Sequence["MetricDifference"]
) -> "list[Table | str]":
    """Return the tables and the notes.

    Args:
        table: `metrics.MetricTable.to_dict()`.
        differences: Its differences.
    """
    tables = [metrics_table(table["rows"])]
    tables += [people_table(table["people"])] if any(table["people"].values()) else []
    tables += [differences_table(differences)] if differences else []
    return [*tables, *metrics_notes(table)]


def metrics_table(rows: Sequence[Mapping[str, Any]]) -> "Table":
    """Return a row per metric: its results on NND pairs, on systems, and on single candidates.

    Args:
        rows: `metrics.MetricRow.to_dict()` of each.
    """
    titles = ["metric", "pass rate, %", "tests", "ties", "systems"]
    titles += [f"{where} {title}" for where in ("overall", "mean") for title in _SYSTEMS.values()]
    titles += ["candidates", "contexts"]
    titles += [f"{level} {title}" for level in _LEVELS.values() for title in _CANDIDATES.values()]
    table = text_table(titles, right=titles[1:])
    for row in rows:
        cells = [*_rates(row["rates"]), *_systems(row["systems"])]
        table.add_row(row["name"], *cells, *_candidates(list(row["candidates"].values())))
    return table


def _rates(rates: Mapping[str, Any] | None) -> list[str]:
    if rates is None or rates["pass_rate"] is None:
        return [NOTHING, "", ""]
    return [
        pass_rate(rates["pass_rate"], rates["interval"]),
        f"{rates['n']:,}",
        f"{rates['ties']:,}",
    ]


def people_table(people: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> "Table":
    """Return the mean judgement of each system's candidates: a row per system.

    Args:
        people: Aspect → system → mean and n.
    """
    table = text_table(("human mean", *people), right=[*people])
    for system in dict.fromkeys(name for systems in people.values() for name in systems):
        means = [
            systems[system]["mean"] if system in systems else None for systems in people.values()
        ]
        table.add_row(system, *map(number, means))
    return table


def differences_table(differences: Sequence["MetricDifference"]) -> "Table":
    """Return the lead of the best metric of each aspect over each of the others.

    Args:
        differences: Those of the best metric first.
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


def _ahead(difference: "MetricDifference") -> str:
    bounds = ", ".join(f"{bound:+.3f}" for bound in difference.interval or ())
    return f"{difference.difference:+.3f}{bounds and f' [{bounds}]'}"


def metrics_notes(table: Mapping[str, Any]) -> list[str]:
    """Return notes on the basis of the rows, on their definitions, and on omissions.

    Args:
        table: `metrics.MetricTable.to_dict()`.
    """
    rows = table["rows"]
    notes = [_HOW_TO_READ, _basis(table["shared"])]
    notes.append(f"judgements of candidates: {table['judgement']}")
    notes += [_AHEAD] if table["differences"] else []
    agreements = [row["systems"] for row in rows if row["systems"] is not None]
    notes += human_notes(agreements[0]) if agreements else []
    notes += [f"{row['name']}: {row['definition']}" for row in rows if row["definition"]]
    aspects = max((len(row["candidates"]) for row in rows), default=0)
    if aspects > 1:
        notes.append(f"candidates: mean over {aspects} aspects; --aspect selects one")
    for row in rows:
        left_out = _left_out(row)
        if left_out:
            notes.append(f"{row['name']}, left out: {'; '.join(left_out)}")
        if row["systems"] is None:
            notes.append(f"{row['name']}, no agreement over systems: {row['systems_reason']}")
    return notes


def _basis(shared: Mapping[str, Any] | None) -> str:
    """Describe the basis of the rows: the same systems and candidates, or different ones."""
    if shared is None:
        return "each row uses all systems and candidates for which it has a number"
    names = ", ".join(shared["systems"])
    systems = counted(len(shared["systems"]), "system") + (f" ({names})" if names else "")
    candidates = counted(shared["candidates"], "candidate")
    over = f"all rows use the same {systems} and {candidates}"
    left_out = []
    if shared["other_systems"]:
        others = ", ".join(shared["other_systems"])
        left_out.append(f"{counted(len(shared['other_systems']), 'system')} ({others})")
    if shared["other_candidates"]:
        lacking = ", ".join(f"{name} lacks {n:,}" for name, n in shared["unscored"].items())
        left_out.append(f"{counted(shared['other_candidates'], 'candidate')} ({lacking})")
    if not left_out:
        return over
    return (
        f"{over}, without {' and '.join(left_out)} that some metrics did not score; --over all "
        "includes them"
    )


def _left_out(row: Mapping[str, Any]) -> list[str]:
    omissions = []
    if row["rates"] is not None and row["rates"]["unscored"]:
        omissions.append(f"{counted(row['rates']['unscored'], 'test')} without a score (failed)")
    if row["systems"] is not None:
        omissions += _systems_left_out(row["systems"], row["kind"])
    for aspect, each in row["candidates"].items():
        counts = (
            (each["unjudged"], "candidate", "without a judgement"),
            (each["unscored"], "candidate", "without a score"),
            (each["constant_contexts"], "context", "with equal numbers for all candidates"),
            (each["single_contexts"], "context", "with one candidate"),
        )
        omissions += [f"{aspect}: {counted(n, noun)} {reason}" for n, noun, reason in counts if n]
    return omissions


def _systems_left_out(agreement: Mapping[str, Any], kind: str) -> list[str]:
    """List omissions from the agreement over systems; NND ranks models, other rows systems."""
    noun, outcome = ("test", " (failed)") if kind == "nnd" else ("candidate", "")
    unscored = (agreement["unscored"] or {}).items()
    omissions = [
        f"system {name}: {counted(n, noun)} without a score{outcome}" for name, n in unscored if n
    ]
    for category, each in agreement["by_category"].items():
        if each["dropped"]:
            systems = counted(each["dropped"], "system")
            omissions.append(f"{category}: {systems} without one of the two numbers")
    if agreement["scores_missing"]:
        omissions.append(counted(agreement["scores_missing"], "missing human score"))
    if agreement["unmatched"]:
        omissions.append(f"models not matched to a system: {', '.join(agreement['unmatched'])}")
    return omissions


def _systems(agreement: Mapping[str, Any] | None) -> list[str]:
    if agreement is None:
        return ["", *[NOTHING] * 2 * len(_SYSTEMS)]
    overall = agreement["by_category"]["overall"]
    values = [part[name] for part in (overall, agreement["mean"]) for name in _SYSTEMS]
    return [f"{overall['n']}", *map(number, values)]


def _candidates(aspects: Sequence[Mapping[str, Any]]) -> list[str]:
    if not aspects:
        return ["", "", *[NOTHING] * len(_LEVELS) * len(_CANDIDATES)]
    cells = [
        number(mean_defined([each[level][name] for each in aspects]))
        + _interval(aspects, level, name)
        for level in _LEVELS
        for name in _CANDIDATES
    ]
    counts = [_range([each[name] for each in aspects]) for name in ("n", "contexts")]
    return [*counts, *cells]


def _interval(aspects: Sequence[Mapping[str, Any]], level: str, name: str) -> str:
    """Return the interval of the first statistic on a line of its own, if there is one aspect.

    With intervals of all three statistics, the table would be too wide to read.
    """
    intervals = aspects[0].get(f"{level}_intervals")  # correlations over systems have none
    bounds = intervals and intervals[name]
    if len(aspects) > 1 or name != next(iter(_CANDIDATES)) or bounds is None:
        return ""
    low, high = bounds
    return f"\n[{low:.2f}, {high:.2f}]"


def _range(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low:,}" if low == high else f"{low:,}-{high:,}"
