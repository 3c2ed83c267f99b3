"""A conversion as tables for a terminal and a notebook."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nnd.schemas import text_table

if TYPE_CHECKING:
    from rich.table import Table

_TITLES = {
    "by_error_category": "error category",
    "by_error_group": "error group",
    "by_aspect": "aspect",
    "by_category": "context category",
    "by_split": "split",
}


def counts_table(manifest: Mapping[str, Any]) -> "Table":
    """What a conversion gave, and what it dropped."""
    counts = manifest["counts"]
    table = text_table(("what", "n", "note"), right=["n"])
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


def hygiene_tables(report: Mapping[str, Any]) -> list["Table"]:
    """What texts look like, for systems where anything does, and what length alone would reach."""
    columns = ("pairs", "n", "characters, high", "low", "shorter wins", "longer wins", "coin")
    lengths = text_table(columns)
    rows = {"overall": report["pairs"]["overall"]}
    if len(report["pairs"]["by_error_category"]) > 1:
        rows |= report["pairs"]["by_error_category"]
    for name, found in rows.items():
        wins = (_percent(found[rule]) for rule in ("shorter_wins", "longer_wins", "coin"))
        means = (f"{found[f'mean_characters_{side}']:.1f}" for side in ("high", "low"))
        lengths.add_row(name, f"{found['n']:,}", *means, *wins)
    looks = ("lower_cased", "tokenised", "doubled_spaces", "control_characters", "wrongly_decoded")
    odd = {name: row for name, row in report["systems"].items() if any(row[key] for key in looks)}
    broken = report["contexts"]["wrongly_decoded"]
    if not odd and not broken:
        return [lengths]
    table = text_table(("candidates of", "n", *(key.replace("_", " ") for key in looks)))
    for name, row in odd.items():
        table.add_row(name, f"{row['n']:,}", *(_percent(row[key]) for key in looks))
    if broken:
        blank = [""] * (len(looks) - 1)
        table.add_row("(all contexts)", f"{report['contexts']['n']:,}", *blank, _percent(broken))
    return [lengths, table]


def _pair_notes(counts: Mapping[str, Any]) -> str:
    notes = []
    if counts["distinct_pairs"] != counts["pairs"]:
        notes.append(f"{counts['distinct_pairs']:,} distinct (high, low)")
    if counts["equal_pairs"]:
        notes.append(f"{counts['equal_pairs']:,} of equal texts, kept")
    if counts["same_after_lowercase"]:
        notes.append(f"{counts['same_after_lowercase']:,} differ in letter case only, kept")
    if counts["empty_candidates"]:
        notes.append(f"{counts['empty_candidates']:,} empty candidates, kept")
    return "; ".join(notes)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
