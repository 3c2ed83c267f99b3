"""The distinct candidates of pairs by side, and their measures."""

from collections.abc import Callable
from functools import cache
from typing import Any

import polars as pl

from nnd.converters.folder.description.description import SIDES, Description, Side
from nnd.converters.folder.description.diversity import (
    Texts,
    conditional_entropy,
    distinct_share,
    entropy,
    mean_segmental_ttr,
    ngrams,
    singletons,
    yules_i,
)
from nnd.converters.folder.description.overlap import (
    Rouge,
    best_rouge,
    corpus_scores,
    local_recall,
    rouge_scores,
)
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

    Args:
        pairs: Rows of the pair schema.
    """
    return {side: _short(_candidates(pairs, side)) for side in SIDES}


def describe_pairs(name: str, pairs: pl.DataFrame, *, window: int = WINDOW) -> Description:
    """Describe the better and the worse candidates of pairs.

    A candidate counts once on each of its sides, in the order of ids.

    Args:
        name: Name of the data.
        pairs: split, context_id, high_id, low_id, candidate_high, candidate_low; `references` (a
            list for each context); and characters_high, characters_low, copied_high, copied_low:
            code points, and the share of word bigrams that the context has.
        window: Tokens of a window of MSTTR.
    """
    distinct = pairs.unique(DISTINCT, keep="first", maintain_order=True)
    rules = {rule: _passed(distinct, *looks) for rule, looks in _RULES.items()}
    rouge = cache(best_rouge)
    measured = {side: _whole(_candidates(pairs, side), window, rouge) for side in SIDES}
    return Description(name, distinct.height, measured, rules, window)


def _candidates(pairs: pl.DataFrame, side: Side) -> pl.DataFrame:
    key = [*CONTEXT, f"{side}_id"]
    others = ["references"] if "references" in pairs.columns else []
    each = pairs.select(*key, *others, text=f"candidate_{side}").unique(key, keep="first")
    return each.sort(key, nulls_last=True)


def _short(candidates: pl.DataFrame) -> dict[str, float | None]:
    """Return a part of `_whole`, computed in polars because every conversion needs it."""
    step = max(1, -(-candidates.height // MOST_TOKENISED))
    sample = candidates.gather_every(step)
    tokens = tokens_13a(sample["text"])
    row = pl.DataFrame({"token": tokens}).with_row_index("text").explode("token").drop_nulls()
    code = pl.col("token").cast(pl.Categorical).to_physical().cast(pl.UInt64)
    rows = row.select("text", code=code).with_row_index("at")
    follows = pl.col("text") == pl.col("text").shift(-1)
    both = pl.col("code") * 2**32 + pl.col("code").shift(-1)
    bigrams = rows.select(both.filter(follows))
    windows = rows.height // WINDOW
    types = (
        rows.head(windows * WINDOW).group_by(pl.col("at") // WINDOW).agg(pl.col("code").n_unique())
    )
    return _lengths(candidates) | {
        "tokenised": sample.height,
        "tokens": rows.height,
        "mean_tokens": _share(rows.height, sample.height),
        "distinct_1": _share(rows["code"].n_unique(), rows.height),
        "distinct_2": _share(bigrams["code"].n_unique(), bigrams.height),
        "msttr": _share(int(types["code"].sum()), windows * WINDOW),
    }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _whole(candidates: pl.DataFrame, window: int, rouge: Callable[[], Rouge]) -> dict[str, Any]:
    texts = _tokens(candidates)
    types = {n: len(set(ngrams(texts, n))) for n in (1, 2)}
    tokens = sum(map(len, texts))
    return _lengths(candidates) | {
        "tokens": tokens,
        "mean_tokens": _share(tokens, candidates.height),
        "types": types[1],
        "singletons": singletons(texts),
        "bigram_types": types[2],
        **{f"distinct_{n}": distinct_share(texts, n) for n in (1, 2, 3)},
        "msttr": mean_segmental_ttr(texts, window),
        "entropy": entropy(texts),
        "conditional_entropy": conditional_entropy(texts),
        "yules_i": yules_i(texts),
        **_overlap(candidates, rouge),
    }


def _tokens(candidates: pl.DataFrame) -> Texts:
    return tokens_13a(candidates["text"]).to_list()


def _lengths(candidates: pl.DataFrame) -> dict[str, float | None]:
    n, characters = candidates.height, int(candidates["text"].str.len_chars().sum())
    return {"candidates": n, "mean_characters": _share(characters, n)}


def _overlap(candidates: pl.DataFrame, rouge: Callable[[], Rouge]) -> dict[str, Any]:
    """Compare candidates with their references; returns nothing if there are none."""
    known = candidates.filter(pl.col("references").list.len() > 0)
    if known.is_empty():
        return {}
    texts, references = known["text"].to_list(), known["references"].to_list()
    return {
        "with_references": known.height,
        **rouge_scores(texts, references, rouge()),
        **corpus_scores(texts, references),
        "local_recall": local_recall(texts, references),
    }


def _passed(pairs: pl.DataFrame, column: str, sign: int) -> float | None:
    """Return the pass rate of preferring the larger number; equal numbers count half."""
    high, low = (sign * pl.col(f"{column}_{side}") for side in SIDES)
    verdict = pl.when(high > low).then(2).when(high < low).then(0).otherwise(1)
    return int(pairs.select(verdict.sum()).item()) / (2 * pairs.height) if pairs.height else None
