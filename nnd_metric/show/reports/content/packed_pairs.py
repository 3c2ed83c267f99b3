"""The pairs of a report, packed for its page: each text once, each verdict as one letter.

The page unpacks them when it is opened: JSON in columns, compressed with gzip, in base64. Texts and
categories are indices into lists; -1 stands for none. If there are more than MOST_PAIRS pairs, this
many are drawn at random with a fixed seed, so that browsers can open the page.
"""

import base64
import gzip
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from nnd.metric.data import SLICES, PairSet
from nnd.metric.numbers import find_places, join_texts
from nnd.metric.show.reports.content.report_models import ReportModel
from nnd.schemas import DISTINCT

MOST_PAIRS = 20_000
"""Largest number of pairs in a page: some MB, without their texts."""

_DECIMALS = 5
"""Decimals of log-likelihoods: the engine's paths agree to 1e-4."""

_DECIMALS_OF_TOKENS = 2

_SYSTEMS = ("system_high", "system_low")


def pack_pairs(models: Sequence[ReportModel], texts: PairSet | None) -> str:
    """Return the data of the pairs for the page, as base64 of gzipped JSON.

    The rows of all models are in one order. Without `texts`, ids are shown instead. `distinct`
    marks the first of the rows that are one test: pass rates are means over these.
    """
    models = _drawn(models)
    rows = models[0].rows
    if texts is not None:
        more = [name for name in (*_SYSTEMS, "group") if name in texts.pairs.columns]
        rows = join_texts(rows, texts, more).with_columns(pl.col(more).cast(pl.String))
    embedded = {
        "texts": texts is not None,
        "models": [each.name for each in models],
        "whole_names": [each.model for each in models],
        "pair_id": rows["pair_id"].to_list(),
        **_texts(rows, has_texts=texts is not None),
        "columns": {name: _coded(rows[name]) for name in _columns(rows)},
        "distinct": rows.select(pl.struct(DISTINCT).is_first_distinct()).to_series().to_list(),
        "scores": [_scores(each.rows) for each in models],
        **({} if texts is None else _surprise(models, rows, texts)),
    }
    text = json.dumps(embedded, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _surprise(models: Sequence[ReportModel], rows: pl.DataFrame, texts: PairSet) -> dict[str, Any]:
    """Return the tokens of each model by pair and side, and the marked places of the worse text.

    A token is its first character, the first behind it, and its surprisal. Empty without tokens.
    """
    if all(each.tokens.is_empty() for each in models):
        return {}
    places = {} if texts.home is None else find_places(rows, texts.home)
    return {
        "tokens": [_tokens(each.tokens, rows["pair_id"]) for each in models],
        "marked": [places.get(pair, []) for pair in rows["pair_id"]],
    }


def _tokens(tokens: pl.DataFrame, pair_ids: pl.Series) -> dict[str, list[Any]]:
    stored = {
        (pair, side): [
            (start, end, round(-value, _DECIMALS_OF_TOKENS))
            for start, end, value in zip(starts, ends, values, strict=True)
            if start is not None
        ]
        for _, pair, side, starts, ends, values in tokens.iter_rows()
    }
    return {side: [stored.get((pair, side), []) for pair in pair_ids] for side in ("high", "low")}


def _drawn(models: Sequence[ReportModel]) -> Sequence[ReportModel]:
    n = models[0].rows.height
    if n <= MOST_PAIRS:
        return models
    places = np.sort(np.random.default_rng(0).choice(n, MOST_PAIRS, replace=False))
    return [replace(each, rows=each.rows[places]) for each in models]


def _columns(rows: pl.DataFrame) -> list[str]:
    """Return the columns to show (slices and systems that are not empty), and the iterator."""
    shown: list[str] = []
    for name in SLICES:  # rules without error labels repeat the aspect
        if not any(rows[name].equals(rows[other]) for other in shown):
            shown.append(name)
    shown += [name for name in _SYSTEMS if name in rows.columns]
    return [name for name in shown if rows[name].null_count() < rows.height]


def _texts(rows: pl.DataFrame, *, has_texts: bool) -> dict[str, Any]:
    """Return contexts and candidates, each once, and their indices for every pair."""
    contexts, (where,) = _places([rows["context" if has_texts else "context_id"]])
    sides = [f"candidate_{side}" if has_texts else f"{side}_id" for side in ("high", "low")]
    candidates, (high, low) = _places([rows[name] for name in sides])
    return {
        "contexts": contexts,
        "context": where,
        "context_id": _coded(rows["context_id"]),
        "candidates": candidates,
        "high": high,
        "low": low,
    }


def _coded(column: pl.Series) -> dict[str, Any]:
    values, (places,) = _places([column])
    return {"values": values, "places": places}


def _places(columns: Iterable[pl.Series]) -> tuple[list[str], list[list[int]]]:
    """Return the values of some columns, each once, and the index of every row's value."""
    known: dict[str, int] = {}
    places = [
        [-1 if value is None else known.setdefault(value, len(known)) for value in column]
        for column in columns
    ]
    return list(known), places


def _scores(rows: pl.DataFrame) -> dict[str, Any]:
    unscored = pl.col("ll_high").is_null() | pl.col("ll_low").is_null()
    letter = (
        pl.when(pl.col("same_tokens"))
        .then(pl.lit("d"))
        .when(unscored)
        .then(pl.lit("u"))
        .when(pl.col("tie"))
        .then(pl.lit("t"))
        .when(pl.col("passed"))
        .then(pl.lit("p"))
        .otherwise(pl.lit("f"))
    )
    close = pl.col("close").fill_null(value=False)
    verdicts = rows.select(pl.when(close).then(letter.str.to_uppercase()).otherwise(letter))
    return {
        "verdicts": "".join(verdicts.to_series()),
        "high": rows["ll_high"].round(_DECIMALS).to_list(),
        "low": rows["ll_low"].round(_DECIMALS).to_list(),
    }
