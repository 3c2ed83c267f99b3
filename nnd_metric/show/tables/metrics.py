"""NND compared with other metrics, as a table for a terminal, on one dataset or on several."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nnd.metric.numbers import (
    FEWEST_SHOWN,
    FEWEST_SYSTEMS,
    percent,
    short_names,
    too_few_to_believe,
)
from nnd.metric.show.tables.cells import NOTHING, number, pass_rate, share
from nnd.schemas import OVERALL, counted, text_table

if TYPE_CHECKING:
    from rich.table import Table

    from nnd.metric.other_metrics import CommonBasis, MetricRow, MetricTable, MetricTables

_TITLES = {
    "pass_rate": "pass rate, %",
    "gap_r": "gap r, systems",
    "mean_tau_a": "tau-a, mean",
    "mean_gap_r_laban2022": "gap r (laban2022), mean",
    "mean_gap_r": "gap r, mean",
    "candidate_spearman": "Spearman, candidates",
    "candidate_spearman_by_context": "Spearman, within contexts",
    "acc_eq": "acc_eq",
    "acc_eq_star": "acc_eq*",
    "spa": "SPA",
    "system_accuracy": "system accuracy",
    "auc": "AUC",
    "auc_within": "AUC within contexts",
}
"""Name of a statistic → the title of its column."""
_CONSTANT = "constant"
"""The scorer that ties by intention."""
_NAMED = 3
"""Largest number of metrics that a remark names."""


def metrics_overview(table: "MetricTable") -> "Table":
    """Return a row per metric with the requested statistics."""
    titles = [_TITLES[name] for name in table.statistics]
    return text_table(["metric", *titles], _overview(table), right=titles)


def metrics_by_dataset(tables: "MetricTables") -> "Table":
    """Return the overview of several datasets: a block of rows for each, then the means."""
    names = next(iter(tables.datasets.values())).statistics
    titles = [_TITLES[name] for name in names]
    shown = text_table((tables.noun, "metric", *titles), right=titles, prose=[tables.noun])
    for dataset, table in tables.datasets.items():
        for cells in _overview(table):
            shown.add_row(dataset, *cells)
        shown.add_section()
    means = tables.mean()
    for name, numbers in zip(short_names([*means]), means.values(), strict=True):
        shown_means = (
            share(numbers[column]) if column == "pass_rate" else number(numbers.get(column))
            for column in names
        )
        cells = [name, *shown_means]
        shown.add_row(f"mean over {len(tables.datasets)} {tables.noun}s", *cells, style="bold")
    return shown


def _overview(table: "MetricTable") -> Iterator[list[str]]:
    rows = table.rows
    for name, row in zip(short_names([row.name for row in rows]), rows, strict=True):
        numbers = row.main_numbers()
        yield [name, *(_cell(row, each, numbers.get(each)) for each in table.statistics)]


def _cell(row: "MetricRow", name: str, value: float | None) -> str:
    """Return a number; one over pairs with its interval if there is one aspect."""
    if name == "pass_rate":
        if row.rates is None:
            return "" if row.kind == "nnd" else NOTHING
        return pass_rate(value, row.rates.overall.interval)
    intervals = [each.intervals.get(name) for each in row.pairs.values()]
    if len(intervals) != 1 or (bounds := intervals[0]) is None:
        return number(value)
    return f"{number(value)} [{bounds[0]:.3f}, {bounds[1]:.3f}]"


def metrics_remarks(table: "MetricTable") -> list[str]:
    """Return remarks on the basis of the overview, and on the reasons for missing numbers."""
    remarks = [*table.notes]
    if (shared := table.shared) is not None:
        over = counted(shared.candidates, "candidate")
        if shared.systems:
            over = f"{counted(len(shared.systems), 'system')} and {over}"
        lacking = {"system": len(shared.other_systems), "candidate": shared.other_candidates}
        lacks = " and ".join(counted(n, noun) for noun, n in lacking.items() if n)
        without = f", without {lacks} that {_scarce(shared)} did not score" if lacks else ""
        remarks.append(f"All rows use the same {over}{without}.")
    remarks += [*_if_ties_counted_half(table.rows), *_mostly_ties(table.rows)]
    overall = [row.systems.by_category[OVERALL].n for row in table.rows if row.systems]
    if overall and min(overall) < FEWEST_SYSTEMS:
        is_shown = min(overall) >= FEWEST_SHOWN
        needs = f"A correlation over systems needs at least {FEWEST_SYSTEMS} systems."
        remarks.append(too_few_to_believe(min(overall)) if is_shown else needs)
    if "mean_gap_r_laban2022" in table.statistics:
        remarks += _order(table.rows)
    if "mean_tau_a" not in table.statistics:
        remarks += _rank_correlations(table.rows)
    remarks += [row.systems_reason for row in table.rows if row.systems_reason is not None]
    return [*dict.fromkeys(remarks)]


def _scarce(shared: "CommonBasis") -> str:
    """Name the metrics that scored some candidates and not others."""
    n = shared.candidates + shared.other_candidates
    names = short_names([name for name, lacks in shared.unscored.items() if lacks < n])
    return " or ".join(names) if 1 <= len(names) <= _NAMED else "some metrics"


def _if_ties_counted_half(rows: Sequence["MetricRow"]) -> list[str]:
    """Return the pass rates of scorers that tie, with ties counting half, as for baselines."""
    rates = {row.name: row.rates.overall for row in rows if row.kind == "scorer" and row.rates}
    shown = ", ".join(
        f"{name} {percent((rate.passes + rate.ties / 2) / rate.n)} %"
        for name, rate in rates.items()
        if rate.ties
    )
    return [f"Ties fail; if they count half, as they do for baselines: {shown}."] if shown else []


def _mostly_ties(rows: Sequence["MetricRow"]) -> Iterator[str]:
    """Yield scorers for which the texts of most tests are the same, except a constant."""
    for row in rows:
        rate = None if row.rates is None else row.rates.overall
        if row.kind == "scorer" and row.name != _CONSTANT and rate and 2 * rate.ties > rate.n:
            ties = f"{rate.ties:,} of {rate.n:,} tests"
            yield (
                f"{row.name} gives both texts the same number in {ties}: "
                "it may not see what differs in texts of this language."
            )


def _order(rows: Sequence["MetricRow"]) -> list[str]:
    """Return the order of the systems, of which the rows have one, for `gap_r_laban2022`."""
    orders = {", ".join(row.systems.systems.values()): None for row in rows if row.systems}
    return [f"Order of the systems for gap r (laban2022): {order}." for order in orders]


def _rank_correlations(rows: Sequence["MetricRow"]) -> list[str]:
    """Return the rank correlation of Table 1 in the NND paper, for rows with several categories."""
    ranked = {
        row.name: row.systems.mean.statistics["tau_a"]
        for row in rows
        if row.systems and row.main_numbers()["gap_r"] is not None
        if len(row.systems.by_category) > 2  # noqa: PLR2004
    }
    cells = zip(short_names([*ranked]), map(number, ranked.values()), strict=True)
    shown = ", ".join(f"{name} {tau}" for name, tau in cells)
    about = "Rank correlation over systems, mean tau-a over the categories of tests"
    return [f"{about}: {shown}."] if shown else []
