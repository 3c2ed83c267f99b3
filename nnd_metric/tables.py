"""Results as tables for a terminal."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich import box
from rich.table import Table

_STATISTICS = {
    "tau_b": "tau-b",
    "tau_a": "tau-a",
    "spearman": "Spearman",
    "gap_r": "gap r = Pearson r",
    "gap_r_laban2022": "gap r (laban2022)",
}

_NOTHING = "n/a"

_TITLES = {
    "by_error_category": "error category",
    "by_error_group": "error group",
    "by_aspect": "aspect",
    "by_category": "context category",
    "by_split": "split",
}


def sources_table(sources: Iterable[Mapping[str, Any]]) -> Table:
    """One row per source: what it is, its licence, and what it gives."""
    table = _table("source", "task", "language", "licence", "rule")
    table.add_column("pairs", justify="right")
    table.add_column("variants")
    for facts in sources:
        table.add_row(
            f"{facts['name']} --set {facts['set']}" if facts.get("set") else facts["name"],
            facts["task"],
            ", ".join(facts["languages"]),
            facts["licence"],
            facts["quality"]["rule"],
            _NOTHING if facts["expected"] is None else f"{facts['expected']['pairs']:,}",
            ", ".join(facts.get("variants", {})),
        )
    return table


def counts_table(manifest: Mapping[str, Any]) -> Table:
    """What a conversion gave, and what it dropped."""
    counts = manifest["counts"]
    table = _table("what")
    table.add_column("n", justify="right")
    table.add_column("note")
    for name in ("annotations", "contexts", "candidates", "systems"):
        table.add_row(name, f"{counts[name]:,}")
    table.add_row("pairs", f"{counts['pairs']:,}", _pair_notes(counts), style="bold")
    for key, title in _TITLES.items():
        if len(counts[key]) > 1:
            for value, n in counts[key].items():
                table.add_row(f"  {title}: {value}", f"{n:,}")
    for entry in manifest["dropped"]:
        name = f"dropped: {entry['what']}, {entry['reason'].replace('_', ' ')}"
        table.add_row(name, f"{entry['n']:,}", entry["why"])
    return table


def hygiene_tables(report: Mapping[str, Any]) -> list[Table]:
    """What texts look like, for systems where anything does, and what length alone would reach."""
    lengths = _table("pairs", "n", "characters, high", "low", "shorter wins", "longer wins", "coin")
    rows = {"overall": report["pairs"]["overall"]}
    if len(report["pairs"]["by_error_category"]) > 1:
        rows |= report["pairs"]["by_error_category"]
    for name, found in rows.items():
        wins = (_percent(found[rule]) for rule in ("shorter_wins", "longer_wins", "coin"))
        means = (f"{found[f'mean_characters_{side}']:.1f}" for side in ("high", "low"))
        lengths.add_row(name, f"{found['n']:,}", *means, *wins)
    looks = ("lower_cased", "tokenised", "doubled_spaces", "control_characters")
    odd = {name: row for name, row in report["systems"].items() if any(row[key] for key in looks)}
    if not odd:
        return [lengths]
    table = _table("candidates of", "n", *(key.replace("_", " ") for key in looks))
    for name, row in odd.items():
        table.add_row(name, f"{row['n']:,}", *(_percent(row[key]) for key in looks))
    return [lengths, table]


def _pair_notes(counts: Mapping[str, Any]) -> str:
    notes = []
    if counts["distinct_pairs"] != counts["pairs"]:
        notes.append(f"{counts['distinct_pairs']:,} distinct (high, low)")
    if counts["same_after_lowercase"]:
        notes.append(f"{counts['same_after_lowercase']:,} differ in letter case only, kept")
    if counts["empty_candidates"]:
        notes.append(f"{counts['empty_candidates']:,} empty candidates, kept")
    return "; ".join(notes)


def pass_rate_table(results: Sequence[Mapping[str, Any]]) -> Table:
    """Pass rates in percent with their 95 % intervals: a row per slice, a column per model."""
    table = _table("pass rate, % [95 % interval]")
    table.add_column("n", justify="right")
    for result in results:
        table.add_column(result["model"], justify="right", overflow="fold")
    table.add_row("overall", _n(results[0]), *map(_rate, results), style="bold")
    for key, title in _TITLES.items():
        first = results[0].get(key, {})
        if len(first) > 1:
            table.add_section()
            for value in first:
                cells = [result[key][value] for result in results]
                table.add_row(f"{title}: {value}", _n(cells[0]), *map(_rate, cells))
    table.add_section()
    for name in ("ties", "unscored", "truncated"):
        table.add_row(name, "", *(f"{result[name]:,}" for result in results))
    return table


def agreement_table(agreement: Mapping[str, Any]) -> Table:
    """Agreement with human scores: a row per category, the mean at the foot."""
    table = _table("agreement with people [95 % interval]", "systems")
    for title in _STATISTICS.values():
        table.add_column(title, justify="right")
    for category, found in agreement["by_category"].items():
        dropped = f" (dropped {found['dropped']})" if found["dropped"] else ""
        cells = [_statistic(found[name], found["intervals"][name]) for name in _STATISTICS]
        table.add_row(category, f"{found['n']}{dropped}", *cells)
    table.add_section()
    mean, intervals = agreement["mean"], agreement["mean_intervals"]
    cells = [_statistic(mean[name], intervals[name]) for name in _STATISTICS]
    table.add_row("mean over categories", "", *cells, style="bold")
    return table


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
    shown = f"{100 * rate['pass_rate']:.1f}"
    if rate["interval"] is None:
        return shown
    low, high = rate["interval"]
    return f"{shown} [{100 * low:.1f}, {100 * high:.1f}]"


def _statistic(value: float | None, interval: Sequence[float] | None) -> str:
    if value is None:
        return _NOTHING
    shown = f"{value:.3f}"
    return shown if interval is None else f"{shown}\n[{interval[0]:.2f}, {interval[1]:.2f}]"
