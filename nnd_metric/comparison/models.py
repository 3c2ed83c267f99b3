"""Two models on the same pairs: which is better, where, and whether the difference is significant.

Everything comes from stored runs; nothing is scored again.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import polars as pl

from nnd.metric.comparison.differences import find_differences
from nnd.metric.comparison.outcome import Comparison, Comparisons
from nnd.metric.comparison.sentences import few_contexts, findings, left_out
from nnd.metric.results import (
    SLICES,
    check_rules,
    check_same,
    read_run,
    read_signatures,
    scoring_rule,
)
from nnd.schemas import ScoringError, did_you_mean


class Entry(NamedTuple):
    """One model in one run.

    Attributes:
        label: The model's name; FOLDER:NAME where several runs have it.
        model: Its name.
        rows: Its scored pairs.
        signature: How they were scored, or None where the run does not say.
    """

    label: str
    model: str
    rows: pl.DataFrame
    signature: str | None


def compare(
    runs: str | Path | Sequence[str | Path],
    *,
    models: Sequence[str] | None = None,
    mixed_rules: bool = False,
) -> Comparisons:
    """Compare models of stored runs, each with each, on the pairs that both were scored on.

    p-values are adjusted over the categories of one comparison, not over several comparisons.

    Args:
        runs: Folders that `nnd evaluate` wrote.
        models: Which to compare, by name or label; None means all.
        mixed_rules: Whether to compare models that versions of the metric scored by different rules
            (see `scoring_rules`).

    Raises:
        ScoringError: If a run cannot be read, there are fewer than two models, a model is not there
            or stands in several runs, two runs share no pair or contradict each other, or models
            were scored by different rules.
    """
    folders = [Path(run) for run in ([runs] if isinstance(runs, str | Path) else runs)]
    chosen = _choose(_entries(folders), models)
    if not mixed_rules:
        check_rules({entry.label: entry.signature for entry in chosen})
    return Comparisons(tuple(compare_entries(a, b) for a, b in combinations(chosen, 2)))


def compare_entries(a: Entry, b: Entry) -> Comparison:
    """Compare two models on the pairs that both were scored on, matched by pair_id.

    Args:
        a: The first model.
        b: The second.

    Raises:
        ScoringError: If they share no pair, or one pair_id stands for different pairs.
    """
    both = _match(a, b)
    values = {
        column: sorted({*a.rows[column].drop_nulls(), *b.rows[column].drop_nulls()})
        for column in SLICES
    }
    differences = find_differences(both, values)
    only_in_a, only_in_b = a.rows.height - both.height, b.rows.height - both.height
    mixed = tuple(_mixed_rules(a, b))
    unscored = differences.overall.unscored
    lacking = (
        *few_contexts(differences.overall),
        *left_out(a.label, b.label, unscored, only_in_a, only_in_b),
    )
    return Comparison(
        a=a.label,
        b=b.label,
        signature_a=a.signature,
        signature_b=b.signature,
        n_pairs=both.height,
        only_in_a=only_in_a,
        only_in_b=only_in_b,
        differences=differences,
        cautions=(*mixed, *lacking),
        sentences=(*mixed, *findings(a.label, b.label, differences), *lacking),
    )


def _mixed_rules(a: Entry, b: Entry) -> Iterator[str]:
    rules = scoring_rule(a.signature), scoring_rule(b.signature)
    if None not in rules and rules[0] != rules[1]:
        yield (
            f"{a.label} and {b.label} were scored by different rules, {rules[0]} and {rules[1]}: "
            "part of their difference may be the rules'"
        )


def _entries(folders: Sequence[Path]) -> list[Entry]:
    """Return every model of every run, labelled so that no two share a label."""
    repeated = [folder for folder in folders if folders.count(folder) > 1]
    if repeated:
        raise ScoringError(f"{repeated[0]}: is named twice; name each run once")
    found: list[tuple[Path, Entry]] = []
    for folder in folders:
        if not folder.is_dir():
            raise ScoringError(f"{folder}: is no folder; name folders that `nnd evaluate` wrote")
        rows, signatures = read_run(folder), read_signatures(folder)
        for name in rows["model"].unique(maintain_order=True):
            own = rows.filter(pl.col("model") == name)
            found.append((folder, Entry(name, name, own, signatures.get(name))))
    names = [entry.model for _, entry in found]
    return [
        entry._replace(label=f"{folder}:{entry.model}") if names.count(entry.model) > 1 else entry
        for folder, entry in found
    ]


def _choose(entries: Sequence[Entry], models: Sequence[str] | None) -> list[Entry]:
    chosen = list(entries) if models is None else [_find(entries, name) for name in models]
    labels = [entry.label for entry in chosen]
    twice = [label for label in labels if labels.count(label) > 1]
    if twice:
        raise ScoringError(f'model "{twice[0]}" is named twice; name two different ones')
    if len(chosen) < 2:  # noqa: PLR2004 - a comparison takes two
        raise ScoringError(
            f"there is nothing to compare: {', '.join(labels) or 'no model'} alone; name a second "
            "run, or two models of one (--model)"
        )
    return chosen


def _find(entries: Sequence[Entry], name: str) -> Entry:
    labels = [entry.label for entry in entries]
    found = [entry for entry in entries if name == entry.label]
    found = found or [entry for entry in entries if name == entry.model]
    if not found:
        raise ScoringError(
            f'there is no model "{name}" in these runs{did_you_mean(name, labels)}; known: '
            f"{', '.join(labels)}"
        )
    if len(found) > 1:
        told = " or ".join(entry.label for entry in found)
        raise ScoringError(f'model "{name}" stands in several runs; name it {told}')
    return found[0]


def _match(a: Entry, b: Entry) -> pl.DataFrame:
    """Return the pairs that both were scored on, with the verdicts of both."""
    key = ["pair_id", "occurrence"]
    rows_a, rows_b = (_occurrences(entry.rows) for entry in (a, b))
    both = rows_a.join(rows_b, on=key, suffix="_b", maintain_order="left")
    if both.is_empty():
        raise ScoringError(
            f'"{a.label}" and "{b.label}" share no pair{_data_of(a, b)}; evaluate both on the same '
            "data"
        )
    check_same(both, a.label, b.label, where=_data_of(a, b))
    lacking = [pl.col(f"ll_{side}{of}").is_null() for side in ("high", "low") for of in ("", "_b")]
    return both.with_columns(
        passed_a="passed", passed_b="passed_b", unscored=pl.any_horizontal(lacking)
    )


def _occurrences(rows: pl.DataFrame) -> pl.DataFrame:
    """Number the rows of one pair_id, of which there are several where data has a pair twice."""
    return rows.with_columns(occurrence=pl.int_range(pl.len()).over("pair_id"))


def _data_of(a: Entry, b: Entry) -> str:
    named = list(_data_names(a, b))
    return f" (data {named[0]} and {named[1]})" if len(named) == 2 else ""  # noqa: PLR2004


def _data_names(*entries: Entry) -> Iterator[str]:
    for entry in entries:
        for part in (entry.signature or "").split("|"):
            if part.startswith("data:"):
                yield part.removeprefix("data:")
                break
