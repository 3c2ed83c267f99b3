"""How varied texts are: functions of their tokens.

All but MSTTR depend on how much text there is: of more tokens a smaller share is new, and entropies
are higher. Compare them between texts of about as many tokens.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeAlias

Texts: TypeAlias = Sequence[Sequence[str]]
"""The tokens of each text."""


def ngrams(texts: Texts, n: int) -> Iterator[tuple[str, ...]]:
    """Yield the runs of n tokens within each text; none goes from one text into the next."""
    for tokens in texts:
        yield from zip(*(tokens[start:] for start in range(n)), strict=False)


def distinct_share(texts: Texts, n: int) -> float | None:
    """Return distinct-n, the share of n-grams that are distinct: types_n / tokens_n.

    Li et al. (2016), A diversity-promoting objective function for neural conversation models. For
    n = 1 it is the type-token ratio (TTR). None where there is no n-gram.
    """
    found = Counter(ngrams(texts, n))
    return len(found) / found.total() if found else None


def mean_segmental_ttr(texts: Texts, window: int) -> float | None:
    """Return MSTTR: the mean type-token ratio of windows of so many tokens.

    Johnson (1944), Studies in language behavior. The windows follow each other through all texts;
    a last one that is shorter is left out. None where there are fewer tokens than a window has.
    """
    tokens = list(chain.from_iterable(texts))
    starts = range(0, len(tokens) - window + 1, window)
    types = sum(len(set(tokens[start : start + window])) for start in starts)
    return types / (len(starts) * window) if starts else None


def entropy(texts: Texts, n: int = 1) -> float | None:
    """Return the entropy of n-grams in bits, H = -sum p log2 p; None where there is none."""
    return _entropy(Counter(ngrams(texts, n)).values())


def conditional_entropy(texts: Texts) -> float | None:
    """Return how many bits a token has once the one before it is known.

    H(2|1) = H(bigrams) - H(their first tokens). None where there is no bigram.
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
    """Return Yule's I = M1² / (M2 - M1): larger where words repeat less.

    M1 = types; M2 = sum over i of i² V_i, where V_i types are there i times. Yule (1944), The
    statistical study of literary vocabulary, by its K; I is as in Oakes (1998). None where no token
    is there twice.
    """
    counts = Counter(chain.from_iterable(texts))
    m1, m2 = len(counts), sum(n * n for n in counts.values())
    return m1 * m1 / (m2 - m1) if m2 > m1 else None


def singletons(texts: Texts) -> int:
    """Return how many types are there once."""
    return list(Counter(chain.from_iterable(texts)).values()).count(1)
