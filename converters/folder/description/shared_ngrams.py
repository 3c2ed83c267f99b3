"""N-grams that candidates share with their references, counted for all of them together.

The libraries count the n-grams of two texts at a time, in dictionaries.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]


def shared_words(
    candidates: Sequence[Sequence[str]], references: Sequence[Sequence[str]], most: int
) -> Iterator[tuple[Counts, Counts]]:
    """Return what `shared_ngrams` yields, of the words of texts."""
    codes: dict[str, int] = {}
    ours, theirs = (
        [np.array([codes.setdefault(word, len(codes)) for word in text], int) for text in texts]
        for texts in (candidates, references)
    )
    return shared_ngrams(ours, theirs, most)


def character_codes(text: str) -> Counts:
    """Return the code points of a text."""
    points = text.encode("utf-32-le")
    return np.frombuffer(points, np.uint32).astype(np.int64)


def shared_ngrams(
    candidates: Sequence[Counts], references: Sequence[Counts], most: int
) -> Iterator[tuple[Counts, Counts]]:
    """Yield, for n = 1 … `most`, how often each text has each n-gram of the references.

    Args:
        candidates: The codes of the words or characters of each candidate.
        references: Those of each reference.
        most: The largest n.

    Yields:
        Counts of candidates, [candidates, n-grams], and of references, [references, n-grams].
    """
    texts = [*references, *candidates]
    sizes = [len(text) for text in texts]
    owner = np.repeat(np.arange(len(texts)), sizes)
    codes, unit = np.unique(np.concatenate(texts), return_inverse=True)
    start, ngram, types = np.arange(len(unit)), unit, len(codes)
    after = np.cumsum(sizes)
    for n in range(1, most + 1):
        # What begins with an n-gram that no reference has is in none either.
        is_shared = np.zeros(types, bool)
        is_shared[ngram[owner < len(references)]] = True
        kept = is_shared[ngram]
        start, owner = start[kept], owner[kept]
        ngram = (np.cumsum(is_shared) - 1)[ngram[kept]]
        types = int(is_shared.sum())
        cells = np.bincount(owner * types + ngram, minlength=len(texts) * types)
        counts = cells.reshape(len(texts), types)
        yield counts[len(references) :], counts[: len(references)]

        goes_on = start + n < after[owner]
        start, owner = start[goes_on], owner[goes_on]
        longer = ngram[goes_on] * len(codes) + unit[start + n]
        found, ngram = np.unique(longer, return_inverse=True)
        types = len(found)


def in_common(candidates: Counts, references: Counts) -> Counts:
    """Return how many n-grams each candidate has in common with each reference.

    [candidates, n-grams] and [references, n-grams] → [candidates, references].
    """
    rows = [np.minimum(own, references).sum(axis=1) for own in candidates]
    return np.array(rows, int).reshape(len(candidates), len(references))
