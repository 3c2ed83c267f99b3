"""How far intervals over few clusters of contexts can be trusted, in words."""

from nnd.schemas.words.texts import counted

FEW_CLUSTERS = 10
"""With fewer, 95 % intervals of differences may cover less than 90 %."""

_TOO_FEW = 5
"""Clusters with which the p of sign flips is at least 2 / 2^5, above 0.05."""


def few_clusters_in_words(n: int, name: str | None, of: str = "tests") -> str | None:
    """Return how far intervals over n clusters can be trusted; None for 0, or enough of them.

    `name` is what the data calls them, such as paragraph, and `of` is what comes from them.
    """
    if not 0 < n < FEW_CLUSTERS:
        return None
    found = counted(n, name or "cluster")
    if n == 1:
        return f"the {of} come from {found}, which does not show how much others would differ"
    never = "" if n > _TOO_FEW else ", and two models cannot differ significantly"
    return (
        f"the {of} come from only {found}; with fewer than {FEW_CLUSTERS}, intervals are rough, "
        f"and those of differences may cover less than 90 % instead of 95 %{never}"
    )
