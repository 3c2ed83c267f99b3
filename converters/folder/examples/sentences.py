"""Sentences about a few pairs, which show the result of a conversion at a glance."""

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from nnd.schemas import choose_examples, excerpt, first_difference

_LONGEST = 48
_BEFORE_DIFFERENCE = 16


def example_sentences(
    pairs: pl.DataFrame, annotations: pl.DataFrame, most: int = 2
) -> Iterator[str]:
    """Yield sentences about single pairs: which candidate beats which, in which context.

    `choose_examples` chooses the pairs. Texts with the same beginning are shown from shortly
    before their first difference.
    """
    for pair in choose_examples(pairs, most).iter_rows(named=True):
        folded = (" ".join(pair[f"candidate_{side}"].split()) for side in ("high", "low"))
        start = first_difference(*folded)
        start = start - _BEFORE_DIFFERENCE if start > _LONGEST - _BEFORE_DIFFERENCE else 0
        high, low = (_judged(pair, side, annotations, start) for side in ("high", "low"))
        yield f'Of "{_short(pair["context"])}", {high} beats {low}'


def _judged(pair: Mapping[str, Any], side: str, annotations: pl.DataFrame, start: int) -> str:
    """Return a candidate as `system` (its label or score) "text", the system only if known."""
    rows = annotations.filter(
        (pl.col("split") == pair["split"])
        & (pl.col("candidate_id") == pair[f"{side}_id"])
        & (pl.col("aspect") == pair["aspect"])
        & pl.col("group").eq_missing(pl.lit(pair["group"], pl.String))
    )
    score, ratings = rows["score"].drop_nulls(), rows["ratings"].drop_nulls()
    if pair["label_high"] is not None:  # the rule reads labels
        said = pair["label_high"] if side == "high" else pair["error_category"]
    elif ratings.len():
        said = "/".join(f"{rating:g}" for rating in ratings[0])
    elif score.len():
        said = f"{score[0]:g}"
    else:
        said = None
    judgement = "" if said is None else f" ({said})"
    system, text = pair[f"system_{side}"], f'"{_short(pair[f"candidate_{side}"], start)}"'
    return f"{text}{judgement}" if system is None else f"{system}{judgement} {text}"


def _short(text: str, start: int = 0) -> str:
    folded = " ".join(text.split())
    return ("…" if start else "") + excerpt(folded[start:], _LONGEST)
