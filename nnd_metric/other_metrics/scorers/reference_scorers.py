"""Scorers that compare a candidate with references: ROUGE, BLEU, chrF, BERTScore, by libraries.

Each library compares one candidate with one reference; several references count by their maximum,
their mean, or the first one. Repeated references and candidates are compared once. Languages:
rouge-score reads ASCII letters and digits only, so ROUGE has no number if most letters of a text or
its reference are others; BLEU cuts words as fits the language (`word_cutting`).
"""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib.metadata import version
from types import SimpleNamespace
from typing import Final, Literal, TypeAlias, TypeVar, get_args

from tqdm import tqdm

from nnd.metric.numbers import mean_defined
from nnd.metric.other_metrics.scorers.scorer import Text, TextScorer
from nnd.metric.other_metrics.scorers.word_cutting import lacks_tokenizer, tokenizer_of
from nnd.schemas import ScoringError, check_extra, check_known, is_mostly_ascii

Several: TypeAlias = Literal["max", "mean", "first"]
"""How several references count: by the best one, their mean, or the first one."""

BERTSCORE: Final = "bertscore"
ENGLISH_BERT: Final = "roberta-large"
"""The model of BERTScore by default."""

_Group = TypeVar("_Group", bound=Hashable)

Compare: TypeAlias = Callable[[Sequence[tuple[str, str]]], Sequence[float | None]]
"""Function from (reference, candidate) to one number each, or None."""


def against_references(
    compare: Compare, texts: Sequence[Text], several: Several = "max"
) -> list[float | None]:
    """Compare every candidate with its references, each distinct (reference, candidate) once.

    There is one number per text, over its references the "max", the "mean" or that of the "first";
    None without a reference that gives a number.
    """
    check_several(several)
    if several == "first":
        texts = [text._replace(references=text.references[:1]) for text in texts]
    wanted = list(dict.fromkeys((ref, text.candidate) for text in texts for ref in text.references))
    numbers = dict(zip(wanted, compare(wanted), strict=True))
    combine = mean_defined if several == "mean" else _highest
    return [combine([numbers[ref, text.candidate] for ref in text.references]) for text in texts]


def by_group(
    texts: Sequence[Text],
    groups: Sequence[_Group],
    score: Callable[[_Group, Sequence[Text]], Sequence[float | None]],
) -> list[float | None]:
    """Score the texts of each group on their own; `groups` has that of each text."""
    numbers: list[float | None] = [None] * len(texts)
    for group in dict.fromkeys(groups):
        places = [place for place, its in enumerate(groups) if its == group]
        own = score(group, [texts[place] for place in places])
        for place, number in zip(places, own, strict=True):
            numbers[place] = number
    return numbers


def check_several(several: str) -> None:
    """Check how several references count."""
    what, code = "way to count several references", "option.unknown-value"
    check_known(what, [several], get_args(Several), code=code, family=ScoringError)


def reference_scorer(name: str, compare: Compare, definition: str, several: Several) -> TextScorer:
    """Return a scorer that compares every candidate with its references by a function."""
    return TextScorer(
        name,
        lambda texts: against_references(compare, texts, several),
        f"{definition}; {over(several)}",
        needs_references=True,
    )


def over(several: Several) -> str:
    """Say how several references count."""
    return "first reference" if several == "first" else f"{several} over references"


def _highest(numbers: Sequence[float | None]) -> float | None:
    return max((number for number in numbers if number is not None), default=None)


def rouge(kind: str, several: Several = "max") -> TextScorer:
    """Return ROUGE F1 of the library rouge-score with its stemmer.

    Lin (2004), ROUGE: a package for automatic evaluation of summaries. A candidate without a word
    has 0, as in the library.

    Args:
        kind: rouge1, rouge2, rouge3 (n-grams) or rougeL (longest common subsequence of the whole).
        several: How several references count.
    """

    def load() -> Callable[[str, str], float]:
        from rouge_score.rouge_scorer import RougeScorer  # noqa: PLC0415 - its nltk takes a second
        from rouge_score.tokenizers import DefaultTokenizer  # noqa: PLC0415

        # Stemming is most of the work, and every text is in several comparisons.
        tokenize = cache(DefaultTokenizer(use_stemmer=True).tokenize)
        scorer = RougeScorer([kind], tokenizer=SimpleNamespace(tokenize=tokenize))
        return lambda reference, candidate: float(scorer.score(reference, candidate)[kind].fmeasure)

    check_extra("metrics", "rouge_score", kind)
    definition = f"F1, rouge-score {version('rouge-score')}, with stemmer"
    scorer = _comparing(kind, load, definition, several)
    return replace(scorer, cannot_read=_not_ascii)


