"""NND compared with other metrics, as a table for a terminal, on one dataset or on several."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nnd.metric.data import OVERALL
from nnd.metric.numbers import FEWEST_SYSTEMS, mean_defined, percent, short_names
from nnd.metric.show.tables.cells import NOTHING, number, pass_rate, share
from nnd.schemas import counted, text_table

if TYPE_CHECKING:
    from rich.table import Table

    from nnd.metric.numbers import Agreement
    from nnd.metric.other_metrics import CommonBasis, MetricRow, MetricTable, MetricTables

_OVERVIEW = (
    *("metric", "pass rate, %", "gap r, systems"),
    *("Spearman, candidates", "Spearman, within contexts"),
)
_NAMED = 3
"""Largest number of metrics that a remark names."""


def metrics_overview(rows: Sequence["MetricRow"]) -> "Table":
    """Return a row per metric: its main numbers on pairs, on systems, and on single candidates."""
    return text_table(_OVERVIEW, _overview(rows), right=_OVERVIEW[1:])


def metrics_by_dataset(tables: "MetricTables") -> "Table":
    """Return the overview of several datasets: a block of rows for each, then the means."""
    shown = text_table((tables.noun, *_OVERVIEW), right=_OVERVIEW[1:], prose=[tables.noun])
    for dataset, table in tables.datasets.items():
        for cells in _overview(table.rows):
            shown.add_row(dataset, *cells)
        shown.add_section()
    means = tables.mean()
    for name, numbers in zip(short_names([*means]), means.values(), strict=True):
        rate, *others = numbers.values()
        cells = [name, share(rate), *map(number, others)]
        shown.add_row(f"mean over {len(tables.datasets)} {tables.noun}s", *cells, style="bold")
    return shown


def _overview(rows: Sequence["MetricRow"]) -> Iterator[list[str]]:
    for name, row in zip(short_names([row.name for row in rows]), rows, strict=True):
        overall = None if row.rates is None else row.rates.overall
        rate = "" if overall is None else pass_rate(overall.pass_rate, overall.interval)
        aspects = row.candidates.values()
        pooled = mean_defined([each.sample["spearman"] for each in aspects])
        within = mean_defined([each.by_context["spearman"] for each in aspects])
        yield [name, rate, _gap_r(row.systems), number(pooled), number(within)]


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
    remarks += _if_ties_counted_half(table.rows)
    overall = [row.systems.by_category[OVERALL].n for row in table.rows if row.systems]
    if overall and min(overall) < FEWEST_SYSTEMS:
        remarks.append(f"A correlation over systems needs at least {FEWEST_SYSTEMS} systems.")
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


def _rank_correlations(rows: Sequence["MetricRow"]) -> list[str]:
    """Return the rank correlation of Table 1 in the NND paper, for rows with several categories."""
    ranked = {
        row.name: row.systems.mean.statistics["tau_a"]
        for row in rows
        if row.systems and _gap_r(row.systems) != NOTHING and len(row.systems.by_category) > 2  # noqa: PLR2004
    }
    cells = zip(short_names([*ranked]), map(number, ranked.values()), strict=True)
    shown = ", ".join(f"{name} {tau}" for name, tau in cells)
    about = "Rank correlation over systems, mean tau-a over the categories of tests"
    return [f"{about}: {shown}."] if shown else []


def _gap_r(agreement: "Agreement | None") -> str:
    return NOTHING if agreement is None else number(agreement.over_all_tests()["gap_r"])
