"""What intervals are over, in words: contexts, or what several of them share."""

from typing import NamedTuple, Protocol

import polars as pl

from nnd.metric.numbers.rates.context_sums import CLUSTER, HUMAN_CONTEXT
from nnd.schemas import counted, few_clusters_in_words


class OverClusters(Protocol):
    """A number whose interval is over clusters of contexts, such as a Rate."""

    @property
    def contexts(self) -> int:
        """Contexts with tests."""

    @property
    def clusters(self) -> int:
        """Clusters with tests; 0 in older results."""


class Levels(NamedTuple):
    """How many contexts and clusters of contexts some tests have."""

    contexts: int
    clusters: int


def levels_in(scored: pl.DataFrame) -> Levels:
    """Count the contexts and clusters of scored pairs."""
    contexts, clusters = (
        scored.select(pl.struct(key)).to_series().n_unique() for key in (HUMAN_CONTEXT, CLUSTER)
    )
    return Levels(contexts, clusters)


def over_clusters(number: OverClusters, name: str | None) -> str:
    """Return " over 22 paragraphs", where the data says that contexts share some; else "".

    `name` is what the data calls them, such as paragraph, or None if it is not known.
    """
    if not _has_level(number, name):
        return ""
    return f" over {counted(number.clusters, name or 'cluster')}"


def noun_of(number: OverClusters, name: str | None) -> str:
    """Return what an interval is over, in the singular: context, unless several share something."""
    return (name or "cluster") if _has_level(number, name) else "context"


def few_clusters(number: OverClusters, name: str | None) -> str | None:
    """Return a sentence on how far intervals can be trusted, if there are few clusters."""
    return few_clusters_in_words(number.clusters, name) if _has_level(number, name) else None


def _has_level(number: OverClusters, name: str | None) -> bool:
    return number.clusters > 0 and (name is not None or number.clusters < number.contexts)
