"""BLEU and chrF2 of a corpus, 0 to 100, as sacrebleu has them.

Both use all references of a candidate at once. Tokens and formulas are the library's own, by
methods that it does not call public; it would count the n-grams of all references again for each
of their candidates.
"""

# ruff: noqa: SLF001

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from nnd.converters.folder.description.shared_ngrams import (
    character_codes,
    in_common,
    shared_ngrams,
    shared_words,
)
from nnd.schemas import check_extra, space_characters

Statistics: TypeAlias = list[int]
"""What sacrebleu adds up over the candidates of a corpus."""

Compare: TypeAlias = Callable[[Sequence[str], Sequence[str]], list[Statistics]]
"""(candidates, references of all of them) → statistics of each candidate."""

Combine: TypeAlias = Callable[[Sequence[Statistics]], dict[str, float]]
"""Statistics of all candidates → name → their score."""


def corpus_bleu() -> tuple[Compare, Combine]:
    """Return functions for BLEU, lower-cased: Papineni et al. (2002), Post (2018).

    Each character of a script that is written without spaces is a word.
    """
    _check_sacrebleu()
    from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415 - slow, and few data have references

    bleu = BLEU(lowercase=True, force=True)
    orders = range(bleu.max_ngram_order)

    def compare(candidates: Sequence[str], references: Sequence[str]) -> list[Statistics]:
        own, others = (
            [bleu._preprocess_segment(space_characters(text)).split() for text in texts]
            for texts in (candidates, references)
        )
        matches = [
            np.minimum(ours, theirs.max(axis=0)).sum(axis=1).tolist()
            for ours, theirs in shared_words(own, others, len(orders))
        ]
        sizes = [len(words) for words in others]
        return [
            [
                len(words),
                _nearest(len(words), sizes),
                *common,
                *(max(len(words) - n, 0) for n in orders),
            ]
            for words, *common in zip(own, *matches, strict=True)
        ]

    return compare, lambda found: {"bleu": float(bleu._aggregate_and_compute(found).score)}


def _nearest(size: int, others: Sequence[int]) -> int:
    """Return the other size that is nearest, the smaller one of two."""
    return min(others, key=lambda other: (abs(other - size), other))


def corpus_chrf() -> tuple[Compare, Combine]:
    """Return functions for chrF2: Popović (2015), characters without white space, no words."""
    _check_sacrebleu()
    from sacrebleu.metrics.chrf import CHRF  # noqa: PLC0415 - as above

    chrf = CHRF()

    def compare(candidates: Sequence[str], references: Sequence[str]) -> list[Statistics]:
        own, others = (
            [character_codes("".join(text.split())) for text in texts]
            for texts in (candidates, references)
        )
        shared = shared_ngrams(own, others, chrf.char_order)
        found = np.empty((len(own), len(others), chrf.char_order, 3), int)
        for n, (ours, theirs) in enumerate(shared):
            totals = np.array([max(len(text) - n, 0) for text in others])
            # Against a reference that is too short for n-grams, those of a candidate do not count.
            found[:, :, n, 0] = [max(len(text) - n, 0) * (totals > 0) for text in own]
            found[:, :, n, 1] = totals
            found[:, :, n, 2] = in_common(ours, theirs)
        flat = found.reshape(len(own), len(others), -1).tolist()
        return [max(by_reference, key=chrf._compute_f_score) for by_reference in flat]

    return compare, lambda found: {"chrf": float(chrf._aggregate_and_compute(found).score)}


def _check_sacrebleu() -> None:
    check_extra("metrics", "sacrebleu", "comparing candidates with references")
