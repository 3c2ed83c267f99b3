"""A conversion as tables for a terminal and a notebook."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from nnd.cards import contradiction_warning, length_rates
from nnd.schemas import SLICE_TITLES, counted, text_table

if TYPE_CHECKING:
    from rich.table import Table


def pairs_of_contexts(counts: Mapping[str, Any], with_pair: int) -> tuple[str, str]:
    """Return the pairs with their contexts in words, and how many were judged if that is more."""
    judged = counts["contexts"]
    more = f"; {counted(judged, 'context')} were judged" if 0 < with_pair < judged else ""
    return f"{counted(counts['pairs'], 'pair')} of {counted(with_pair or judged, 'context')}", more


def pairs_table(manifest: Mapping[str, Any]) -> "Table":
    """Return the pairs of each error category."""
    table = text_table(("error category", "pairs"), right=["pairs"])
    for value, n in manifest["counts"]["by_error_category"].items():
        table.add_row(value, f"{n:,}")
    return table


def counts_tables(manifest: Mapping[str, Any]) -> list["Table"]:
    """Return the counts of what was read, of pairs by category, and of what was dropped."""
    counts = manifest["counts"]
    table = text_table(("what", "n"), right=["n"])
    for name in ("annotations", "contexts", "candidates", "systems", "pairs", "distinct_pairs"):
        table.add_row(name.replace("_", " "), f"{counts[name]:,}")
    if "references" in manifest["hygiene"]:
        table.add_row("references", f"{manifest['hygiene']['references']['n']:,}")
    seen = [counts["by_error_category"]]
    for column, title in SLICE_TITLES.items():
        own = counts[f"by_{column}"]
        if len(own) > 1 and own not in seen:
            seen.append(own)
            table.add_section()
            for value, n in own.items():
                table.add_row(f"pairs of {title} {value}", f"{n:,}")
    dropped = text_table(("dropped", "why", "n", "because"), right=["n"], prose=["because"])
    for entry in manifest["dropped"]:
        reason = entry["reason"].replace("_", " ")
        dropped.add_row(entry["what"], reason, f"{entry['n']:,}", entry["why"])
    return [table, dropped] if manifest["dropped"] else [table]


_REASONS = {"same_text": "same text; --keep-equal keeps them"}


def count_remarks(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences on what was dropped, and on odd pairs and candidates that were kept."""
    dropped = [
        f"{counted(entry['n'], entry['what'].removesuffix('s'))} "
        f"({_REASONS.get(entry['reason'], entry['reason'].replace('_', ' '))})"
        for entry in manifest["dropped"]
    ]
    if dropped:
        yield f"Dropped: {', '.join(dropped)}."
    counts = manifest["counts"]
    if not counts["pairs"]:
        yield "Every context has one candidate, so the human scores are for `nnd metrics` only."
    if counts["distinct_pairs"] != counts["pairs"]:
        yield (
            f"Distinct (high, low): {counts['distinct_pairs']:,}; the other pairs are of the "
            "same candidates, with another error category, aspect or group."
        )
    yield from contradiction_warning(manifest)
    odd = {
        "equal_pairs": ("pair", " of equal texts (a tie fails)"),
        "same_after_lowercase": ("pair", " whose texts differ in letter case only"),
        "empty_candidates": ("empty candidate", ""),
    }
    kept = [
        f"{counted(counts[name], noun)}{why}" for name, (noun, why) in odd.items() if counts[name]
    ]
    if kept:
        yield f"Kept: {', '.join(kept)}."


def hygiene_tables(report: Mapping[str, Any]) -> list["Table"]:
    """Return what length alone would reach, and any distinctive form of the texts of systems.

    Tests of equal lengths count half.
    """
    columns = ("pairs", "n", "characters, high", "low", "shorter wins", "longer wins", "chance")
    lengths = text_table(columns)
    overall = report["pairs"]["overall"]
    rows = [("overall", overall)] if overall["n"] else []
    if len(report["pairs"]["by_error_category"]) > 1:
        rows += report["pairs"]["by_error_category"].items()
    for name, row in rows:
        rates = length_rates(row["shorter_wins"], row["longer_wins"])
        wins = (_percent(rate) for rate in (rates["shorter"], rates["longer"], row["coin"]))
        means = (f"{row[f'mean_characters_{side}']:.1f}" for side in ("high", "low"))
        lengths.add_row(name, f"{row['n']:,}", *means, *wins)
    looks = ("lower_cased", "tokenised", "doubled_spaces", "control_characters", "wrongly_decoded")
    shown = [*report["systems"].items()]
    shown += [("(references)", report["references"])] if "references" in report else []
    odd = [(name, row) for name, row in shown if any(row[key] for key in looks)]
    broken = report["contexts"]["wrongly_decoded"]
    if not odd and not broken:
        return [lengths]
    table = text_table(("candidates of", "n", *(key.replace("_", " ") for key in looks)))
    for name, row in odd:
        table.add_row(name, f"{row['n']:,}", *(_percent(row[key]) for key in looks))
    if broken:
        blank = [""] * (len(looks) - 1)
        table.add_row("(all contexts)", f"{report['contexts']['n']:,}", *blank, _percent(broken))
    return [lengths, table]


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
