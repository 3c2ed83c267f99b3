"""Scored pairs, aligned between models, and with the texts of the data."""

from collections.abc import Sequence

import polars as pl

from nnd.metric.data import REQUIRED, PairSet, check_same, splits_in
from nnd.metric.numbers.rates.context_sums import number_occurrences
from nnd.schemas import ScoringError

KEY = ("pair_id", "occurrence")
"""Number of a row among equal pairs, if the data has a pair several times."""


def by_model(scored: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return model → its scored pairs, numbered by `occurrence`, in the order of the first model.

    Raises ScoringError if two models were scored on different pairs.
    """
    numbered = scored.with_columns(occurrence=number_occurrences(scored, "model", "pair_id"))
    models = scored["model"].unique(maintain_order=True).to_list()
    frames = {model: numbered.filter(pl.col("model") == model) for model in models}
    return {model: _as_in(frames[models[0]], rows) for model, rows in frames.items()}


def _as_in(first: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    if rows is first:
        return rows
    a, b = first["model"][0], rows["model"][0]
    ordered = rows
    if not rows.select(KEY).equals(first.select(KEY)):
        ordered = first.select(KEY).join(rows, on=KEY, maintain_order="left")
    if not ordered.height == rows.height == first.height:
        raise ScoringError(
            "run.another-data",
            f'models "{a}" and "{b}" were not scored on the same pairs',
            remedy="evaluate both on the same data, or name the data of each with "
            f"--data{shared_split(first, rows)}",
        )
    check_same(first.hstack(ordered.rename(lambda column: f"{column}_b")), a, b)
    return ordered


def shared_split(a: pl.DataFrame, b: pl.DataFrame) -> str:
    """Return the remedy for models that were scored on different splits, or ""."""
    splits = {*splits_in(a)}, {*splits_in(b)}
    shared = sorted(splits[0] & splits[1])
    if splits[0] == splits[1] or not shared:
        return ""
    return f", or choose the splits of both with {' '.join(f'--split {name}' for name in shared)}"


def join_texts(rows: pl.DataFrame, texts: PairSet, columns: Sequence[str] = ()) -> pl.DataFrame:
    """Return scored pairs with their context and their candidates.

    Raises ScoringError if a scored pair is missing in the texts, or differs there.
    """
    wanted = texts.pairs.select("pair_id", *REQUIRED, *columns)
    wanted = wanted.with_columns(occurrence=number_occurrences(wanted, "pair_id"))
    joined = rows.join(wanted, on=KEY, how="left", maintain_order="left")
    lost = joined.filter(pl.col("context").is_null())
    if lost.height:
        others = {1: "", 2: ", nor is another one"}
        more = others.get(lost.height, f", nor are {lost.height - 1:,} others")
        of = f"{more} of {rows.height:,}" if more else f" (of {rows.height:,})"
        raise ScoringError(
            "run.another-data",
            f"pair {lost['pair_id'][0]} of the run is not among these pairs{of}",
            texts.name,
            "name the data that was scored (--data)",
        )
    for side in ("high", "low"):
        length = pl.col(f"candidate_{side}").str.len_chars().cast(pl.Int64)
        other = joined.filter(length != pl.col(f"characters_{side}"))
        if other.height:
            raise ScoringError(
                "run.another-data",
                f"candidate_{side} of pair {other['pair_id'][0]} is not the text that was scored",
                texts.name,
                "name the data that was scored (--data)",
            )
    return joined
