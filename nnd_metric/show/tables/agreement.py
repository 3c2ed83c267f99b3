"""Agreement with people as tables for a terminal."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nnd.metric.numbers import FEWEST_SHOWN, FEWEST_SYSTEMS
from nnd.metric.show.tables.cells import NOTHING, number, p_value, share
from nnd.schemas import text_table

if TYPE_CHECKING:
    from rich.table import Table

_STATISTICS = {
    "tau_b": "tau-b",
    "tau_a": "tau-a",
    "spearman": "Spearman",
    "gap_r": "gap r = Pearson r",
    "gap_r_laban2022": "gap r (laban2022)",
    "pearson": "Pearson r",
    "system_accuracy": "system accuracy",
}
_MAIN = ("tau_b", "gap_r")
_ALL = ("tau_b", "tau_a", "spearman", "gap_r", "gap_r_laban2022")


def points_table(points: Iterable[tuple[str, str, str, str]], ours: str) -> "Table":
    """Return the numbers of models and of people, too few to correlate: a row per model."""
    return text_table(("model", "system", ours, "human score"), points, right=(ours, "human score"))


def correlations_table(agreement: Mapping[str, Any], columns: Sequence[str] = _MAIN) -> "Table":
    """Return the two main correlations: a row per category, and the mean in the last row.

    Other `columns` have their intervals instead of a p-value.
    """
    if tuple(columns) != _MAIN:
        return _chosen_table(agreement, columns)
    table = _main_table("category", agreement["by_category"])
    uncertainty = {name: agreement[f"mean_{name}"] for name in ("intervals", "p_values")}
    mean = _main_cells({**agreement["mean"], **uncertainty})
    table.add_row("mean over categories", "", *mean, style="bold")
    return table


def _chosen_table(agreement: Mapping[str, Any], names: Sequence[str]) -> "Table":
    titles = [_STATISTICS[name] for name in names]
    table = text_table(("category", "systems", *titles), right=("systems", *titles))
    for category, each in agreement["by_category"].items():
        bounds = each["intervals"] | {"system_accuracy": each["system_accuracy_interval"]}
        cells = [
            number(each[name]) + ("" if bounds[name] is None else f" {_interval(bounds[name])}")
            for name in names
        ]
        cells = cells if _are_shown(each) else [NOTHING] * len(cells)
        table.add_row(category, f"{each['n']}", *cells)
    table.add_section()
    means = (number(agreement["mean"].get(name)) for name in names)
    table.add_row("mean over categories", "", *means, style="bold")
    return table


def datasets_table(
    agreements: Mapping[str, Mapping[str, Any]], mean: Mapping[str, float | None]
) -> "Table":
    """Return the two main correlations over all tests: a row per dataset, then the mean."""
    categories = {name: agreement["by_category"] for name, agreement in agreements.items()}
    main = {name: by.get("overall") or next(iter(by.values())) for name, by in categories.items()}
    table = _main_table("dataset", main)
    means = (number(mean["tau_b"]), number(mean["gap_r"]))
    table.add_row(f"mean over {len(agreements)} datasets", "", *means, "", style="bold")
    return table


def _main_table(title: str, rows: Mapping[str, Mapping[str, Any]]) -> "Table":
    """Return the rows of the main correlations; stored pass rates alone have no interval."""
    has_interval = any(correlations["intervals"]["gap_r"] for correlations in rows.values())
    gap_r = "gap r [95 % interval]" if has_interval else "gap r"
    table = text_table(
        (title, "systems", "tau-b", gap_r, "p"), right=("systems", "tau-b", gap_r, "p")
    )
    for name, correlations in rows.items():
        cells = _main_cells(correlations) if _says_something(correlations) else [NOTHING] * 3
        table.add_row(name, f"{correlations['n']}", *cells)
    table.add_section()
    return table


def agreement_table(agreement: Mapping[str, Any]) -> "Table":
    """Return all correlations with human scores: a block of rows per category, then the mean.

    Below FEWEST_SHOWN systems, there are none.
    """
    titles = ("agreement with people", "systems", *(_STATISTICS[name] for name in _ALL))
    table, nothing = text_table(titles, right=titles[2:]), [NOTHING] * len(_ALL)
    for category, correlations in agreement["by_category"].items():
        dropped = f" (dropped {correlations['dropped']})" if correlations["dropped"] else ""
        if _are_shown(correlations):
            table.add_row(category, f"{correlations['n']}{dropped}", *_cells(correlations, number))
            _add_uncertainty(table, correlations, "")
        else:
            table.add_row(category, f"{correlations['n']}{dropped}", *nothing)
        table.add_section()
    if any(map(_are_shown, agreement["by_category"].values())):
        mean = _cells(agreement["mean"], number)
        table.add_row("mean over categories", "", *mean, style="bold")
        _add_uncertainty(table, agreement, "mean_")
    return table


def people_table(agreement: Mapping[str, Any]) -> "Table | None":
    """Return what people's own judgements admit, and the agreement without own texts.

    There is a row per category; None if nothing of it is known.
    """
    categories = agreement["by_category"]
    has_noise, has_without = (
        any(each.get(key) is not None for each in categories.values())
        for key in ("human_noise", "without_own")
    )
    numbers = [*(("separable", "ceiling") if has_noise else ())]
    numbers += ["tau-b without own", "gap r without own"] if has_without else []
    table = text_table(("category", *numbers), right=numbers)
    for category, each in categories.items():
        cells = [*(_noise_cells(each) if has_noise else ())]
        cells += _without_own_cells(each) if has_without else []
        table.add_row(category, *cells)
    return table if numbers else None


def _noise_cells(correlations: Mapping[str, Any]) -> list[str]:
    noise = correlations.get("human_noise")
    if noise is None:
        return [NOTHING] * 2
    ceiling = NOTHING if noise["ceiling"] is None else f"{noise['ceiling']['gap_r']:.2f}"
    return [f"{noise['separable']} of {noise['pairs']}", ceiling]


def _without_own_cells(correlations: Mapping[str, Any]) -> list[str]:
    without = correlations.get("without_own")
    if without is None or not _says_something(correlations):
        return [NOTHING] * 2
    bounds = without["intervals"]["gap_r"]
    interval = "" if bounds is None else f" {_interval(bounds)}"
    return [number(without["tau_b"]), f"{number(without['gap_r'])}{interval}"]


def _are_enough(correlations: Mapping[str, Any]) -> bool:
    return bool(correlations["n"] >= FEWEST_SYSTEMS)


def _are_shown(correlations: Mapping[str, Any]) -> bool:
    return bool(correlations["n"] >= FEWEST_SHOWN)


def _says_something(correlations: Mapping[str, Any]) -> bool:
    """Whether there are enough systems, some of which people's own scores separate."""
    noise = correlations.get("human_noise")
    return _are_enough(correlations) and (noise is None or noise["separable"] > 0)


