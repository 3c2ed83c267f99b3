"""Measures of how varied texts are, computed from their tokens.

All but MSTTR depend on the amount of text: with more tokens, a smaller share is distinct and
entropies are higher. Compare only texts with similar numbers of tokens.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeAlias

Texts: TypeAlias = Sequence[Sequence[str]]
"""The tokens of each text."""


def ngrams(texts: Texts, n: int) -> Iterator[tuple[str, ...]]:
    """Yield the runs of n tokens within each text; none spans two texts."""
    for tokens in texts:
        yield from zip(*(tokens[start:] for start in range(n)), strict=False)


def distinct_share(texts: Texts, n: int) -> float | None:
    """Return distinct-n, the share of n-grams that are distinct: types_n / tokens_n.

    Li et al. (2016), A diversity-promoting objective function for neural conversation models. For
    n = 1 it is the type-token ratio (TTR). None if there are no n-grams.
    """
    found = Counter(ngrams(texts, n))
    return len(found) / found.total() if found else None


def mean_segmental_ttr(texts: Texts, window: int) -> float | None:
    """Return MSTTR: the mean type-token ratio of windows of `window` tokens.

    Johnson (1944), Studies in language behavior. The windows follow each other through all texts;
    a shorter last one is left out. None if there are fewer tokens than in a window.
    """
    tokens = list(chain.from_iterable(texts))
    starts = range(0, len(tokens) - window + 1, window)
    types = sum(len(set(tokens[start : start + window])) for start in starts)
    return types / (len(starts) * window) if starts else None


def entropy(texts: Texts, n: int = 1) -> float | None:
    """Return the entropy of n-grams in bits, H = -sum p log2 p; None if there are none."""
    return _entropy(Counter(ngrams(texts, n)).values())


def conditional_entropy(texts: Texts) -> float | None:
    """Return the entropy in bits of a token given the previous one.

    H(2|1) = H(bigrams) - H(their first tokens). None if there are no bigrams.
    """
    bigrams = Counter(ngrams(texts, 2))
    first: Counter[str] = Counter()
    for (token, _), n in bigrams.items():
        first[token] += n
    both, known = _entropy(bigrams.values()), _entropy(first.values())
    return None if both is None or known is None else both - known


def _entropy(counts: Iterable[int]) -> float | None:
    known = list(counts)
    total = sum(known)
    return math.fsum(-n / total * math.log2(n / total) for n in known) if known else None


def yules_i(texts: Texts) -> float | None:
    """Return Yule's I = M1² / (M2 - M1): larger if words repeat less.

    M1 = types; M2 = sum over i of i² V_i, where V_i types occur i times. Yule (1944), The
    statistical study of literary vocabulary, by its K; I is as in Oakes (1998). None if no token
    occurs twice.
    """
    counts = Counter(chain.from_iterable(texts))
    m1, m2 = len(counts), sum(n * n for n in counts.values())
    return m1 * m1 / (m2 - m1) if m2 > m1 else None


def singletons(texts: Texts) -> int:
    """Return the number of types that occur once."""
    return list(Counter(chain.from_iterable(texts)).values()).count(1)
