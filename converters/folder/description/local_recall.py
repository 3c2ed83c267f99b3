"""Local recall: which words of the references candidates have.

Van Miltenburg, Elliott, Vossen (2018), Measuring the diversity of automatic image descriptions.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from nnd.converters.folder.description.shared_ngrams import Counts, shared_words
from nnd.converters.folder.description.word_tokens import tokens_13a


class Recalled(NamedTuple):
    """The words of a candidate's references.

    Attributes:
        k: The number of references that have the word, for each.
        is_held: Whether the candidate has it.
        most: The number of references.
    """

    k: Counts
    is_held: npt.NDArray[np.bool_]
    most: int


def recall_words(
    texts: Iterable[str],
) -> Callable[[Sequence[str], Sequence[str]], list[Recalled]]:
    """Return a function of candidates and the references of all of them, which are among `texts`.

    Words are the types of a text's 13a tokens in lower case.
    """
    distinct = list(dict.fromkeys(texts))
    tokens = tokens_13a(pl.Series(distinct, dtype=pl.String)).to_list()
    words = dict(zip(distinct, tokens, strict=True))

    def recall(candidates: Sequence[str], references: Sequence[str]) -> list[Recalled]:
        own, others = ([words[text] for text in texts] for texts in (candidates, references))
        ours, theirs = next(shared_words(own, others, 1))
        k = (theirs > 0).sum(axis=0)
        return [Recalled(k, own > 0, len(references)) for own in ours]

    return recall


def local_recall(recalled: Sequence[Recalled]) -> dict[str, dict[int, float | None]]:
    """Return, for k = 1, 2 …, the share of the words of exactly k references that candidates have.

    All candidates are taken together: words in the candidate / all such words. Words that all
    references have matter most. k goes up to the largest number of references; the share is None if
    no word is in exactly k.
    """
    k, is_held, every = zip(*recalled, strict=True)
    most = max(every)
    counted = [np.concatenate(k), np.concatenate(k)[np.concatenate(is_held)]]
    total, held = (np.bincount(each, minlength=most + 1).tolist() for each in counted)
    shares = {n: held[n] / total[n] if total[n] else None for n in range(1, most + 1)}
    return {"local_recall": shares}
