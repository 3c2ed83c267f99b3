"""NND against other metrics as tables for a terminal: the main one, and all there is."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nnd.metric.drawing import short_names
from nnd.metric.statistics import ALL_AGREE, FEWEST_SYSTEMS, percent, rate_and_interval
from nnd.metric.tables.agreement import human_notes
from nnd.metric.tables.cells import NOTHING, number
from nnd.schemas import counted, text_table

if TYPE_CHECKING:
    from rich.table import Table

_SYSTEMS = {"tau_a": "tau-a", "gap_r": "gap r"}
_CANDIDATES = {"spearman": "Spearman", "pearson": "Pearson", "tau_b": "tau-b"}
_HOW_TO_READ = (
    "systems: overall, and mean over categories; candidates: pooled, and mean within contexts; "
    f"a tie fails; intervals: 95 %, over contexts, more of them in the file; {ALL_AGREE}"
)
_OVERVIEW = (
    *("metric", "pass rate, %", "gap r, systems"),
    *("Spearman, candidates", "Spearman, within contexts"),
)
_LEVELS = {"sample": "pooled", "by_context": "context"}


def metrics_overview(rows: Sequence[Mapping[str, Any]]) -> "Table":
    """Return one number per metric of each kind: on pairs, on systems, on single candidates.

    Args:
        rows: `metrics.MetricRow.to_dict()` of each.
    """
    table = text_table(_OVERVIEW, right=_OVERVIEW[1:])
    for cells in _overview(rows):
        table.add_row(*cells)
    return table


def metrics_by_dataset(
    datasets: Mapping[str, Sequence[Mapping[str, Any]]],
    means: Mapping[str, Mapping[str, float | None]],
) -> "Table":
    """Return the overview of several datasets, a block of rows for each, and the means last.

    Args:
        datasets: Name → `MetricRow.to_dict()` of each row.
        means: Metric → its means over the datasets, in the order of the columns.
    """
    table = text_table(("dataset", *_OVERVIEW), right=_OVERVIEW[1:], prose=["dataset"])
    for dataset, rows in datasets.items():
        for cells in _overview(rows):
            table.add_row(dataset, *cells)
        table.add_section()
    for name, (rate, *others) in zip(
        short_names([*means]), (each.values() for each in means.values()), strict=True
    ):
        shown = NOTHING if rate is None else percent(rate)
        cells = [name, shown, *map(number, others)]
        table.add_row(f"mean over {len(datasets)} datasets", *cells, style="bold")
    return table


def _overview(rows: Sequence[Mapping[str, Any]]) -> Iterator[list[str]]:
    for name, row in zip(short_names([row["name"] for row in rows]), rows, strict=True):
        rate = "" if row["rates"] is None else _pass_rate(row["rates"])[0]
        aspects = list(row["candidates"].values())
        correlations = [
            number(_mean(each[level]["spearman"] for each in aspects)) for level in _LEVELS
        ]
        yield [name, rate, _gap_r(row["systems"]), *correlations]


def metrics_remarks(table: Mapping[str, Any]) -> list[str]:
    """Say what the overview is over, and why it lacks what it lacks.

    Args:
        table: `metrics.MetricTable.to_dict()`.
    """
    shared, remarks = table["shared"], []
    if shared is not None:
        systems, others = len(shared["systems"]), len(shared["other_systems"])
        candidates, rest = shared["candidates"], shared["other_candidates"]
        over = counted(candidates, "candidate")
        if systems:
            over = f"{counted(systems, 'system')} and {over}"
        lacking = [counted(others, "system")] if others else []
        lacking += [counted(rest, "candidate")] if rest else []
        without = f", without {' and '.join(lacking)} that not every metric has" if lacking else ""
        remarks.append(f"All rows are over the same {over}{without}.")
    overall = [
        row["systems"]["by_category"]["overall"]["n"] for row in table["rows"] if row["systems"]
    ]
    if overall and min(overall) < FEWEST_SYSTEMS:
        remarks.append(f"A correlation over systems needs at least {FEWEST_SYSTEMS} of them.")
    reasons = dict.fromkeys(row["systems_reason"] for row in table["rows"])
    return remarks + [reason for reason in reasons if reason is not None]


def _gap_r(agreement: Mapping[str, Any] | None) -> str:
    if agreement is None or agreement["by_category"]["overall"]["n"] < FEWEST_SYSTEMS:
        return NOTHING
    return number(agreement["by_category"]["overall"]["gap_r"])


def metrics_table(rows: Sequence[Mapping[str, Any]]) -> "Table":
    """Return a row per way to judge: NND pairs, then systems, then single candidates.

    Args:
        rows: `metrics.MetricRow.to_dict()` of each.
    """
    titles = ["metric", "pass rate, %", "tests", "ties", "systems"]
    titles += [f"{where} {title}" for where in ("overall", "mean") for title in _SYSTEMS.values()]
    titles += ["candidates", "contexts"]
    titles += [f"{level} {title}" for level in _LEVELS.values() for title in _CANDIDATES.values()]
    table = text_table(titles, right=titles[1:])
    for row in rows:
        cells = [*_pass_rate(row["rates"]), *_systems(row["systems"])]
        table.add_row(row["name"], *cells, *_candidates(list(row["candidates"].values())))
    return table


def metrics_notes(table: Mapping[str, Any]) -> list[str]:
    """Say what rows are over, what each computes, and what was left out of it.

    Args:
        table: `metrics.MetricTable.to_dict()`.
    """
    rows = table["rows"]
    notes = [_HOW_TO_READ, _over(table["shared"])]
    notes.append(f"candidates, what people said: {table['judgement']}")
    agreements = [row["systems"] for row in rows if row["systems"] is not None]
    notes += human_notes(agreements[0]) if agreements else []
    notes += [f"{row['name']}: {row['definition']}" for row in rows if row["definition"]]
    aspects = max((len(row["candidates"]) for row in rows), default=0)
    if aspects > 1:
        notes.append(f"candidates: mean over {aspects} aspects; --aspect shows one")
    for row in rows:
        left_out = _left_out(row)
        if left_out:
            notes.append(f"{row['name']}, left out: {'; '.join(left_out)}")
        if row["systems"] is None:
            notes.append(f"{row['name']}, no agreement over systems: {row['systems_reason']}")
    return notes


def _over(shared: Mapping[str, Any] | None) -> str:
    """Say what all rows are over."""
    if shared is None:
        return "each row is over all systems and candidates that it has numbers of"
    names = ", ".join(shared["systems"])
    systems = counted(len(shared["systems"]), "system") + (f" ({names})" if names else "")
    candidates = counted(shared["candidates"], "candidate")
    over = f"all rows are over the same {systems} and {candidates}"
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
        f"{over}, without {' and '.join(left_out)} that not every metric has; --over all keeps them"
    )


def _left_out(row: Mapping[str, Any]) -> list[str]:
    found = []
    if row["rates"] is not None and row["rates"]["unscored"]:
        found.append(f"{row['rates']['unscored']:,} unscored tests, which fail")
    if row["systems"] is not None:
        found += _systems_left_out(row["systems"], row["kind"])
    for aspect, each in row["candidates"].items():
        counts = {
            "candidates without a judgement": each["unjudged"],
            "candidates without a number": each["unscored"],
            "contexts with one number for all": each["constant_contexts"],
            "contexts with one candidate": each["single_contexts"],
        }
        found += [f"{aspect}: {n:,} {what}" for what, n in counts.items() if n]
    return found


def _systems_left_out(agreement: Mapping[str, Any], kind: str) -> list[str]:
    """Say what the agreement over systems lacks; NND ranks models, other rows rank systems."""
    what = "tests without a likelihood, which fail" if kind == "nnd" else "candidates, no number"
    unscored = (agreement["unscored"] or {}).items()
    found = [f"system {name}: {n:,} {what}" for name, n in unscored if n]
    for category, each in agreement["by_category"].items():
        if each["dropped"]:
            found.append(f"{category}: {each['dropped']:,} systems without one of the two numbers")
    if agreement["scores_missing"]:
        found.append(f"{agreement['scores_missing']:,} human scores that are missing")
    if agreement["unmatched"]:
        found.append(f"models of no known system: {', '.join(agreement['unmatched'])}")
    return found


def _pass_rate(rates: Mapping[str, Any] | None) -> list[str]:
    if rates is None or rates["pass_rate"] is None:
        return [NOTHING, "", ""]
    return [rate_and_interval(rates), f"{rates['n']:,}", f"{rates['ties']:,}"]


def _systems(agreement: Mapping[str, Any] | None) -> list[str]:
    if agreement is None:
        return ["", *[NOTHING] * 2 * len(_SYSTEMS)]
    overall = agreement["by_category"]["overall"]
    found = [part[name] for part in (overall, agreement["mean"]) for name in _SYSTEMS]
    return [f"{overall['n']}", *map(number, found)]


def _candidates(aspects: Sequence[Mapping[str, Any]]) -> list[str]:
    if not aspects:
        return ["", "", *[NOTHING] * len(_LEVELS) * len(_CANDIDATES)]
    found = [
        number(_mean(each[level][name] for each in aspects)) + _interval(aspects, level, name)
        for level in _LEVELS
        for name in _CANDIDATES
    ]
    counts = [_range([each[name] for each in aspects]) for name in ("n", "contexts")]
    return [*counts, *found]


def _interval(aspects: Sequence[Mapping[str, Any]], level: str, name: str) -> str:
    """Return the interval of the first statistic on a line of its own; a mean of several has none.

    Three to a level would make the table too wide to read.
    """
    bounds = aspects[0][f"{level}_intervals"][name]
    if len(aspects) > 1 or name != next(iter(_CANDIDATES)) or bounds is None:
        return ""
    low, high = bounds
    return f"\n[{low:.2f}, {high:.2f}]"


def _mean(values: Iterable[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return sum(defined) / len(defined) if defined else None


def _range(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low:,}" if low == high else f"{low:,}-{high:,}"
