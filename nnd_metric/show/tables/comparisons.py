"""Comparisons of models as tables for a terminal: verdicts, and differences by slice."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from nnd.metric.numbers import noun_of, short_names, tests_needed
from nnd.metric.show.tables.cells import NOTHING, count, points, share, telling_columns
from nnd.metric.show.tables.differences import difference_table, verdict_cell
from nnd.schemas import SLICE_TITLES, counted, text_table

if TYPE_CHECKING:
    from rich.table import Table

    from nnd.metric.numbers import Comparison, ModelDifference

_AHEAD = "points ahead [95 %]"


def verdict_table(comparisons: Sequence["Comparison"]) -> "Table":
    """Return the difference over all tests: a row per two models, the better one first.

    For several datasets, there is a block of rows for each.
    """
    models = list(dict.fromkeys(label for each in comparisons for label in each.labels))
    names = dict(zip(models, short_names(models), strict=True))
    datasets = list(dict.fromkeys(each.data for each in comparisons))
    keys = ["dataset", "models"] if len(datasets) > 1 else ["models"]

    def rows(data: str | None) -> Iterator[tuple[list[str], "ModelDifference"]]:
        of_data = [each.better_first() for each in comparisons if each.data == data]
        for each in sorted(of_data, key=lambda each: each.rates, reverse=True):
            against = f"{names[each.first]} against {names[each.second]}"
            yield [data or "", against][-len(keys) :], each.overall

    columns = {_AHEAD: "lead", "p": "p", "differ": "differ"}
    blocks = [("", rows(data)) for data in datasets]
    return difference_table(keys, columns, blocks, words=["differ"])


def rates_table(comparisons: Sequence["Comparison"]) -> "Table | None":
    """Return pass rates by slice, the best model first; None if not all share the same tests."""
    if any(each.only_in_first or each.only_in_second for each in comparisons):
        return None
    columns = _columns(comparisons[0])
    rates: dict[str, dict[str, float | None]] = {}
    tests: dict[str, int] = {}
    for comparison in comparisons:
        for _, rows in _blocks(comparison, columns):
            for (label,), each in rows:
                tests[label] = each.n
                both = zip(comparison.labels, (each.rate, each.other), strict=True)
                rates.setdefault(label, {}).update(both)
    models = sorted(rates["overall"], key=lambda model: -(rates["overall"][model] or 0.0))
    titles = ["pass rate, %", "tests", *short_names(models)]
    table = text_table(titles, right=titles[1:])
    for label, of_models in rates.items():
        table.add_row(label, f"{tests[label]:,}", *(share(of_models[model]) for model in models))
    return table


def ahead_table(comparison: "Comparison") -> "Table":
    """Return by how much the better of two models is ahead: a row per slice."""
    comparison = comparison.better_first()
    first, second = short_names(comparison.labels)
    rows = [row for _, rows in _blocks(comparison) for row in rows]
    columns: dict[str, str | Callable[[ModelDifference], str]] = {"tests": "n", _AHEAD: "lead"}
    if any(each.equal_length is not None for _, each in rows):
        columns["at equal tokens"] = _at_equal_length
    columns |= {"p (Holm)": "final_p", "differ": "differ"}
    title = f"{first} against {second}"
    table = difference_table([title], columns, [("", rows)], words=["differ"])
    table.caption = "\n".join([*_levels(comparison), *_needed(comparison)]) or None
    return table


def comparison_table(comparison: "Comparison") -> "Table":
    """Return two models on the same pairs: a row per slice."""
    columns: dict[str, str | Callable[[ModelDifference], str]] = {
        "tests": "n",
        comparison.first: "rate",
        comparison.second: "other",
        "difference, points [95 %]": "lead",
        "only first passes": "only_first",
        "only second passes": "only_second",
        "p": "p",
        "p (Holm)": "p_holm",
        "tests for 2 points, before Holm": lambda each: count(
            None if each.needed is None else each.needed.tests
        ),
        "better": verdict_cell(*comparison.labels),
    }
    table = difference_table(["pass rate, %"], columns, _blocks(comparison))
    table.rows[0].style = "bold"
    table.caption = "\n".join(_levels(comparison)) or None
    return table


def _levels(comparison: "Comparison") -> Iterator[str]:
    """Yield what intervals and p are over, and the interval over contexts, if these share some."""
    overall = comparison.overall
    if overall.clusters < overall.contexts:
        noun = noun_of(overall, comparison.cluster)
        over = f"intervals and p are over {counted(overall.clusters, noun)}"
        lead = points(overall.difference, overall.context_interval)
        yield f"{over}; overall, over {overall.contexts:,} contexts: {lead}"


def _needed(comparison: "Comparison") -> Iterator[str]:
    overall = comparison.overall
    if overall.needed is not None and overall.verdict != "undecided":  # else a sentence has it
        yield tests_needed(overall.needed, noun_of(overall, comparison.cluster))


def _at_equal_length(each: "ModelDifference") -> str:
    equal = each.equal_length
    return NOTHING if equal is None else points(equal.difference, equal.interval)


def _columns(comparison: "Comparison") -> list[str]:
    return telling_columns(comparison.by, lambda each: (each.n, each.only_first, each.only_second))


def _blocks(
    comparison: "Comparison", columns: Sequence[str] | None = None
) -> Iterator[tuple[str, list[tuple[list[str], "ModelDifference"]]]]:
    """Yield the difference over all tests, then those of each column."""
    yield "", [(["overall"], comparison.overall)]
    for column in _columns(comparison) if columns is None else columns:
        title, by = SLICE_TITLES[column], comparison.by[column]
        yield "", [([f"{title}: {value}"], each) for value, each in by.items()]
