"""What intervals are over, in words: contexts, or what several of them share."""

from nnd.metric.numbers.rates.pass_rates import Rate
from nnd.metric.numbers.statistics.context_intervals import FEW_CONTEXTS
from nnd.schemas import counted


def over_clusters(rate: Rate, name: str | None) -> str:
    """Return " over 22 paragraphs", where the data says that contexts share some; else "".

    `name` is what the data calls them, such as paragraph, or None if it is not known.
    """
    if not _has_level(rate, name):
        return ""
    return f" over {counted(rate.clusters, name or 'cluster')}"


def few_clusters(rate: Rate, name: str | None) -> str | None:
    """Return a sentence on how far intervals can be trusted, if there are few clusters."""
    if not _has_level(rate, name) or not 0 < rate.clusters < FEW_CONTEXTS:
        return None
    found = counted(rate.clusters, name or "cluster")
    if rate.clusters == 1:
        return f"the tests come from {found}, which does not show how much others would differ"
    return (
        f"the tests come from only {found}; with fewer than {FEW_CONTEXTS}, intervals are rough, "
        "and those of differences may cover less than 90 % instead of 95 %"
    )


def _has_level(rate: Rate, name: str | None) -> bool:
    return name is not None or 0 < rate.clusters < rate.contexts
