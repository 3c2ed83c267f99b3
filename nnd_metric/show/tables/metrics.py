"""NND compared with other metrics, as a table for a terminal, on one dataset or on several."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nnd.metric.numbers import FEWEST_SYSTEMS, mean_defined, percent, short_names
from nnd.metric.show.tables.cells import NOTHING, number, pass_rate, share
from nnd.schemas import counted, text_table

if TYPE_CHECKING:
    from rich.table import Table

_OVERVIEW = (
    *("metric", "pass rate, %", "gap r, systems"),
    *("Spearman, candidates", "Spearman, within contexts"),
)
_NAMED = 3
"""Largest number of metrics that a remark names."""
_LEVELS = ("sample", "by_context")


def metrics_overview(rows: Sequence[Mapping[str, Any]]) -> "Table":
    """Return a row per metric: its main numbers on pairs, on systems, and on single candidates.

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
    """Return the overview of several datasets: a block of rows for each, then the means.

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
        cells = [name, share(rate), *map(number, others)]
        table.add_row(f"mean over {len(datasets)} datasets", *cells, style="bold")
    return table


def _overview(rows: Sequence[Mapping[str, Any]]) -> Iterator[list[str]]:
    for name, row in zip(short_names([row["name"] for row in rows]), rows, strict=True):
        rate = (
            ""
            if row["rates"] is None
            else pass_rate(row["rates"]["pass_rate"], row["rates"]["interval"])
        )
        aspects = list(row["candidates"].values())
        correlations = [
            number(mean_defined([each[level]["spearman"] for each in aspects])) for level in _LEVELS
        ]
        yield [name, rate, _gap_r(row["systems"]), *correlations]


def metrics_remarks(table: Mapping[str, Any]) -> list[str]:
    """Return remarks on the basis of the overview, and on the reasons for missing numbers.

    Args:
        table: `metrics.MetricTable.to_dict()`.
    """
    shared, remarks = table["shared"], [*table["notes"]]
    if shared is not None:
        systems, others = len(shared["systems"]), len(shared["other_systems"])
        candidates, rest = shared["candidates"], shared["other_candidates"]
        over = counted(candidates, "candidate")
        if systems:
            over = f"{counted(systems, 'system')} and {over}"
        lacking = [counted(others, "system")] if others else []
        lacking += [counted(rest, "candidate")] if rest else []
        without = f", without {' and '.join(lacking)} that {_scarce(shared)} did not score"
        remarks.append(f"All rows use the same {over}{without if lacking else ''}.")
    remarks += _if_ties_counted_half(table["rows"])
    overall = [
        row["systems"]["by_category"]["overall"]["n"] for row in table["rows"] if row["systems"]
    ]
    if overall and min(overall) < FEWEST_SYSTEMS:
        remarks.append(f"A correlation over systems needs at least {FEWEST_SYSTEMS} systems.")
    remarks += _rank_correlations(table["rows"])
    reasons = (row["systems_reason"] for row in table["rows"])
    return [*dict.fromkeys([*remarks, *(reason for reason in reasons if reason is not None)])]


def _scarce(shared: Mapping[str, Any]) -> str:
    """Name the metrics that scored some candidates and not others."""
    n = shared["candidates"] + shared["other_candidates"]
    names = short_names([name for name, lacks in shared["unscored"].items() if lacks < n])
    return " or ".join(names) if 1 <= len(names) <= _NAMED else "some metrics"


def _if_ties_counted_half(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the pass rates of scorers that tie, by the rule for baselines."""
    rates = {
        row["name"]: (row["rates"]["passes"] + row["rates"]["ties"] / 2) / row["rates"]["n"]
        for row in rows
        if row["kind"] == "scorer" and row["rates"]["ties"]
    }
    if not rates:
        return []
    shown = ", ".join(f"{name} {percent(rate)} %" for name, rate in rates.items())
    return [f"Ties fail; if they count half, as they do for baselines: {shown}."]


def _rank_correlations(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the rank correlation of Table 1 in the NND paper, for rows with several categories."""
    ranked = {
        row["name"]: row["systems"]["mean"]["tau_a"]
        for row in rows
        if _gap_r(row["systems"]) != NOTHING and len(row["systems"]["by_category"]) > 2  # noqa: PLR2004
    }
    if not ranked:
        return []
    cells = zip(short_names([*ranked]), map(number, ranked.values()), strict=True)
    shown = ", ".join(f"{name} {tau}" for name, tau in cells)
    return [f"Rank correlation over systems, mean tau-a over the categories of tests: {shown}."]


def _gap_r(agreement: Mapping[str, Any] | None) -> str:
    if agreement is None or agreement["by_category"]["overall"]["n"] < FEWEST_SYSTEMS:
        return NOTHING
    return number(agreement["by_category"]["overall"]["gap_r"])
