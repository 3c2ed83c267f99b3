"""ROUGE of many candidates with the same references: each text is cut into n-grams once.

The library rouge-score does so again for every comparison, and fills a table for the longest
common subsequence; words, stems and formulas are its own.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from nnd.schemas import check_extra

Rouge: TypeAlias = Callable[[str, tuple[str, ...]], Mapping[str, float]]
"""(candidate, its references) → name → F1."""

KINDS = ("rouge_1", "rouge_2", "rouge_l")


def best_rouge() -> Rouge:
    """Return a function for ROUGE-1, ROUGE-2 and ROUGE-L: the F1 with the best reference.

    Lin (2004). The tokens are those of rouge-score with its stemmer, which reads ASCII letters and
    digits only.
    """
    check_extra("metrics", "rouge_score", "comparing candidates with references")
    from nltk.stem.porter import PorterStemmer  # noqa: PLC0415 - nltk takes a second
    from rouge_score.tokenize import tokenize  # noqa: PLC0415

    stemmer = PorterStemmer()
    stemmer.stem = cache(stemmer.stem)

    @cache
    def cut(text: str) -> _Words:
        tokens = tokenize(text, stemmer)
        return _Words(tokens, _ngrams(tokens, 1), _ngrams(tokens, 2), _places(tokens))

    @cache
    def best(candidate: str, references: tuple[str, ...]) -> dict[str, float]:
        ours = cut(candidate)
        found = [_compare(ours, cut(reference)) for reference in references]
        return dict(zip(KINDS, map(max, zip(*found, strict=True)), strict=True))

    return best


@dataclass(frozen=True, slots=True)
class _Words:
    tokens: Sequence[str]
    unigrams: Counter[object]
    bigrams: Counter[object]
    places: Mapping[str, int]  # token → a number whose bits are its places


def _ngrams(tokens: Sequence[str], n: int) -> Counter[object]:
    return Counter(zip(*(tokens[i:] for i in range(n)), strict=False))


def _places(tokens: Sequence[str]) -> dict[str, int]:
    places: dict[str, int] = {}
    for place, token in enumerate(tokens):
        places[token] = places.get(token, 0) | 1 << place
    return places


def _compare(ours: _Words, theirs: _Words) -> tuple[float, float, float]:
    n, m = len(ours.tokens), len(theirs.tokens)
    return (
        _f1(_in_common(ours.unigrams, theirs.unigrams), n, m),
        _f1(_in_common(ours.bigrams, theirs.bigrams), n - 1, m - 1),
        _f1(common_subsequence(ours.tokens, theirs.places, m), n, m),
    )


def _in_common(ours: Counter[object], theirs: Counter[object]) -> int:
    return sum(min(n, theirs[each]) for each, n in ours.items() if each in theirs)


def _f1(common: int, candidate: int, reference: int) -> float:
    if not common:
        return 0.0
    precision, recall = common / candidate, common / reference
    return 2 * precision * recall / (precision + recall)


def common_subsequence(tokens: Sequence[str], places: Mapping[str, int], size: int) -> int:
    """Return the length of the longest common subsequence of two sequences.

    Hyyrö (2004), Bit-parallel LCS-length computation revisited: a column of the table is one
    number, whose zeros count what is in common.

    Args:
        tokens: One sequence.
        places: Token of the other one → a number whose bits are its places.
        size: Length of the other one.
    """
    everywhere = (1 << size) - 1
    column = everywhere
    for token in tokens:
        matches = column & places.get(token, 0)
        column = (column + matches | column - matches) & everywhere
    return size - column.bit_count()
