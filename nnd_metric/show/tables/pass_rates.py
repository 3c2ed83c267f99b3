"""Pass rates as tables for a terminal: the main table, slices, baselines and counts."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nnd.metric.numbers import ALL_AGREE, do_all_agree, short_names
from nnd.metric.show.tables.cells import NOTHING, pass_rate, share, slices
from nnd.schemas import text_table

if TYPE_CHECKING:
    from rich.table import Table

_BASELINES = {
    "shorter_wins": "shorter wins",
    "longer_wins": "longer wins",
    "copy_wins": "more copied wins",
    "unconditional": "without any context",
}
_TIMES = {"ties": "ties", "unscored": "unscored", "truncated": "truncated contexts"}
_COUNTS = {"n_close": "within rounding", "n_crossing": "tokens across the boundary"}


def pass_rate_table(results: Sequence[Mapping[str, Any]]) -> "Table":
    """Return pass rates in per cent: a row per model, a column per category of error."""
    key = next((key for key, _ in slices(results)), "by_error_category")
    values = [*results[0][key]] if len(results[0][key]) > 1 else []
    overall = "overall [95 % interval]"
    table = text_table(["pass rate, %", overall, *values], right=[overall, *values])
    of_values = (f"{results[0][key][value]['n']:,}" for value in values)
    table.add_row("tests", f"{results[0]['n']:,}", *of_values, end_section=True)
    names = short_names([result["model"] for result in results])
    for name, result in zip(names, results, strict=True):
        of_values = (share(result[key][value]["pass_rate"]) for value in values)
        table.add_row(name, pass_rate(result), *of_values)
    table.caption = _caption(results)
    return table


def slices_table(results: Sequence[Mapping[str, Any]]) -> "Table":
    """Return pass rates in per cent with their intervals: a row per slice, a column per model."""
    models = [result["model"] for result in results]
    table = text_table(["pass rate, % [95 % interval]", "tests", *models], right=["tests", *models])
    table.add_row("overall", f"{results[0]['n']:,}", *map(pass_rate, results), end_section=True)
    for key, title in slices(results):
        for value in results[0][key]:
            cells = [result[key][value] for result in results]
            table.add_row(f"{title}: {value}", f"{cells[0]['n']:,}", *map(pass_rate, cells))
        table.add_section()
    table.caption = _caption([each for result in results for each in _all_rates(result)])
    return table


def baselines_table(results: Sequence[Mapping[str, Any]]) -> "Table":
    """Return the pass rates of the baselines on the same tests: a row per model.

    A test that a baseline cannot decide counts half.
    """
    titles = ["of the same tests, %", "model", *_BASELINES.values(), "model where lengths match"]
    table = text_table(titles, right=titles[1:])
    for result in results:
        baselines = (result["baselines"][name] for name in _BASELINES)
        matched = result["length_matched"]
        table.add_row(
            result["model"],
            share(result["pass_rate"]),
            *(NOTHING if each is None else share(each["with_coin"]) for each in baselines),
            NOTHING if matched is None else f"{pass_rate(matched)} of {matched['n']:,}",
        )
    table.caption = "tests that a baseline cannot decide count half"
    return table


def counts_table(results: Sequence[Mapping[str, Any]]) -> "Table":
    """Return counts of ties, unscored tests and other special cases: a row per model."""
    counted = _TIMES | _COUNTS
    table = text_table(["tests with", *counted.values()], right=[*counted.values()])
    for result in results:
        counts = (result.get(key) for key in counted)
        table.add_row(result["model"], *(NOTHING if n is None else f"{n:,}" for n in counts))
    return table


def _caption(rates: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the meaning of a star after an interval, if any has one."""
    return ALL_AGREE if any(map(do_all_agree, rates)) else None


def _all_rates(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    of_slices = [rate for key, _ in slices([result]) for rate in result[key].values()]
    return [result, *of_slices]
