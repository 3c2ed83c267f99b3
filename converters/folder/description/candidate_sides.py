"""The distinct candidates of pairs by side, and their measures."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from nnd.converters.folder.description.description import SIDES, Description, Side
from nnd.converters.folder.description.overlap import measure_overlap
from nnd.converters.folder.description.token_variety import measure_tokens, share
from nnd.converters.folder.description.word_tokens import tokens_13a
from nnd.schemas import CONTEXT, DISTINCT

WINDOW = 100
"""Tokens of a window of MSTTR."""

MOST_TOKENISED = 20_000
"""Most candidates of a side that every conversion tokenises."""

_RULES = {"shorter": ("characters", -1), "longer": ("characters", 1), "copied": ("copied", 1)}
"""Preference of a surface metric → the column that it compares, and the direction."""


def report_texts(pairs: pl.DataFrame) -> dict[Side, dict[str, float | None]]:
    """Return the measures of the texts of each side for a manifest, which take little time.

    If a side has more than 20,000 candidates, tokens are counted for every second, third …
    """
    return {side: _short(_candidates(pairs, side)) for side in SIDES}


def describe_pairs(name: str, pairs: pl.DataFrame, *, window: int = WINDOW) -> Description:
    """Describe the better and the worse candidates of pairs.

    A candidate counts once on each of its sides, in the order of ids. `window` is the number of
    tokens of a window of MSTTR.

    The pairs have split, context_id, high_id, low_id, candidate_high, candidate_low; `references`
    (a list for each context); and characters_high, characters_low, copied_high, copied_low: code
    points, and the share of word bigrams that the context has.
    """
    distinct = pairs.unique(DISTINCT, keep="first", maintain_order=True)
    rules = {rule: _passed(distinct, *looks) for rule, looks in _RULES.items()}
    candidates = {side: _candidates(pairs, side) for side in SIDES}
    overlap = _overlap(candidates)
    measured = {
        side: {
            **_lengths(own),
            **measure_tokens(tokens_13a(own["text"]), window),
            **overlap.get(side, {}),
        }
        for side, own in candidates.items()
    }
    return Description(name, distinct.height, measured, rules, window)


def _candidates(pairs: pl.DataFrame, side: Side) -> pl.DataFrame:
    key = [*CONTEXT, f"{side}_id"]
    others = ["references"] if "references" in pairs.columns else []
    each = pairs.select(*key, *others, text=f"candidate_{side}").unique(key, keep="first")
    return each.sort(key, nulls_last=True)


def _short(candidates: pl.DataFrame) -> dict[str, float | None]:
    step = max(1, -(-candidates.height // MOST_TOKENISED))
    sample = candidates.gather_every(step)
    return {
        **_lengths(candidates),
        "tokenised": sample.height,
        **measure_tokens(tokens_13a(sample["text"]), WINDOW, whole=False),
    }


def _lengths(candidates: pl.DataFrame) -> dict[str, float | None]:
    n, characters = candidates.height, int(candidates["text"].str.len_chars().sum())
    return {"candidates": n, "mean_characters": share(characters, n)}


def _overlap(candidates: Mapping[Side, pl.DataFrame]) -> dict[Side, dict[str, Any]]:
    """Compare candidates with their references; a side without any is left out."""
    known = {
        side: own.filter(pl.col("references").list.len() > 0)
        for side, own in candidates.items()
        if "references" in own.columns
    }
    texts = {
        side: list(zip(own["text"].to_list(), map(tuple, own["references"].to_list()), strict=True))
        for side, own in known.items()
        if not own.is_empty()
    }
    scores = measure_overlap(texts) if texts else {}
    return {side: {"with_references": len(own), **scores[side]} for side, own in texts.items()}


def _passed(pairs: pl.DataFrame, column: str, sign: int) -> float | None:
    """Return the pass rate of preferring the larger number; equal numbers count half."""
    high, low = (sign * pairs[f"{column}_{side}"] for side in SIDES)
    halves = 2 * int((high > low).sum()) + int((high == low).sum())
    return share(halves, 2 * pairs.height)
