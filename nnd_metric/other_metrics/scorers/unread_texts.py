"""Texts that a scorer sees nothing of, such as Chinese for ROUGE: they have no number."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from nnd.metric.other_metrics.scorers.reference_scorers import BERTSCORE, ENGLISH_BERT
from nnd.metric.other_metrics.scorers.scorer import Text, TextScorer, unread
from nnd.schemas import is_mostly_ascii


def reads_none(scorer: TextScorer, texts: Sequence[Text]) -> bool:
    """Return whether a scorer cannot read any of some texts."""
    return bool(texts) and None not in unread(scorer, texts)


def describe_unread(scorers: Iterable[TextScorer], texts: Sequence[Text]) -> Iterator[str]:
    """Yield a sentence for each reason for which a scorer has no number, and for how many texts."""
    for scorer in scorers:
        for reason, n in Counter(filter(None, unread(scorer, texts))).items():
            which = "these candidates" if n == len(texts) else f"{n:,} of {len(texts):,} candidates"
            yield f"{scorer.name} is not available for {which}: {reason}."


def describe_english(scorers: Iterable[TextScorer], texts: Sequence[Text]) -> Iterator[str]:
    """Yield a sentence if BERTScore reads texts of other languages with its English default."""
    other = [text.language for text in texts if not _may_be_english(text)]
    for scorer in scorers:
        if other and scorer.name == f"{BERTSCORE}={ENGLISH_BERT}":
            yield (
                f"{scorer.name} reads English, but {len(other):,} of {len(texts):,} candidates are "
                f"in other languages; name a multilingual model, such as "
                f"{BERTSCORE}=xlm-roberta-large."
            )


def _may_be_english(text: Text) -> bool:
    if text.language is None:
        return is_mostly_ascii(text.candidate)
    return text.language.lower().split("-")[0] in ("en", "eng", "und")