def _main_cells(correlations: Mapping[str, Any]) -> list[str]:
    gap_r, bounds = number(correlations["gap_r"]), correlations["intervals"]["gap_r"]
    interval = "" if bounds is None else f" {_interval(bounds)}"
    p = p_value(correlations["p_values"]["gap_r"])
    return [number(correlations["tau_b"]), f"{gap_r}{interval}", p]


def _add_uncertainty(table: "Table", correlations: Mapping[str, Any], prefix: str) -> None:
    for key, (title, show) in _UNCERTAINTY.items():
        values = correlations[prefix + key]
        if any(values[name] is not None for name in _ALL):
            table.add_row(f"  {title}", "", *_cells(values, show))


def _cells(values: Mapping[str, Any], show: Callable[[Any], str]) -> list[str]:
    return [show(values[name]) for name in _ALL]


def extrapolation_tables(agreement: Mapping[str, Any]) -> list["Table"]:
    """Return a table of predicted human scores; an empty list if all models were judged."""
    numbers = ("pass rate, %", "score [95 % prediction interval]", "leave-one-out error")
    titles = ("predicted human score", "model", *numbers, "note")
    table = text_table(titles, right=numbers, prose=[titles[0], "note"])
    reasons: dict[str, list[str]] = {}
    for category, correlations in agreement["by_category"].items():
        extrapolation = correlations["extrapolation"]
        for prediction in extrapolation["predictions"]:
            table.add_row(category, *_prediction(prediction, extrapolation["line"]))
        if agreement["unmatched"] and extrapolation["reason"] is not None:
            reasons.setdefault(extrapolation["reason"], []).append(category)
    for reason, categories in reasons.items():
        table.add_row(", ".join(categories), "", "", NOTHING, "", reason)
    return [table] if table.row_count else []


def equal_length_line(agreement: Mapping[str, Any]) -> list[str]:
    """Return the two main correlations of the rates at equal length over all tests, if known."""
    equal = agreement.get("equal_length", {}).get("overall")
    if equal is None or not _are_enough(equal):
        return []
    tau_b, gap_r, p = _main_cells(equal)
    return [f"at equal tokens, {equal['n']} systems: tau-b {tau_b}, gap r {gap_r}, p {p}"]


