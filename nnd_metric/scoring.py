"""From pairs to per-pair log-likelihoods, the artefact of which everything else is a function."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from .data import PairSet
from .engine import Scorer
from .templates import Template, render

SCORED_SCHEMA = pl.Schema(
    {
        "pair_id": pl.String,
        "split": pl.String,
        "context_id": pl.String,
        "high_id": pl.String,
        "low_id": pl.String,
        "aspect": pl.String,
        "category": pl.String,
        "error_category": pl.String,
        "error_group": pl.String,
        "ll_high": pl.Float64,
        "ll_low": pl.Float64,
        "tokens_high": pl.Int64,
        "tokens_low": pl.Int64,
        "truncated": pl.Boolean,
        "passed": pl.Boolean,
        "tie": pl.Boolean,
    }
)
"""Columns of the scored frame, one row per pair."""


def score_pairs(data: PairSet, scorer: Scorer, template: Template) -> pl.DataFrame:
    """Score both candidates of every pair given its context.

    A pair is passed iff LL(high) > LL(low), strictly. Equal likelihoods are a tie; a likelihood
    that the protocol leaves undefined is null. Both are failures.

    Args:
        data: The pairs.
        scorer: An engine, or any callable of its shape.
        template: How contexts are rendered.

    Returns:
        One row per pair in the order of `data.pairs`, with the columns of SCORED_SCHEMA.
    """
    pairs = data.pairs
    inputs = pairs["inputs"].to_list() if "inputs" in pairs.columns else [None] * pairs.height
    prompts = render(template, pairs["context"].to_list(), [_parts(value) for value in inputs])
    requests = [
        (prompt.context, prompt.candidate_prefix + candidate)
        for side in ("high", "low")
        for prompt, candidate in zip(prompts, pairs[f"candidate_{side}"], strict=True)
    ]
    found = scorer(requests)
    n = pairs.height
    values = pl.Series(found.log_likelihood, dtype=pl.Float64).fill_nan(None)
    high, low = values[:n], values[n:]
    columns = {
        "ll_high": high,
        "ll_low": low,
        "tokens_high": pl.Series(found.tokens[:n], dtype=pl.Int64),
        "tokens_low": pl.Series(found.tokens[n:], dtype=pl.Int64),
        "truncated": pl.Series(found.truncated[:n], dtype=pl.Boolean),
        "passed": (high > low).fill_null(value=False),
        "tie": (high == low).fill_null(value=False),
    }
    return pairs.with_columns(**columns).select(
        pl.col(name).cast(dtype) for name, dtype in SCORED_SCHEMA.items()
    )


def _parts(value: Any) -> Mapping[str, str] | None:  # noqa: ANN401 - as stored or as JSON rows
    """Return the parts of a context from a list of {key, value}, or from an object."""
    if value is None or isinstance(value, Mapping):
        return value
    return {entry["key"]: entry["value"] for entry in value}
