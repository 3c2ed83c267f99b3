"""Pass rates as tables for a terminal: by category, slice and dataset, baselines and counts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from nnd.metric.numbers import PassRates, Rate, mean_over, short_names
from nnd.metric.show.tables.cells import (
    BASELINES,
    NOTHING,
    count,
    deviation,
    explain_stars,
    pass_rate,
    share,
    telling_columns,
    undecidable_lines,
)
from nnd.schemas import SLICE_TITLES, counted, text_table

if TYPE_CHECKING:
    from rich.table import Table

    from nnd.metric.run import Failure, ModelResult


_TOKEN_BASELINES = {"fewer_tokens": "fewer win", "more_tokens": "more win"}


def pass_rate_table(models: Mapping[str, PassRates]) -> "Table":
    """Return pass rates in per cent: a row per model, a column per category of error."""
    slices = next(iter(_slices([*models.values()]).values()), {})
    overall = [rates.overall for rates in models.values()]
    titles = ["overall [95 % interval]", *slices]
    table = text_table(["pass rate, %", *titles], right=titles)
    tests = (f"{of_models[0].n:,}" for of_models in (overall, *slices.values()))
    table.add_row("tests", *tests, end_section=True)
    for name, rate, *others in zip(short_names([*models]), overall, *slices.values(), strict=True):
        shown = (share(other.pass_rate) for other in others)
        table.add_row(name, pass_rate(rate.pass_rate, rate.interval), *shown)
    return explain_stars(table, *_undecidable(models, slices))


def slices_table(models: Mapping[str, PassRates]) -> "Table":
    """Return pass rates in per cent with their intervals: a row per slice, a column per model."""
    titles = ["tests", *models]
    table = text_table(["pass rate, % [95 % interval]", *titles], right=titles)
    overall = [rates.overall for rates in models.values()]
    add_rates(table, "overall", overall)
    if any(rate.context_interval for rate in overall):
        cells = (pass_rate(rate.pass_rate, rate.context_interval) for rate in overall)
        table.add_row("overall, interval over contexts", f"{overall[0].n:,}", *cells)
    table.add_section()
    all_slices: dict[str, list[Rate]] = {}
    for column, slices in _slices([*models.values()]).items():
        named = {f"{SLICE_TITLES[column]}: {value}": rates for value, rates in slices.items()}
        for name, rates in named.items():
            add_rates(table, name, rates)
        all_slices |= named
        table.add_section()
    return explain_stars(table, *_levels(overall[0]), *_undecidable(models, all_slices))


def _undecidable(
    models: Mapping[str, PassRates], slices: Mapping[str, Sequence[Rate]]
) -> Iterator[str]:
    names = short_names([*models])
    by = {
        name: [("all", rates.overall), *((value, of[place]) for value, of in slices.items())]
        for place, (name, rates) in enumerate(zip(names, models.values(), strict=True))
    }
    return undecidable_lines(by)


def _levels(rate: Rate) -> Iterator[str]:
    """Yield what the intervals are over, if contexts share something."""
    if 0 < rate.clusters < rate.contexts:
        yield (
            f"intervals are over {counted(rate.clusters, 'cluster')} of {rate.contexts:,} contexts "
            "that share a text, unless another level is named"
        )


def add_rates(table: "Table", name: str, rates: Sequence[Rate | None]) -> None:
    """Add a row to a table: a name, the number of tests, and the rate of each model, if any."""
    tests = next(rate.n for rate in rates if rate is not None)
    cells = (
        NOTHING if rate is None else pass_rate(rate.pass_rate, rate.interval) for rate in rates
    )
    table.add_row(name, f"{tests:,}", *cells)


def sweep_table(datasets: Mapping[str, Mapping[str, Rate]]) -> "Table":
    """Return overall pass rates: a row per dataset, a column per model; the last row has means."""
    means = mean_over(
        [{model: rate.pass_rate for model, rate in rates.items()} for rates in datasets.values()]
    )
    asked = dict.fromkeys(model for rates in datasets.values() for model in rates)
    models = sorted(asked, key=lambda model: -(means.get(model) or 0.0))  # the best first
    titles = ["pass rate, % [95 % interval]", "tests", *short_names(models)]
    table = text_table(titles, right=titles[1:])
    for name, rates in datasets.items():
        add_rates(table, name, [rates.get(model) for model in models])
    if len(datasets) > 1:
        table.add_section()
        shown = [share(means.get(model)) for model in models]
        table.add_row(f"mean over {len(datasets)} datasets", "", *shown, style="bold")
    return table


def failure_table(failures: Sequence["Failure"]) -> "Table":
    """Return the models and datasets that failed, with the reasons."""
    table = text_table(("failed: model", "dataset", "reason"), prose=["reason"])
    for failure in failures:
        table.add_row(failure.model or "all", failure.dataset or "all", failure.reason)
    return table


def baselines_table(models: Mapping[str, Rate]) -> "Table":
    """Return the pass rates of the baselines on the same tests: a row per model.

    A test that a baseline cannot decide counts half.
    """
    titles = ["of the same tests, %", "model", *BASELINES.values(), "model where lengths match"]
    table = text_table(titles, right=titles[1:])
    for model, rate in models.items():
        baselines = (rate.baselines[name] for name in BASELINES)
        matched = rate.length_matched
        table.add_row(
            model,
            share(rate.pass_rate),
            *(share(None if each is None else each.with_coin) for each in baselines),
            NOTHING
            if matched is None
            else f"{pass_rate(matched.pass_rate, matched.interval)} of {matched.n:,}",
        )
    table.caption = "tests that a baseline cannot decide count half"
    return table


def length_table(models: Mapping[str, Rate]) -> "Table | None":
    """Return the rates at equal length, and those of length in tokens: a row per model.

    It is None if no model's numbers of tokens are known.
    """
    titles = ["at equal tokens", "slope", "nearly equal", *_TOKEN_BASELINES.values()]
    table = text_table(["by tokens, %", "all tests", *titles], right=titles)
    for model, rate in models.items():
        if (equal := rate.equal_length) is None:
            continue
        baselines = (rate.baselines.get(name) for name in _TOKEN_BASELINES)
        table.add_row(
            model,
            share(rate.pass_rate),
            pass_rate(equal.pass_rate, equal.interval),
            NOTHING if equal.slope is None else f"{equal.slope:+.1f}",
            f"{equal.near:,} of {equal.n:,}",
            *(share(None if each is None else each.with_coin) for each in baselines),
        )
    table.caption = "\n".join(_length_notes(models)) or None
    return table if table.row_count else None


def _length_notes(models: Mapping[str, Rate]) -> Iterator[str]:
    for model, rate in models.items():
        if (equal := rate.equal_length) is None:
            continue
        if equal.reason is not None:
            missing = "rate" if equal.pass_rate is None else "interval"
            yield f"{model}: no {missing} at equal tokens: {equal.reason}"
        if equal.empty:
            yield f"{model}: {counted(equal.empty, 'test')} with an empty candidate left out"


def counts_table(results: Sequence["ModelResult"]) -> "Table":
    """Return counts of ties, unscored tests and other special cases: a row per model."""
    titles = ["ties", "unscored", "undecidable", "truncated contexts", "within rounding"]
    titles += ["tokens across the boundary"]
    table = text_table(["tests with", *titles], right=titles)
    for result in results:
        rate = result.rates.overall
        counts = (
            *(rate.ties, rate.unscored, rate.undecidable, rate.truncated),
            *(result.n_close, result.n_crossing),
        )
        table.add_row(result.model, *map(count, counts))
    table.caption = "\n".join(_deviations(results)) or None
    return table


def _deviations(results: Sequence["ModelResult"]) -> Iterator[str]:
    for result in results:
        if said := deviation(result.work.deviation, result.work.deviation_requests):
            yield f"{result.model}: rounding is {said}"


def _slices(models: Sequence[PassRates]) -> dict[str, dict[str, list[Rate]]]:
    """Return column → value → the rate of each model, for the columns that tell something new."""
    by = {
        column: {value: [of.by[column][value] for of in models] for value in models[0].by[column]}
        for column in SLICE_TITLES
        if column in models[0].by
    }
    telling = telling_columns(by, lambda rates: [(rate.n, rate.passes) for rate in rates])
    return {column: by[column] for column in telling}
