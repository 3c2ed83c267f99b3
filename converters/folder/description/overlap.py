"""How similar candidates are to references: BLEU, chrF, ROUGE and local recall of a whole set."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import fsum
from typing import Any, Literal, TypeAlias

import polars as pl
from tqdm import tqdm

from nnd.converters.folder.description.rouge import KINDS, Rouge, best_rouge
from nnd.converters.folder.description.word_tokens import tokens_13a
from nnd.schemas import check_extra

References: TypeAlias = Sequence[Sequence[str]]
"""The references of each candidate: at least one."""

Measure: TypeAlias = Callable[[Sequence[str], References], Mapping[str, Any]]
"""(candidates, references of each) → name → number of all candidates together."""


def overlap_measures() -> Iterator[Measure]:
    """Yield ROUGE, BLEU, chrF and local recall; the first three remember the texts they compare.

    Take one after another for all texts: then only one holds the n-grams of its texts in memory.
    """
    yield partial(rouge_scores, best_rouge())
    yield partial(corpus_score, "bleu", sacrebleu_measure("bleu"))
    yield partial(corpus_score, "chrf", sacrebleu_measure("chrf"))
    yield lambda *texts: {"local_recall": local_recall(*texts)}


def sacrebleu_measure(name: Literal["bleu", "chrf"]) -> Any:  # noqa: ANN401 - BLEU or CHRF
    """Return BLEU, lower-cased, or chrF2 of sacrebleu, which remembers the texts it compared."""
    check_extra("metrics", "sacrebleu", "comparing candidates with references")
    from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415 - slow, and few data have references
    from sacrebleu.metrics.chrf import CHRF  # noqa: PLC0415

    if name == "bleu":
        return _once_each(BLEU(lowercase=True, force=True))
    chrf: Any = CHRF()
    # Its own loop over all n-grams of a candidate takes half of the time.
    chrf._get_match_statistics = _in_common  # noqa: SLF001
    return _once_each(chrf)


def _in_common(ours: Counter[str], theirs: Counter[str]) -> list[int]:
    """Count n-grams of a candidate (0 if the reference has none), of a reference, and of both."""
    common = ours.keys() & theirs.keys()
    matches = sum(map(min, map(ours.__getitem__, common), map(theirs.__getitem__, common)))
    return [sum(ours.values()) if theirs else 0, sum(theirs.values()), matches]


def corpus_score(
    name: str,
    measure: Any,  # noqa: ANN401 - of sacrebleu
    candidates: Sequence[str],
    references: References,
) -> dict[str, float]:
    """Return the corpus score of BLEU or chrF, 0 to 100, by its name.

    Papineni et al. (2002), Post (2018); Popović (2015). Both use all
    references of a candidate at once.
    """
    most = max(map(len, references))
    streams = [[own[n] if n < len(own) else None for own in references] for n in range(most)]
    return {name: float(measure.corpus_score(candidates, streams).score)}


def _once_each(measure: Any) -> Any:  # noqa: ANN401 - either of them
    """Let sacrebleu count references once for all their candidates, and candidates once."""
    # There is no public way: it caches the references of a corpus by their order.
    measure._extract_reference_info = _remembering(  # noqa: SLF001
        measure._extract_reference_info,  # noqa: SLF001
        tuple,
    )
    measure._compute_segment_statistics = _remembering(  # noqa: SLF001
        measure._compute_segment_statistics,  # noqa: SLF001
        lambda text, counts: (text, id(counts)),  # those of references are kept
    )
    return measure


def _remembering(compute: Callable[..., Any], key_of: Callable[..., Any]) -> Callable[..., Any]:
    known: dict[Any, Any] = {}

    def compute_once(*arguments: Any) -> Any:  # noqa: ANN401 - whatever sacrebleu passes
        key = key_of(*arguments)
        if key not in known:
            known[key] = compute(*arguments)
        return known[key]

    return compute_once


def rouge_scores(
    rouge: Rouge, candidates: Sequence[str], references: References
) -> dict[str, float]:
    """Return the means of the scores of `best_rouge` over all candidates."""
    each = zip(candidates, references, strict=True)
    shown = tqdm(each, desc="ROUGE", total=len(candidates), disable=None, leave=False)
    best = [rouge(candidate, tuple(own)) for candidate, own in shown]
    return {name: fsum(each[name] for each in best) / len(best) for name in KINDS}


def local_recall(candidates: Sequence[str], references: References) -> dict[int, float | None]:
    """Return, for k = 1, 2 …, the share of the words of exactly k references that candidates have.

    Words are the types of a text's 13a tokens in lower case, and all candidates are taken together:
    words in the candidate / all such words. Words that all references have matter most. Van
    Miltenburg, Elliott, Vossen (2018), Measuring the diversity of automatic image descriptions.

    k goes up to the largest number of references; the share is None if no word is in exactly k.
    """
    total, held = Counter[int](), Counter[int]()
    texts = list({*candidates, *(text for own in references for text in own)})
    tokens = tokens_13a(pl.Series(texts, dtype=pl.String)).to_list()
    types = dict(zip(texts, map(frozenset, tokens), strict=True))
    for candidate, own in zip(candidates, references, strict=True):
        words = types[candidate]
        for word, k in Counter(word for text in own for word in types[text]).items():
            total[k] += 1
            held[k] += word in words
    most = max(map(len, references))
    return {k: held[k] / total[k] if total[k] else None for k in range(1, most + 1)}
