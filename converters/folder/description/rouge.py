"""ROUGE of candidates with the same references: each text is cut into words once.

The library rouge-score does so again for every comparison, and fills a table for the longest
common subsequence; words, stems and formulas are its own.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

from nnd.converters.folder.description.shared_ngrams import in_common, shared_words
from nnd.schemas import check_extra, is_mostly_ascii

Words: TypeAlias = Sequence[str]


class RougeScores(NamedTuple):
    """F1 of ROUGE-1, ROUGE-2 and ROUGE-L."""

    rouge_1: float
    rouge_2: float
    rouge_l: float


Rouge: TypeAlias = Callable[[Sequence[str], Sequence[str]], list[RougeScores | None]]
"""(candidates, references of all of them) → the best scores of each candidate, if it has any."""


def best_rouge() -> Rouge:
    """Return a function for ROUGE-1, ROUGE-2 and ROUGE-L: the F1 with the best reference.

    Lin (2004). The tokens are those of rouge-score with its stemmer, which reads ASCII letters and
    digits only: a candidate has no scores if most letters of it, or of a reference, are others.
    """
    check_extra("metrics", "rouge_score", "comparing candidates with references")
    from nltk.stem.porter import PorterStemmer  # noqa: PLC0415 - nltk takes a second
    from rouge_score.tokenize import tokenize  # noqa: PLC0415

    stemmer = PorterStemmer()
    stemmer.stem = cache(stemmer.stem)

    def best(candidates: Sequence[str], references: Sequence[str]) -> list[RougeScores | None]:
        if not all(map(is_mostly_ascii, references)):
            return [None] * len(candidates)
        words = [[tokenize(text, stemmer) for text in texts] for texts in (candidates, references)]
        scores = _best(*words)
        return [
            each if is_mostly_ascii(text) else None
            for text, each in zip(candidates, scores, strict=True)
        ]

    return best


def _best(candidates: Sequence[Words], references: Sequence[Words]) -> list[RougeScores]:
    unigrams, bigrams = (in_common(*each) for each in shared_words(candidates, references, 2))
    known = [(len(reference), _places(reference)) for reference in references]
    best = []
    for candidate, ones, twos in zip(candidates, unigrams.tolist(), bigrams.tolist(), strict=True):
        n = len(candidate)
        scores = [
            (
                _f1(one, n, m),
                _f1(two, n - 1, m - 1),
                _f1(common_subsequence(candidate, at, m), n, m),
            )
            for one, two, (m, at) in zip(ones, twos, known, strict=True)
        ]
        best.append(RougeScores(*map(max, zip(*scores, strict=True))))
    return best


def _places(tokens: Words) -> dict[str, int]:
    """Return a number for each token, whose bits are its places."""
    places: dict[str, int] = {}
    for place, token in enumerate(tokens):
        places[token] = places.get(token, 0) | 1 << place
    return places


def _f1(common: int, candidate: int, reference: int) -> float:
    if not common:
        return 0.0
    precision, recall = common / candidate, common / reference
    return 2 * precision * recall / (precision + recall)


def common_subsequence(tokens: Words, places: Mapping[str, int], size: int) -> int:
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
