"""Compare models on the same pairs: which is better, where, and is the difference significant?

Everything comes from stored runs; no model is run.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations
from pathlib import Path
from typing import Literal, overload

import polars as pl

from nnd.metric.data import (
    SAME,
    SLICES,
    check_same,
    describe_splits,
    missing_clusters,
    scored_splits,
    splits_in,
)
from nnd.metric.numbers.comparison.by_origin import compare_origins
from nnd.metric.numbers.comparison.comparison import Comparison, Comparisons
from nnd.metric.numbers.comparison.model_differences import find_differences
from nnd.metric.numbers.comparison.sentences import findings, left_out
from nnd.metric.numbers.comparison.stored_models import (
    Entry,
    by_dataset,
    check_known,
    read_entries,
    with_protocols,
)
from nnd.metric.numbers.comparison.validity import Validity
from nnd.metric.numbers.manners.manner import (
    describe_mixture,
    describe_others,
    is_tested,
    version_rules,
)
from nnd.metric.numbers.rates.context_sums import number_occurrences
from nnd.metric.numbers.rates.equal_length import LENGTHS, add_lengths
from nnd.schemas import ScoringError


@overload
def compare(
    runs: str | Path | Sequence[str | Path],
    *,
    models: Sequence[str] | None = None,
    splits: Sequence[str] = (),
    mixed_rules: bool = False,
) -> Comparisons: ...
@overload
def compare(
    runs: str | Path | Sequence[str | Path],
    *,
    models: Sequence[str] | None = None,
    by: Literal["origin"] | None,
    match: Mapping[str, Sequence[str]] | None = None,
    splits: Sequence[str] = (),
    mixed_rules: bool = False,
    out: str | Path | None = None,
) -> Comparisons | Validity: ...
def compare(
    runs: str | Path | Sequence[str | Path],
    *,
    models: Sequence[str] | None = None,
    by: Literal["origin"] | None = None,
    match: Mapping[str, Sequence[str]] | None = None,
    splits: Sequence[str] = (),
    mixed_rules: bool = False,
    out: str | Path | None = None,
) -> Comparisons | Validity:
    """Compare models on the pairs that they share.

    No model is run. Runs that share pairs belong to one dataset; models are compared within it, and
    the mean gives datasets equal weight. p-values are adjusted over the categories of one
    comparison, not over several comparisons.

    Args:
        runs: Folders that `nnd evaluate` wrote.
        models: Model to compare, by name, or FOLDER:NAME if several runs have it. None means every
            pair of models of all runs.
        by: origin: compare each model's pass rates on made pairs (negatives) and on human pairs, to
            show how well the former represent the latter. None means compare models with each
            other.
        match: By origin: an error category that an operation imitates. None means all human pairs.
            In Python, operation → error categories.
        splits: Only pairs of these splits of the data. Empty means all that were scored.
        mixed_rules: Whether to also take models that were scored by different protocols, or by
            different rules of different nnd versions. Across protocols there are no p-values and no
            agreement, except for one and the same model.
        out: By origin: folder for validity.json; in the folder of the suite, its card shows it.

    Raises:
        NNDError: If `out` holds a file of that name that nnd did not write.
        ScoringError: If a run cannot be read, there are fewer than two models, a model is unknown
            or in several runs, two runs share no pair or contradict each other, models were scored
            by different rules, or, with `by`, no run has made pairs.

    Examples:
        nnd compare run --model gpt2 --model gpt2-large
        nnd compare run bump-run --by origin --match "swap_speakers=Wrong Reference"
        nnd compare run --by origin --out suite
    """
    folders = [Path(run) for run in ([runs] if isinstance(runs, str | Path) else runs)]
    if by is not None:
        validity = compare_origins(
            folders, models=models, match=match or {}, splits=splits, mixed_rules=mixed_rules
        )
        if out is not None:
            validity.write(out)
        return validity
    for option, value in (("--match", match), ("--out", out)):
        if value:
            raise ScoringError(
                "option.needs-another",
                f"{option} needs --by origin",
                remedy=f"add it, or leave out {option}",
            )
    chosen = _choose(by_dataset(read_entries(folders, splits)), models)
    chosen = with_protocols(chosen, mixed_rules=mixed_rules)
    comparisons: list[Comparison] = []
    for name, entries in chosen.items():
        unlike = describe_others({entry.label: entry.manner for entry in entries})
        comparisons += [
            replace(compare_entries(a, b, unlike, splits), data=name if len(chosen) > 1 else None)
            for a, b in combinations(entries, 2)
        ]
    return Comparisons(tuple(comparisons))


def compare_entries(
    a: Entry, b: Entry, unlike: str | None = None, chosen: Sequence[str] = ()
) -> Comparison:
    """Compare two models on the pairs that both were scored on, matched by pair_id.

    Raises ScoringError if they share no pair, or if one pair_id stands for different pairs.
    `unlike` is a sentence on what differs between models, for those that differ; `chosen` are the
    splits that were chosen of the stored ones, or none.
    """
    both = _match(a, b)
    values = {
        column: sorted({*chain(*(each.rows[column].drop_nulls().unique() for each in (a, b)))})
        for column in SLICES
    }
    overall, by = find_differences(both, values, tested=is_tested(a.manner, b.manner))
    cluster = a.cluster or b.cluster
    only_in_first, only_in_second = (each.rows.height - both.height for each in (a, b))
    mixed = tuple(_unlike(a, b, unlike))
    folders = [each.folder for each in (a, b) if each.folder is not None]
    unknown = missing_clusters(folders, both, takes_data=False) if folders else None
    rows = pl.concat([a.rows.select("split"), b.rows.select("split")])
    is_of_several = scored_splits(rows, (a.signature, b.signature), chosen)
    splits = tuple(splits_in(both)) if is_of_several else ()
    lacking = [*left_out(a.label, b.label, overall, only_in_first, only_in_second, cluster=cluster)]
    lacking += [f"{unknown}."] if unknown else []
    if splits and only_in_first + only_in_second:
        lacking.append(f"Compared on {describe_splits(splits)}.")
    return Comparison(
        first=a.label,
        second=b.label,
        signature_first=a.signature,
        signature_second=b.signature,
        n_pairs=both.height,
        only_in_first=only_in_first,
        only_in_second=only_in_second,
        splits=splits,
        cluster=cluster,
        overall=overall,
        by=by,
        sentences=(*mixed, *findings(a.label, b.label, overall, by, cluster), *lacking),
        cautions=(*mixed, *lacking),
    )


def _unlike(a: Entry, b: Entry, unlike: str | None) -> Iterator[str]:
    if not is_tested(a.manner, b.manner):
        yield str(describe_mixture((a.manner, b.manner)))
    rules = version_rules(a.manner, b.manner)
    if rules is not None:
        yield (
            f"{a.label} and {b.label} were scored by different rules, {rules[0]} and {rules[1]}, "
            "which may cause a part of their difference"
        )
    if unlike is not None and a.manner.others != b.manner.others:
        yield unlike


def _choose(
    datasets: Mapping[str, Sequence[Entry]], models: Sequence[str] | None
) -> dict[str, list[Entry]]:
    """Return dataset → the models to compare on it; a model may be on some datasets only."""
    check_known(models, [*chain(*datasets.values())])
    by_data = {
        dataset: [*entries] if models is None else _find(entries, models)
        for dataset, entries in datasets.items()
    }
    paired = {dataset: entries for dataset, entries in by_data.items() if len(entries) > 1}
    alone = [entries[0] for entries in by_data.values() if len(entries) == 1]
    if paired and (models is not None or not alone):
        return paired
    others = [entry for entries in by_data.values() for entry in entries if entry is not alone[0]]
    if others:
        raise _no_shared_pair(alone[0], others[0])
    raise ScoringError(
        "run.too-few-models",
        "a comparison needs two models, but "
        f"{(f'only {alone[0].label}' if alone else 'none')} was found",
        remedy="name a second run, or two models of one (--model)",
    )


def _find(entries: Sequence[Entry], models: Sequence[str]) -> list[Entry]:
    chosen: list[Entry] = []
    for name in models:
        named = [entry for entry in entries if name == entry.label]
        named = named or [entry for entry in entries if name == entry.model]
        if len(named) > 1:
            choices = " or ".join(entry.label for entry in named)
            raise ScoringError(
                "name.twice", f'model "{name}" is in several runs', remedy=f"name it {choices}"
            )
        chosen += named
    labels = [entry.label for entry in chosen]
    twice = [label for label in labels if labels.count(label) > 1]
    if twice:
        raise ScoringError(
            "name.twice", f'model "{twice[0]}" is named twice', remedy="name two different ones"
        )
    return chosen


def _match(a: Entry, b: Entry) -> pl.DataFrame:
    key = ["pair_id", "occurrence"]
    rows_a, rows_b = (_compared(entry.rows) for entry in (a, b))
    if rows_a.select(key).equals(rows_b.select(key)):
        both = rows_a.hstack(rows_b.drop(key).rename(lambda column: f"{column}_b"))
    else:
        both = rows_a.join(rows_b, on=key, suffix="_b", maintain_order="left")
    if both.is_empty():
        raise _no_shared_pair(a, b)
    check_same(both, a.label, b.label, where=_data_of(a, b))
    of_both = {
        f"{name}_{side}": f"{name}{end}"
        for name in ("passed", *LENGTHS)
        for side, end in (("first", ""), ("second", "_b"))
    }
    of_either = {name: pl.col(name) | pl.col(f"{name}_b") for name in ("unscored", "same_tokens")}
    cluster = pl.coalesce("cluster", "cluster_b")  # runs of older versions have none
    return both.with_columns(cluster, **of_both, **of_either)


def _compared(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the columns to compare; rows of a repeated pair are numbered."""
    return add_lengths(rows).select(
        *("pair_id", "cluster", *SAME, "passed", "same_tokens", *LENGTHS),
        unscored=pl.col("ll_high").is_null() | pl.col("ll_low").is_null(),
        occurrence=number_occurrences(rows, "pair_id"),
    )


def _no_shared_pair(a: Entry, b: Entry) -> ScoringError:
    if a.label == b.label:
        a, b = (each._replace(label=f"{each.folder}:{each.model}") for each in (a, b))
    return ScoringError(
        "run.another-data", f'"{a.label}" and "{b.label}" share no pair{_data_of(a, b)}'
    )


def _data_of(a: Entry, b: Entry) -> str:
    return f" (data {a.data} and {b.data})" if a.data and b.data else ""
