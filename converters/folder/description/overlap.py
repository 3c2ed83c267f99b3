"""How similar candidates are to references: BLEU, chrF, ROUGE and local recall of a whole set."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import fsum
from types import SimpleNamespace
from typing import TypeAlias

import polars as pl
from tqdm import tqdm

from nnd.converters.folder.description.word_tokens import tokens_13a
from nnd.schemas import check_extra

References: TypeAlias = Sequence[Sequence[str]]
"""The references of each candidate: at least one."""

_ROUGE = {"rouge1": "rouge_1", "rouge2": "rouge_2", "rougeL": "rouge_l"}


Rouge: TypeAlias = Callable[[str, tuple[str, ...]], Mapping[str, float]]
"""(candidate, its references) → name → F1."""


def corpus_scores(candidates: Sequence[str], references: References) -> dict[str, float]:
    """Return corpus BLEU, lower-cased, and chrF2 of sacrebleu, 0 to 100.

    Papineni et al. (2002), Post (2018); Popović (2015). Both use all
    references of a candidate at once.
    """
    check_extra("metrics", "sacrebleu", "comparing candidates with references")
    from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415 - slow, and few data have references
    from sacrebleu.metrics.chrf import CHRF  # noqa: PLC0415

    most = max(map(len, references))
    streams = [[own[n] if n < len(own) else None for own in references] for n in range(most)]
    return {
        "bleu": BLEU(lowercase=True, force=True).corpus_score(candidates, streams).score,  # type: ignore[arg-type]
        "chrf": CHRF().corpus_score(candidates, streams).score,  # type: ignore[arg-type]
    }


def best_rouge() -> Rouge:
    """Return a function for ROUGE-1, ROUGE-2 and ROUGE-L: the F1 with the best reference.

    Lin (2004), by rouge-score with its stemmer, which reads ASCII letters and digits only. Results
    are cached, because many candidates are on both sides.
    """
    check_extra("metrics", "rouge_score", "comparing candidates with references")
    from rouge_score.rouge_scorer import RougeScorer  # noqa: PLC0415 - its nltk takes a second
    from rouge_score.tokenizers import DefaultTokenizer  # noqa: PLC0415

    tokenize = cache(DefaultTokenizer(use_stemmer=True).tokenize)
    scorer = RougeScorer(list(_ROUGE), tokenizer=SimpleNamespace(tokenize=tokenize))

    @cache
    def best(candidate: str, references: tuple[str, ...]) -> dict[str, float]:
        found = scorer.score_multi(references, candidate)
        return {name: float(found[kind].fmeasure) for kind, name in _ROUGE.items()}

    return best


def rouge_scores(
    candidates: Sequence[str], references: References, rouge: Rouge
) -> dict[str, float]:
    """Return the means of the scores of `best_rouge` over all candidates."""
    each = zip(candidates, references, strict=True)
    shown = tqdm(each, desc="ROUGE", total=len(candidates), disable=None, leave=False)
    best = [rouge(candidate, tuple(own)) for candidate, own in shown]
    return {name: fsum(each[name] for each in best) / len(best) for name in _ROUGE.values()}


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
