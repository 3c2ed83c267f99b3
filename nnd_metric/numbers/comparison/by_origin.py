"""Compute the validity of made pairs from stored runs: pass rates by the origin of pairs."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from nnd.metric.data import missing_clusters, read_sets
from nnd.metric.numbers.comparison.stored_models import Entry, by_dataset, check_known, read_entries
from nnd.metric.numbers.comparison.validity import (
    HumanPairs,
    ModelValidity,
    OperationValidity,
    People,
    Validity,
)
from nnd.metric.numbers.manners.manner import check_manners, describe_mixture, name_protocol
from nnd.metric.numbers.rates.cluster_words import few_clusters, levels_in
from nnd.metric.numbers.rates.context_sums import CLUSTER, NUMBERED, each_once
from nnd.metric.numbers.rates.pass_rates import rate_of, to_rate
from nnd.metric.numbers.rates.rate_differences import compare_sets
from nnd.metric.numbers.statistics.correlations import STATISTICS
from nnd.schemas import ScoringError, did_you_mean, pairs_digest

_MADE = "synthetic:"
_ORIGINS: tuple[People, ...] = ("human", "constructed")


def compare_origins(
    runs: Sequence[Path],
    *,
    models: Sequence[str] | None = None,
    match: Mapping[str, Sequence[str]],
    splits: Sequence[str] = (),
    mixed_rules: bool = False,
) -> Validity:
    """Compare the pass rates of models on made and on human pairs.

    At least one of the runs is on a suite with negatives, and any are on other data with human
    pairs. Without `models`, all that were run on made pairs are compared. `match` gives operation →
    error categories of the human pairs; an operation without an entry is compared with all of them.
    """
    all_entries = read_entries(runs, splits)
    check_known(models, all_entries)
    entries = [entry for entry in all_entries if models is None or entry.model in models]
    if not mixed_rules:
        check_manners([(each.folder, each.model, each.manner) for each in entries])
    mixture = describe_mixture(each.manner for each in entries)
    by_model = _rows_by_model(entries, named=mixture is not None)
    made = pl.concat([rows.filter(_is_made()) for rows in by_model.values()])
    if made.is_empty():
        raise ScoringError(
            "run.no-made-pairs",
            "these runs have no made pairs",
            ", ".join(map(str, runs)),
            "derive negatives (nnd derive DATA --negatives preferred), and evaluate the suite",
        )
    operations = made["error_category"].unique().sort().to_list()
    _check_match(match, operations, by_model)
    return Validity(
        tuple(
            _compare_operation(each, tuple(match.get(each, ())), by_model, ranked=mixture is None)
            for each in operations
        ),
        cautions=(
            *([] if mixture is None else [mixture]),
            *_cautions(by_model),
            *_cluster_cautions(entries),
        ),
        signatures=tuple(dict.fromkeys(each.signature for each in entries if each.signature)),
    )


def _is_made() -> pl.Expr:
    """Whether a pair is a negative: its error category is the operation that made it."""
    return pl.col("origin") == _MADE + pl.col("error_category")


def _rows_by_model(entries: Sequence[Entry], *, named: bool) -> dict[str, pl.DataFrame]:
    """Return model, named with its protocol if asked, → its scored pairs, negatives included."""
    frames_by_model: dict[str, list[pl.DataFrame]] = {}
    for dataset, of_dataset in by_dataset(entries).items():
        for entry in of_dataset:
            if entry.label != entry.model:
                raise ScoringError(
                    "name.twice",
                    f'model "{entry.model}" is in several runs of {dataset}',
                    remedy="name one of them",
                )
            sets = read_sets(entry.folder) if entry.folder else entry.rows.clear()
            own = sets.filter((pl.col("model") == entry.model) & _is_made())
            own = _as_their_parents(own, entry.rows)
            rows = pl.concat([entry.rows, own.select(entry.rows.columns)])
            model = name_protocol(entry.model, entry.manner) if named else entry.model
            frames_by_model.setdefault(model, []).append(
                rows.with_columns(  # contexts of two datasets may share an id
                    CLUSTER[1].alias("cluster"),
                    split=pl.format("{} {}", pl.lit(dataset), "split"),
                )
            )
    return {model: pl.concat(frames) for model, frames in frames_by_model.items()}


def _as_their_parents(made: pl.DataFrame, people: pl.DataFrame) -> pl.DataFrame:
    """Return made pairs with the clusters of human contexts, which another run may have said.

    In runs of older versions, the cluster of a made pair is the context of its human pair.
    """
    key = ("split", "cluster")
    found = people.select("split", own="cluster", cluster="context_id").drop_nulls().unique(key)
    by_parent = made.select(key).join(found, on=key, how="left", maintain_order="left")
    return made.with_columns(cluster=pl.coalesce(by_parent["own"], pl.col("cluster")))


def _check_match(
    match: Mapping[str, Sequence[str]],
    operations: Sequence[str],
    by_model: Mapping[str, pl.DataFrame],
) -> None:
    of_people = pl.concat([rows.filter(~_has_origin("made")) for rows in by_model.values()])
    categories = of_people["error_category"].drop_nulls().unique().sort().to_list()
    for operation, chosen in match.items():
        for name, known, what in (
            (operation, operations, "made pairs"),
            *((each, categories, "human pairs") for each in chosen),
        ):
            if name not in known:
                raise ScoringError(
                    "name.unknown",
                    f'no {what} of "{name}"{did_you_mean(name, known)}',
                    f"--match {operation}={'|'.join(chosen)}",
                    f"known: {', '.join(known)}",
                )


def _has_origin(origin: str) -> pl.Expr:
    """Whether a pair has an origin; pairs of unknown origin count as human."""
    known = pl.col("origin").fill_null("human").str.split(":").list.first()
    return known.replace("synthetic", "made") == origin


def _compare_operation(
    operation: str,
    categories: tuple[str, ...],
    by_model: Mapping[str, pl.DataFrame],
    *,
    ranked: bool,
) -> OperationValidity:
    all_models = {
        model: _compare_model(operation, categories, rows) for model, rows in by_model.items()
    }
    models = {model: rates for model, rates in all_models.items() if rates.made.n}
    ids = [
        rows.filter(_is_made(), error_category=operation)["pair_id"] for rows in by_model.values()
    ]
    return OperationValidity(
        operation,
        pairs_digest(pl.concat(ids)),
        categories,
        models,
        {origin: _tau_b(models, origin) if ranked else None for origin in _ORIGINS},
    )


def _compare_model(operation: str, categories: Sequence[str], rows: pl.DataFrame) -> ModelValidity:
    rated = to_rate([rows], "origin", "error_category")
    of_category = pl.col("error_category").is_in(categories) if categories else pl.lit(value=True)
    made = each_once(rated.filter(_has_origin("made") & (pl.col("error_category") == operation)))
    people = {}
    for origin in _ORIGINS:
        pairs = each_once(rated.filter(_has_origin(origin) & of_category))
        if pairs.height:
            difference = compare_sets(rated, made, pairs, key=NUMBERED)
            people[origin] = HumanPairs.extend(difference, pairs=rate_of(pairs))
    return ModelValidity(rate_of(made), **people)


def _tau_b(models: Mapping[str, ModelValidity], origin: People) -> float | None:
    both = [
        (rates.made.pass_rate, rates.people[origin].pairs.pass_rate)
        for rates in models.values()
        if origin in rates.people
    ]
    known = [(made, other) for made, other in both if made is not None and other is not None]
    return STATISTICS["tau_b"](*zip(*known, strict=True)) if len(known) > 1 else None


def _cluster_cautions(entries: Sequence[Entry]) -> list[str]:
    """Return cautions on datasets with few clusters of contexts, or whose runs lack these."""
    found = list[str | None]()
    for of_dataset in by_dataset(entries).values():
        rows = pl.concat([each.rows for each in of_dataset])
        folders = [*dict.fromkeys(each.folder for each in of_dataset if each.folder is not None)]
        found.append(missing_clusters(folders, rows, takes_data=False))
        name = next((each.cluster for each in of_dataset if each.cluster is not None), None)
        found.append(few_clusters(levels_in(rows), name))
    return [f"{each[0].upper()}{each[1:]}." for each in dict.fromkeys(found) if each]


def _cautions(by_model: Mapping[str, pl.DataFrame]) -> list[str]:
    unknown = ", ".join(m for m, rows in by_model.items() if rows["origin"].null_count())
    message = "some runs do not store the origin of their pairs; these pairs count as human"
    return [f"{unknown}: {message}."] if unknown else []
