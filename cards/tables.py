"""The tables of a card, each a pure function of a folder; the linter checks the same tables."""

from collections.abc import Iterator, Mapping
from typing import Any

from nnd.cards.asked import ASKED, instruction_table
from nnd.cards.content import CardContent, counts, tally
from nnd.cards.examples import example_tables
from nnd.cards.markdown import Table, code, escape, prose
from nnd.cards.sentences import length_rates
from nnd.cards.systems import human_score_table, looks_table
from nnd.cards.validity import MADE_PAIRS, validity_tables
from nnd.schemas import SLICE_TITLES, counts_in_words

SUITE = "Sets of the suite"
"""Title of a section that only the card of a suite has."""

_SET_COUNTS = ("pairs", "parents", "contexts", "changed", "unchanged", "rejected", "dropped")
_MEASURED = {
    "candidates": ("candidates", ","),
    "mean_characters": ("characters, mean", ".1f"),
    "tokenised": ("candidates whose tokens are counted", ","),
    "mean_tokens": ("tokens, mean", ".1f"),
    "distinct_1": ("distinct-1", ".3f"),
    "distinct_2": ("distinct-2", ".3f"),
    "msttr": ("MSTTR-100", ".3f"),
}


def card_tables(content: CardContent) -> dict[str, list[Table]]:
    """Return section of a card → its tables that have rows."""
    aspects = [(code(name), prose(asked)) for name, asked in content.source["aspects"].items()]
    dropped = [
        (f"{entry['n']:,} {escape(entry['what'])}", prose(entry["why"]))
        for entry in content.manifest["dropped"]
    ]
    tables = {
        ASKED: [instruction_table(content)],
        "How people judged": [Table(("aspect", "what was asked"), "ll", aspects)],
        "From judgements to tests": [_taxonomy_table(content)],
        "Examples": example_tables(content),
        "Counts": [*_count_tables(content)],
        "What was dropped and what is odd": [Table(("what", "why"), "ll", dropped)],
        "Human scores of the systems": [human_score_table(content)],
        "What the texts are like": [_texts_table(content)],
        "What the texts give away": [_length_table(content), looks_table(content)],
        "Published counts": [_published_table(content)],
        "Provenance": [_file_table(content)],
    }
    if content.sets:
        tables[SUITE] = [_sets_table(content.manifest)]
    if content.validity is not None:
        tables[MADE_PAIRS] = validity_tables(content.validity)
    return {name: [table for table in some if table.rows] for name, some in tables.items()}


def _taxonomy_table(content: CardContent) -> Table:
    labels = set(content.pairs["error_category"])
    entries = {k: entry for k, entry in content.source["taxonomy"].items() if k in labels}
    columns = 3 if any(entry["group"] for entry in entries.values()) else 2
    rows = []
    for label, entry in entries.items():
        meaning = f"**{escape(entry['name'])}.** {prose(entry['description'])}"
        rows.append((code(label), meaning, escape(entry["group"] or ""))[:columns])
    return Table(("label", "meaning", "group")[:columns], "l" * columns, rows)


def _count_tables(content: CardContent) -> Iterator[Table]:
    """Yield the total counts, and the pairs by error category, aspect and the like."""
    n_of = counts(content)
    if n_of["distinct pairs of candidates"] == n_of["pairs"]:
        del n_of["distinct pairs of candidates"]
    yield Table(("what", "n"), "lr", [(name, f"{n:,}") for name, n in n_of.items() if n])
    for column, title in SLICE_TITLES.items():
        tallied = tally(content.pairs, column)
        if len(tallied) > 1 or column == "error_category":
            yield Table((title, "pairs"), "lr", [(code(value), f"{n:,}") for value, n in tallied])


