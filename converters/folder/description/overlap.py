"""How similar candidates are to references: ROUGE, BLEU, chrF and local recall of a whole set.

Candidates with the same references are compared together, and each distinct one once.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import fsum
from typing import Any, TypeAlias, TypeVar

from tqdm import tqdm

from nnd.converters.folder.description.local_recall import local_recall, recall_words
from nnd.converters.folder.description.rouge import RougeScores, best_rouge
from nnd.converters.folder.description.sacrebleu_scores import corpus_bleu, corpus_chrf

Compared: TypeAlias = tuple[str, tuple[str, ...]]
"""A candidate and its references: at least one."""

Group: TypeAlias = tuple[Sequence[str], tuple[str, ...]]
"""Distinct candidates, and the references that all of them have."""

Measure: TypeAlias = tuple[
    Callable[[Sequence[str], Sequence[str]], Sequence[Any]],
    Callable[[Sequence[Any]], Mapping[str, Any]],
]
"""Function from a group to statistics of each candidate, and function from statistics of many
candidates to the numbers of all of them together, by name."""

Side = TypeVar("Side")

MOST_TOGETHER = 64
"""Most candidates of a group, which bounds the tables of its n-grams."""


def measure_overlap(sides: Mapping[Side, Sequence[Compared]]) -> dict[Side, dict[str, Any]]:
    """Return the measures of the candidates of each side, which has at least one."""
    groups = _groups(each for compared in sides.values() for each in compared)
    scores: dict[Side, dict[str, Any]] = {side: {} for side in sides}
    for compare, combine in _measures(groups):
        found: dict[Compared, Any] = {}
        for candidates, references in tqdm(groups, desc="overlap", disable=None, leave=False):
            statistics = compare(candidates, references)
            found |= zip(((text, references) for text in candidates), statistics, strict=True)
        for side, compared in sides.items():
            scores[side] |= combine([found[each] for each in compared])
    return scores


def _groups(compared: Iterable[Compared]) -> list[Group]:
    together = defaultdict[tuple[str, ...], dict[str, None]](dict)
    for candidate, references in compared:
        together[references][candidate] = None
    return [
        (list(candidates)[start : start + MOST_TOGETHER], references)
        for references, candidates in together.items()
        for start in range(0, len(candidates), MOST_TOGETHER)
    ]


def _measures(groups: Sequence[Group]) -> Iterator[Measure]:
    yield best_rouge(), _mean_rouge
    yield corpus_bleu()
    yield corpus_chrf()
    yield recall_words(text for group in groups for own in group for text in own), local_recall


def _mean_rouge(best: Sequence[RougeScores | None]) -> dict[str, float | None]:
    """Return the means over candidates that ROUGE can read; None if these are the minority."""
    known = [each for each in best if each is not None]
    if 2 * len(known) < len(best):
        return dict.fromkeys(RougeScores._fields)
    means = (fsum(each) / len(known) for each in zip(*known, strict=True))
    return dict(zip(RougeScores._fields, means, strict=True))