def _not_ascii(texts: Sequence[Text]) -> list[str | None]:
    """Return why ROUGE sees nothing: of a language with few ASCII letters, or of a text in none."""
    is_seen = [all(map(is_mostly_ascii, (text.candidate, *text.references))) for text in texts]
    total, seen = Counter[str | None](), Counter[str | None]()
    for text, sees in zip(texts, is_seen, strict=True):
        total[text.language] += 1
        seen[text.language] += sees
    why = "rouge-score keeps only the letters a to z and digits of a text"
    return [
        None if (sees if (of := text.language) is None else 2 * seen[of] >= total[of]) else why
        for text, sees in zip(texts, is_seen, strict=True)
    ]


def bleu(several: Several = "max") -> TextScorer:
    """Return sentence BLEU of sacrebleu, 0 to 100: Papineni et al. (2002), smoothed, to 4-grams.

    Texts are cut into words by sacrebleu's tokenizer for their language (`word_cutting`).
    """
    used = Counter[str]()

    def score(texts: Sequence[Text]) -> list[float | None]:
        names = [tokenizer_of(text) for text in texts]
        used.clear()
        used.update(names)
        return by_group(texts, names, score_cut)

    def score_cut(name: str, own: Sequence[Text]) -> list[float | None]:
        # Effective order: a sentence may have fewer than four words.
        load = partial(_sacrebleu, "bleu", effective_order=True, tokenize=name)
        return against_references(_one_by_one("bleu", load), own, several)

    def made_with() -> str:
        if not used.keys() - {"13a"}:  # the default
            return ""
        return f"tokenizer {', '.join(f'{name} ({n:,} texts)' for name, n in used.items())}"

    return TextScorer(
        "bleu",
        score,
        f"{_define_sacrebleu('bleu', 'BLEU')}; {over(several)}",
        needs_references=True,
        cannot_read=lacks_tokenizer,
        made_with=made_with,
    )


def chrf(several: Several = "max") -> TextScorer:
    """Return sentence chrF2 of sacrebleu, 0 to 100: Popović (2015), characters, no words."""
    definition = _define_sacrebleu("chrf", "chrF2")
    return _comparing("chrf", partial(_sacrebleu, "chrf"), definition, several)


def _define_sacrebleu(name: str, what: str) -> str:
    check_extra("metrics", "sacrebleu", name)
    return f"sentence {what}, sacrebleu {version('sacrebleu')}, defaults"


def _sacrebleu(name: str, **options: bool | str) -> Callable[[str, str], float]:
    from sacrebleu.metrics import METRICS  # noqa: PLC0415

    metric = METRICS[name.upper()](**options)
    return lambda reference, candidate: metric.sentence_score(candidate, [reference]).score


def _comparing(
    name: str, load: Callable[[], Callable[[str, str], float]], definition: str, several: Several
) -> TextScorer:
    """Return a scorer that loads its library at first use."""
    return reference_scorer(name, _one_by_one(name, load), definition, several)


def _one_by_one(name: str, load: Callable[[], Callable[[str, str], float]]) -> Compare:
    def compare(pairs: Sequence[tuple[str, str]]) -> list[float | None]:
        one = load()
        return [one(*pair) for pair in tqdm(pairs, desc=name, disable=None, leave=False)]

    return compare


def bertscore(
    model: str = ENGLISH_BERT, *, layer: int | None = None, several: Several = "max"
) -> TextScorer:
    """Return BERTScore F1 of the library bert-score: Zhang et al. (2020), no baseline, no idf.

    A blank candidate or reference has no score.

    Args:
        model: Hub id or folder of an encoder.
        layer: The layer to compare; None means bert-score's choice for the model.
        several: How several references count.

    Raises:
        ScoringError: When used, if bert-score is not installed or knows no layer for the model.
    """

    def compare(pairs: Sequence[tuple[str, str]]) -> list[float | None]:
        whole = [pair for pair in pairs if all(text.strip() for text in pair)]
        found = dict(zip(whole, _bert_f1(model, layer, whole), strict=True)) if whole else {}
        return [found.get(pair) for pair in pairs]

    definition = f"BERTScore F1, {model}, layer {'by default' if layer is None else layer}"
    return reference_scorer(f"{BERTSCORE}={model}", compare, definition, several)


def _bert_f1(model: str, layer: int | None, pairs: Sequence[tuple[str, str]]) -> list[float]:
    check_extra("bertscore", "bert_score", "bertscore")
    from bert_score import BERTScorer  # noqa: PLC0415 - optional, and it loads torch

    from nnd.metric.likelihood import loading_alone  # noqa: PLC0415 - as above

    try:
        with loading_alone():
            scorer = BERTScorer(model_type=model, num_layers=layer)
    except KeyError as error:
        raise ScoringError(
            "scorer.cannot-load",
            f"bert-score has no default layer for {model}",
            remedy="name another model, such as roberta-large, or pass layer= in Python",
        ) from error
    except (OSError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise ScoringError(
            "scorer.cannot-load", f"cannot be loaded for BERTScore: {reason}", model
        ) from error
    references, candidates = zip(*pairs, strict=True)
    _, _, f1 = scorer.score(list(candidates), list(references))
    return [float(number) for number in f1]