def _sets_table(manifest: Mapping[str, Any]) -> Table:
    """Return each set of a suite: how it was made, its counts, and remarks."""
    rows = []
    for entry in manifest["sets"]:
        chosen = {name: value for name, value in entry["parameters"].items() if value is not None}
        if (entry["variants"] or 1) > 1:
            chosen["variants"] = entry["variants"]
        parameters = ", ".join(f"{escape(name)} {code(str(of))}" for name, of in chosen.items())
        made_by = f"{escape(entry['kind'])}, {code(entry['operation'])}"
        why = entry.get("refusals") and f"Rejected: {counts_in_words(entry['refusals'])}."
        rows.append(
            (
                code(entry["name"]),
                f"{made_by} ({parameters})" if parameters else made_by,
                *("" if entry[name] is None else f"{entry[name]:,}" for name in _SET_COUNTS),
                "" if entry["seed"] is None else str(entry["seed"]),
                prose(" ".join(filter(None, (entry["note"], why)))),
            )
        )
    header = ("set", "what it is", *_SET_COUNTS, "seed", "remarks")
    return Table(header, "ll" + "r" * (len(_SET_COUNTS) + 1) + "l", rows)


def _texts_table(content: CardContent) -> Table:
    report = content.manifest["hygiene"].get("texts")
    rows = []
    for name, (title, form) in _MEASURED.items() if report and len(content.pairs) else ():
        values = (report["high"][name], report["low"][name])
        rows.append((title, *("none" if v is None else format(v, form) for v in values)))
    return Table(("measure", "high", "low"), "lrr", rows)


def _length_table(content: CardContent) -> Table:
    """Return the pass rates of choosing by length alone, on human pairs and on negatives."""
    report = content.manifest["hygiene"]["pairs"]
    by_category = report["by_error_category"]
    lengths = {"all": report["overall"]}
    lengths |= {code(n): of for n, of in by_category.items()} if len(by_category) > 1 else {}
    sets = content.manifest.get("sets", ())
    lengths |= {f"set {code(e['name'])}": e["lengths"] for e in sets if e.get("lengths")}
    rows = []
    for name, of in lengths.items() if not content.pairs.is_empty() else ():
        cells = ["none"] * 4
        if of["n"]:
            rates = length_rates(of["shorter_wins"], of["longer_wins"]).values()
            means = (of["mean_characters_high"], of["mean_characters_low"])
            cells = [*(f"{mean:.0f}" for mean in means), *(f"{100 * r:.1f} %" for r in rates)]
        rows.append((name, f"{of['n']:,}", *cells))
    header = ("pairs", "n", "length of high", "length of low", "longer wins", "shorter wins")
    return Table(header, "lrrrrr", rows)


def _published_table(content: CardContent) -> Table:
    rows = []
    for entry in content.source.get("published_counts", ()):
        here = content.pairs.filter(**entry.get("where", {})).height
        why = "none" if here == entry["published"] else _difference(content, entry)
        rows.append((prose(entry["what"]), f"{entry['published']:,}", f"{here:,}", why))
    return Table(("what", "published", "here", "difference"), "lrrl", rows)


def _difference(content: CardContent, entry: Mapping[str, Any]) -> str:
    manifest = content.manifest
    if not content.declared:
        return "the files that were read are not the declared ones"
    if any("version" in file for file in manifest["files"]):
        return "another version of the files was read"
    if "why" not in entry and manifest.get("keep_equal"):
        return "pairs of equal texts are counted here"
    if "why" not in entry and (manifest["normalised"] or "redacted" in content.contacts):
        return "texts were changed, and pairs of the same text dropped"
    return prose(entry.get("why", "unknown"))


def _file_table(content: CardContent) -> Table:
    rows = []
    for file in content.manifest["files"]:
        which = "the declared file" if file["verified"] else "not verified"
        if "version" in file:
            which = f"a declared version ({escape(file['version'])})"
        named = f"{escape(file['name'])}, {file['bytes']:,} bytes, {which}"
        rows.append((named, code(file["sha256"])))
    return Table(("file", "SHA-256"), "ll", rows)
