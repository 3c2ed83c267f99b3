"""Means over datasets, in which each dataset counts once, however many tests it has."""

from collections.abc import Mapping, Sequence

EACH_ONCE = "each counting once"


def mean_over(datasets: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """Return name → mean over datasets, of the names that all datasets have.

    Args:
        datasets: Of each dataset, at least one, name → number.

    Returns:
        None for a name whose number is None in some dataset: its mean would be over fewer.
    """
    first, *others = datasets
    means: dict[str, float | None] = {}
    for name in first:
        if all(name in each for each in others):
            numbers = [number for each in datasets if (number := each[name]) is not None]
            whole = len(numbers) == len(datasets)
            means[name] = sum(numbers) / len(datasets) if whole else None
    return means
