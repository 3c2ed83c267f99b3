"""Measures of how varied texts are, computed from their tokens.

All but MSTTR depend on the amount of text: with more tokens, a smaller share is distinct and
entropies are higher. Compare only texts with similar numbers of tokens. No n-gram spans two texts.
"""

import math
from collections.abc import Sequence

import polars as pl


def share(part: int, whole: int) -> float | None:
    """Return part / whole, or None if there is nothing."""
    return part / whole if whole else None


def measure_tokens(
    tokens: pl.Series, window: int, *, whole: bool = True
) -> dict[str, float | None]:
    """Return measures of texts; those that are not defined for so few tokens are None.

    - `distinct_n`: types of n-grams / n-grams; for n = 1 it is the type-token ratio (TTR). Li et
      al. (2016), A diversity-promoting objective function for neural conversation models.
    - `msttr`: the mean type-token ratio of windows, which follow each other through all texts; a
      shorter last one is left out. Johnson (1944), Studies in language behavior.
    - `entropy` of tokens in bits, H = -sum p log2 p; `conditional_entropy` given the previous
      token, H(2|1) = H(bigrams) - H(their first tokens).
    - `yules_i`: Yule's I = M1² / (M2 - M1), larger if words repeat less: M1 = types, M2 = sum over
      i of i² V_i, where V_i types occur i times. Yule (1944), The statistical study of literary
      vocabulary, by its K; I is as in Oakes (1998).

    Args:
        tokens: The list of tokens of each text.
        window: Tokens of a window of MSTTR.
        whole: Whether to compute all; otherwise only what takes little time.
    """
    rows = pl.DataFrame({"token": tokens}).with_row_index("text").explode("token").drop_nulls()
    code = pl.col("token").cast(pl.Categorical).to_physical()
    rows = rows.select("text", code=code)
    ngrams = {n: _count_ngrams(rows, n) for n in ((1, 2, 3) if whole else (1, 2))}
    n_windows = rows.height // window
    at = pl.int_range(pl.len()) // window
    types = rows.head(n_windows * window).group_by(at).agg(pl.col("code").n_unique())
    measures = {
        "tokens": rows.height,
        "mean_tokens": share(rows.height, tokens.len()),
        **{f"distinct_{n}": share(own.height, int(own["len"].sum())) for n, own in ngrams.items()},
        "msttr": share(int(types["code"].sum()), n_windows * window),
    }
    if not whole:
        return measures
    counts, bigrams = ngrams[1]["len"].to_list(), ngrams[2]
    given = _entropy(bigrams.group_by("0").agg(pl.col("len").sum())["len"].to_list())
    both = _entropy(bigrams["len"].to_list())
    m1, m2 = len(counts), sum(n * n for n in counts)
    return measures | {
        "types": m1,
        "singletons": counts.count(1),
        "bigram_types": bigrams.height,
        "entropy": _entropy(counts),
        "conditional_entropy": None if both is None or given is None else both - given,
        "yules_i": share(m1 * m1, m2 - m1),
    }


def _count_ngrams(rows: pl.DataFrame, n: int) -> pl.DataFrame:
    """Return how often each n-gram occurs (`len`), with the codes of its tokens."""
    text, code = pl.col("text"), pl.col("code")
    is_within = text == text.shift(1 - n)
    runs = rows.select(code.shift(-k).filter(is_within).alias(str(k)) for k in range(n))
    return runs.group_by(pl.all()).len()


def _entropy(counts: Sequence[int]) -> float | None:
    total = sum(counts)
    return math.fsum(-n / total * math.log2(n / total) for n in counts) if counts else None
