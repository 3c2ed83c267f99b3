"""Means over datasets, in which all datasets have the same weight."""

from collections.abc import Mapping, Sequence

EACH_ONCE = "each counting once"
"""How headlines describe the weights of such a mean."""


def mean_over(datasets: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """Return the mean over datasets of each number that all datasets have.

    Args:
        datasets: For each dataset, of which there is at least one, name → number.

    Returns:
        Name → mean, or None if the number is None for some dataset.
    """
    first, *others = datasets
    means: dict[str, float | None] = {}
    for name in first:
        if all(name in each for each in others):
            numbers = [number for each in datasets if (number := each[name]) is not None]
            is_complete = len(numbers) == len(datasets)
            means[name] = sum(numbers) / len(datasets) if is_complete else None
    return means
