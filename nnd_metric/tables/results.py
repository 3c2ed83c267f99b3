"""Results as tables for a terminal."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich import box
from rich.table import Table

from nnd.metric.statistics import ALL_AGREE, rate_and_interval

_STATISTICS = {
    "tau_b": "tau-b",
    "tau_a": "tau-a",
    "spearman": "Spearman",
    "gap_r": "gap r = Pearson r",
    "gap_r_laban2022": "gap r (laban2022)",
}

_NOTHING = "n/a"

_BASELINES = {
    "shorter_wins": ("shorter wins", "S"),
    "longer_wins": ("longer wins", "L"),
    "copy_wins": ("more copied wins", "C"),
    "unconditional": ("without any context", "U"),
}

_LEGEND = (
    "S, L, C, U: shorter wins, longer wins, more copied wins, the model without any context "
    "reaches more, with a coin for what it cannot decide; "
    f"s, l, c, u: the data cannot tell it from the model; {ALL_AGREE}"
)

_TITLES = {
    "by_error_category": "error category",
    "by_error_group": "error group",
    "by_aspect": "aspect",
    "by_category": "context category",
    "by_split": "split",
}


def pass_rate_table(results: Sequence[Mapping[str, Any]]) -> Table:
    """Pass rates in percent with their 95 % intervals: a row per slice, a column per model.

    Below the overall rate stands what baselines reach; letters behind a rate name those that reach
    as much there, or that the data cannot tell from the model.
    """
    table = _table("pass rate, % [95 % interval]")
    table.add_column("n", justify="right")
    for result in results:
        table.add_column(result["model"], justify="right", overflow="fold")
    table.add_row("overall", _n(results[0]), *map(_marked_rate, results), style="bold")
    for name, (title, _) in _BASELINES.items():
        table.add_row(f"  {title}", "", *(_baseline(each["baselines"][name]) for each in results))
    table.add_row("  where lengths match", "", *(_matched(r["length_matched"]) for r in results))
    for key, title in _TITLES.items():
        first = results[0].get(key, {})
        if len(first) > 1:
            table.add_section()
            for value in first:
                cells = [result[key][value] for result in results]
                table.add_row(f"{title}: {value}", _n(cells[0]), *map(_marked_rate, cells))
    table.add_section()
    for name in ("ties", "unscored", "truncated"):
        counts = (result[name] for result in results)
        table.add_row(name, "", *("n/a" if n is None else f"{n:,}" for n in counts))
    table.caption = _LEGEND
    return table


def comparison_table(comparison: Mapping[str, Any]) -> Table:
    """Two models on the same pairs: a row per slice."""
    a, b = comparison["a"], comparison["b"]
    table = _table("pass rate, %")
    for title in ("n", a, b, "difference, points [95 %]", "only first", "only second"):
        table.add_column(title, justify="right", overflow="fold")
    for title in ("p (McNemar)", "p (Holm)", "tests for 2 points, before Holm"):
        table.add_column(title, justify="right")
    table.add_column("better", overflow="fold")
    better = {"a": a, "b": b, "undecided": "cannot tell"}
    table.add_row("overall", *_compared(comparison["overall"], better), style="bold")
    for key, title in _TITLES.items():
        found = comparison.get(key, {})
        if len(found) > 1:
            table.add_section()
            for value, each in found.items():
                table.add_row(f"{title}: {value}", *_compared(each, better))
    return table


def comparisons_table(comparisons: Sequence[Mapping[str, Any]]) -> Table:
    """Several comparisons of two models: a row each, of the difference over all tests."""
    table = _table("pass rate, %", "against")
    for title in ("n", "first", "second", "difference, points [95 %]", "p (McNemar)"):
        table.add_column(title, justify="right")
    table.add_column("better", overflow="fold")
    for each in comparisons:
        a, b = each["a"], each["b"]
        cells = _compared(each["overall"], {"a": a, "b": b, "undecided": "cannot tell"})
        table.add_row(a, b, *cells[:4], cells[6], cells[9])
    return table


def agreement_table(agreement: Mapping[str, Any]) -> Table:
    """Agreement with human scores: a block per category, the mean at the foot."""
    table = _table("agreement with people", "systems")
    for title in _STATISTICS.values():
        table.add_column(title, justify="right")
    for category, found in agreement["by_category"].items():
        dropped = f" (dropped {found['dropped']})" if found["dropped"] else ""
        table.add_row(category, f"{found['n']}{dropped}", *_each(found, _number))
        _add_beside(table, found, "")
        table.add_section()
    mean = _each(agreement["mean"], _number)
    table.add_row("mean over categories", "", *mean, style="bold")
    _add_beside(table, agreement, "mean_")
    return table


def _add_beside(table: Table, found: Mapping[str, Any], prefix: str) -> None:
    for key, (title, show) in _BESIDE.items():
        values = found[prefix + key]
        if any(values[name] is not None for name in _STATISTICS):
            table.add_row(f"  {title}", "", *_each(values, show))


def _each(values: Mapping[str, Any], show: Callable[[Any], str]) -> list[str]:
    return [show(values[name]) for name in _STATISTICS]


def extrapolation_tables(agreement: Mapping[str, Any]) -> list[Table]:
    """What people would say of models they have not judged; no table where there is no such."""
    table = _table("predicted human score", "model")
    for title in ("pass rate, %", "score [95 % prediction interval]", "leave-one-out error"):
        table.add_column(title, justify="right")
    table.add_column("note")
    for category, each in agreement["by_category"].items():
        found = each["extrapolation"]
        for prediction in found["predictions"]:
            table.add_row(category, *_prediction(prediction, found["line"]))
        if found["reason"] is not None and agreement["unmatched"]:
            table.add_row(category, "", "", _NOTHING, "", found["reason"])
    return [table] if table.row_count else []


def agreement_notes(agreement: Mapping[str, Any]) -> list[str]:
    """Say who stands for whom, what was left out, and how the numbers were made."""
    systems = agreement["systems"]
    lines = [f"{model} stands for {system}" for model, system in systems.items()]
    lines += [f"{model} stands for no judged system" for model in agreement["unmatched"]]
    lines += human_notes(agreement)
    lines.append(f"gap r (laban2022) takes the systems as {', '.join(systems.values())}")
    made = {
        (each["permutations"]["m"], each["permutations"]["method"])
        for each in agreement["by_category"].values()
        if any(p is not None for p in each["p_values"].values())
    }
    for m, method in sorted(made):
        which = f"all {m:,}" if method == "exact" else f"{m:,} random"
        lines.append(f"p is two-sided, from {which} permutations of the human scores")
    if agreement["scores_missing"]:
        lines.append(f"human scores without a score, left out: {agreement['scores_missing']:,}")
    if agreement["unscored"] is not None:
        missing = [f"{model} {n:,}" for model, n in agreement["unscored"].items() if n]
        lines.append(f"unscored tests, counted as failures: {', '.join(missing) or 'none'}")
    return lines


def human_notes(agreement: Mapping[str, Any]) -> list[str]:
    """Say which number of people each category is correlated with."""
    return [
        f"{category}, human score: {_human_number(found['human_numbers'])}"
        for category, found in agreement["by_category"].items()
        if found["human_numbers"]
    ]


def _human_number(numbers: Sequence[Mapping[str, Any]]) -> str:
    said = dict.fromkeys(each["definition"] or "not defined" for each in numbers)
    aspects = ", ".join(dict.fromkeys(each["aspect"] for each in numbers))
    of = f"mean over aspects {aspects}" if len(numbers) > 1 else f"aspect {aspects}"
    return f"{'; '.join(said)} ({of})"


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column)
    return table


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _n(rate: Mapping[str, Any]) -> str:
    return f"{rate['n']:,}"


def _rate(rate: Mapping[str, Any]) -> str:
    if rate["pass_rate"] is None:
        return _NOTHING
    return rate_and_interval(rate)


def _marked_rate(rate: Mapping[str, Any]) -> str:
    """A capital for a baseline that is ahead, a small letter for one that is close."""
    marks = ""
    for name, (_, letter) in _BASELINES.items():
        found = rate["baselines"][name]
        if found is not None:
            marks += {"ahead": letter, "close": letter.lower(), "behind": ""}[found["verdict"]]
    return f"{_rate(rate)} {marks}".rstrip()


def _baseline(baseline: Mapping[str, Any] | None) -> str:
    return _NOTHING if baseline is None else _share(baseline["pass_rate"])


def _matched(matched: Mapping[str, Any] | None) -> str:
    return _NOTHING if matched is None else f"{_rate(matched)} of {matched['n']:,}"


def _compared(found: Mapping[str, Any], better: Mapping[str, str]) -> list[str]:
    rates = (found["pass_rate_a"], found["pass_rate_b"])
    if found["n"] == 0:
        return ["0", *[_NOTHING] * 9]
    interval = ""
    if found["interval"] is not None:
        interval = " [{:+.1f}, {:+.1f}]".format(*(100 * bound for bound in found["interval"]))
    return [
        _n(found),
        *map(_share, rates),
        f"{100 * found['difference']:+.1f}{interval}",
        f"{found['only_a']:,}",
        f"{found['only_b']:,}",
        _p(found["p"]),
        _p(found["p_holm"]),
        _NOTHING if found["needed"] is None else f"{found['needed']['tests']:,}",
        better[found["verdict"]],
    ]


def _number(value: float | None) -> str:
    return _NOTHING if value is None else f"{value:.3f}"


def _p(value: float | None) -> str:
    if value is None:
        return _NOTHING
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"  # noqa: PLR2004


def _interval(bounds: Sequence[float] | None) -> str:
    return _NOTHING if bounds is None else f"[{bounds[0]:.2f}, {bounds[1]:.2f}]"


def _prediction(prediction: Mapping[str, Any], line: Mapping[str, Any]) -> list[str]:
    low, high = prediction["interval"]
    notes = []
    if prediction["position"] != "within":
        seen = f"{_share(line['lowest'])}-{_share(line['highest'])}"
        notes.append(f"extrapolates {prediction['position']} the rates seen, {seen}")
    if line["rmse"] is None:
        notes.append("one system carries the line: no leave-one-out error")
    elif line["rmse"] >= line["rmse_of_mean"]:
        notes.append("no better than guessing the mean")
    return [
        prediction["model"],
        _share(prediction["pass_rate"]),
        f"{prediction['score']:.3g} [{low:.3g}, {high:.3g}]",
        f"{_short(line['rmse'])} (guessing the mean {_short(line['rmse_of_mean'])})",
        "; ".join(notes),
    ]


def _share(value: float) -> str:
    return f"{100 * value:.1f}"


def _short(value: float | None) -> str:
    return _NOTHING if value is None else f"{value:.3g}"


_BESIDE: dict[str, tuple[str, Callable[[Any], str]]] = {
    "p_values": ("p by permutation", _p),
    "intervals": ("95 % over contexts", _interval),
    "intervals_over_systems": ("95 % over systems", _interval),
}
