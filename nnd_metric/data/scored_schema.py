"""The columns of scored pairs, the stored artefact from which every number follows."""

from typing import Literal, TypeAlias, get_args

import polars as pl

SliceColumn: TypeAlias = Literal["error_category", "aspect", "category", "error_group"]
SLICES = get_args(SliceColumn)

SURFACE_SCHEMA = pl.Schema(
    {
        "characters_high": pl.Int64,
        "characters_low": pl.Int64,
        "copied_high": pl.Float64,
        "copied_low": pl.Float64,
    }
)
"""Surface features: code points; the share, from 0 to 1, of a candidate's word bigrams that
occur in the context, null for one of fewer than two words, which has no bigram."""

ALONE_SCHEMA = pl.Schema({"ll_alone_high": pl.Float64, "ll_alone_low": pl.Float64})
"""Log-likelihoods without the context; null if not requested."""

READING_SCHEMA = pl.Schema(
    {
        "same_tokens": pl.Boolean,
        "unknown_high": pl.Int64,
        "unknown_low": pl.Int64,
        "unknown_context": pl.Int64,
        "characters_context": pl.Int64,
    }
)
"""How the tokenizer reads a pair: whether both texts become the same tokens; characters (code
points) that it does not know, and those of the context. Null for scorers without a tokenizer."""

_PAIR_SCHEMA = pl.Schema(
    {
        "pair_id": pl.String,
        "split": pl.String,
        "context_id": pl.String,
        "cluster": pl.String,
        "high_id": pl.String,
        "low_id": pl.String,
        "aspect": pl.String,
        "category": pl.String,
        "error_category": pl.String,
        "error_group": pl.String,
        "origin": pl.String,
        "ll_high": pl.Float64,
        "ll_low": pl.Float64,
        "tokens_high": pl.Int64,
        "tokens_low": pl.Int64,
        "divisor_high": pl.Int64,
        "divisor_low": pl.Int64,
        "end_tokens": pl.Int64,
        "truncated": pl.Boolean,
        "passed": pl.Boolean,
        "tie": pl.Boolean,
        "distinct": pl.Boolean,
    }
)
SCORED_SCHEMA = pl.Schema({**_PAIR_SCHEMA, **SURFACE_SCHEMA, **ALONE_SCHEMA, **READING_SCHEMA})
"""Columns of the scored frame, one row per pair: the stored artefact (see `pair_scoring`).

A log-likelihood is a sum of log-probabilities over its divisor: tokens, 1, or bytes, as the
protocol says; null if a scorer did not state it. Of the tokens scored, `end_tokens` are not the
candidate's own; the number is that of the model. `distinct` marks the first of the rows that are
one test: the overall rate is the mean of `passed` over these.
"""


CHILD_SCHEMA = pl.Schema({"set": pl.String(), "parent_id": pl.String(), **SCORED_SCHEMA})
"""Columns of the scored pairs of a suite's sets; parent_id is null in slices and samples."""

STORED = pl.Schema({"model": pl.String(), **SCORED_SCHEMA})
"""Columns of `read_run`."""

TOKENS = pl.Schema(
    {
        "model": pl.String(),
        "pair_id": pl.String(),
        "side": pl.String(),
        "start": pl.List(pl.Int32()),
        "end": pl.List(pl.Int32()),
        "log_likelihood": pl.List(pl.Float32()),
    }
)
"""Columns of stored tokens, one row per model, pair and side (high or low): log P of each scored
token, and its place in the candidate, in characters; null for a token that is not in it."""

STORED_SETS = pl.Schema({"model": pl.String(), **CHILD_SCHEMA})
"""Columns of `read_sets`."""
