"""Texts that a scorer sees nothing of, such as Chinese for ROUGE: they have no number."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from nnd.metric.other_metrics.scorers.scorer import Text, TextScorer, unread


def reads_none(scorer: TextScorer, texts: Sequence[Text]) -> bool:
    """Return whether a scorer cannot read any of some texts."""
    return bool(texts) and None not in unread(scorer, texts)


def describe_unread(scorers: Iterable[TextScorer], texts: Sequence[Text]) -> Iterator[str]:
    """Yield a sentence for each reason for which a scorer has no number, and for how many texts."""
    for scorer in scorers:
        for reason, n in Counter(filter(None, unread(scorer, texts))).items():
            which = "these candidates" if n == len(texts) else f"{n:,} of {len(texts):,} candidates"
            yield f"{scorer.name} is not available for {which}: {reason}."