def agreement_notes(agreement: Mapping[str, Any]) -> list[str]:
    """Return notes on the systems of the models, on omissions, and on how numbers were computed."""
    systems = agreement["systems"]
    lines = [f"{model} stands for {system}" for model, system in systems.items()]
    lines += [f"{model} is not matched to a judged system" for model in agreement["unmatched"]]
    lines += human_notes(agreement)
    lines += _reasons(agreement)
    lines += _noise_notes(agreement)
    lines.append(f"order of the systems for gap r (laban2022): {', '.join(systems.values())}")
    made = {
        (each["permutations"]["m"], each["permutations"]["method"])
        for each in agreement["by_category"].values()
        if any(p is not None for p in each["p_values"].values())
    }
    for m, method in sorted(made):
        which = f"all {m:,}" if method == "exact" else f"{m:,} random"
        lines.append(f"p is two-sided, from {which} permutations of the human scores")
    if agreement["scores_missing"]:
        lines.append(
            f"rows of human scores without a score, left out: {agreement['scores_missing']:,}"
        )
    if agreement["unscored"] is not None:
        missing = [f"{model} {n:,}" for model, n in agreement["unscored"].items() if n]
        lines.append(f"unscored tests, counted as failures: {', '.join(missing) or 'none'}")
    return lines


def _noise_notes(agreement: Mapping[str, Any]) -> list[str]:
    """Return in which categories a correlation says nothing, because no systems are separable."""
    silent = [
        category
        for category, correlations in agreement["by_category"].items()
        if _are_enough(correlations) and not _says_something(correlations)
    ]
    return [
        f"{category}: people's own scores separate no systems, so a correlation says nothing"
        for category in silent
    ]


def _reasons(agreement: Mapping[str, Any]) -> list[str]:
    """Say which categories have a gap r but no interval over contexts, and why."""
    where: dict[str, list[str]] = {}
    for category, each in agreement["by_category"].items():
        reason = each.get("interval_reasons", {}).get("gap_r")
        if reason is not None and each["gap_r"] is not None and _are_enough(each):
            where.setdefault(reason, []).append(category)
    return [
        f"no interval over contexts, {', '.join(names)}: {reason}"
        for reason, names in where.items()
    ]


def human_notes(agreement: Mapping[str, Any]) -> list[str]:
    """Describe the human scores that each category is correlated with."""
    return [
        f"{category}, human score: {_human_number(correlations['human_numbers'])}"
        for category, correlations in agreement["by_category"].items()
        if correlations["human_numbers"]
    ]


def _human_number(numbers: Sequence[Mapping[str, Any]]) -> str:
    definitions = dict.fromkeys(each["definition"] or "not defined" for each in numbers)
    aspects = ", ".join(dict.fromkeys(each["aspect"] for each in numbers))
    over = f"mean over aspects {aspects}" if len(numbers) > 1 else f"aspect {aspects}"
    return f"{'; '.join(definitions)} ({over})"


def _interval(bounds: Sequence[float] | None) -> str:
    return NOTHING if bounds is None else f"[{bounds[0]:.2f}, {bounds[1]:.2f}]"


def _prediction(prediction: Mapping[str, Any], line: Mapping[str, Any]) -> list[str]:
    bounds, notes = prediction["interval"], []
    if prediction["position"] != "within":
        judged = f"{share(line['lowest'])}-{share(line['highest'])}"
        notes.append(f"extrapolates {prediction['position']} the rates of judged models, {judged}")
    if line["rmse"] is None:
        notes.append("the fit depends on one system: no leave-one-out error")
    elif line["rmse"] >= line["rmse_of_mean"]:
        notes.append("no better than guessing the mean")
    if bounds is None:
        notes.append(f"no interval: {prediction['interval_reason']}")
    return [
        prediction["model"],
        share(prediction["pass_rate"]),
        f"{prediction['score']:.3g}{_in_brackets(bounds)}",
        f"{_short(line['rmse'])} (guessing the mean {_short(line['rmse_of_mean'])})",
        "; ".join(notes),
    ]


def _in_brackets(bounds: Sequence[float] | None) -> str:
    return "" if bounds is None else f" [{bounds[0]:.3g}, {bounds[1]:.3g}]"


def _short(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.3g}"


_UNCERTAINTY: dict[str, tuple[str, Callable[[Any], str]]] = {
    "p_values": ("p by permutation", p_value),
    "intervals": ("95 % over contexts", _interval),
    "intervals_over_systems": ("95 % over systems", _interval),
}
