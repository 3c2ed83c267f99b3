"""Cells that several tables have in common."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nnd.metric.numbers import percent, rate_and_interval

NOTHING = "n/a"

TITLES = {
    "by_error_category": "error category",
    "by_error_group": "error group",
    "by_aspect": "aspect",
    "by_category": "context category",
    "by_split": "split",
}
"""Key of a result → title of its slices."""


def slices(results: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield key and title of slices with several values, unless they repeat earlier slices.

    For example, sources without error labels use their aspects as error categories.

    Args:
        results: Results on the same pairs, with the keys of TITLES, of which some may be missing.
    """
    seen = []
    for key, title in TITLES.items():
        counts = [
            sorted((rate["n"], rate["passes"]) for rate in each.get(key, {}).values())
            for each in results
        ]
        if len(results[0].get(key, {})) > 1 and counts not in seen:
            seen.append(counts)
            yield key, title


def share(value: float | None) -> str:
    """Return a share in per cent, without the sign."""
    return NOTHING if value is None else percent(value)


def number(value: float | None) -> str:
    """Return a correlation with three decimals."""
    return NOTHING if value is None else f"{value:.3f}"


def pass_rate(rates: Mapping[str, Any]) -> str:
    """Return a pass rate in per cent with its interval."""
    return NOTHING if rates["pass_rate"] is None else rate_and_interval(rates)


def p_value(value: float | None) -> str:
    """Return a p-value with four decimals."""
    if value is None:
        return NOTHING
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"  # noqa: PLR2004


def points(difference: float | None, interval: Sequence[float] | None) -> str:
    """Return a difference of pass rates in percentage points with its interval."""
    if difference is None:
        return NOTHING
    if interval is None:
        return f"{100 * difference:+.1f}"
    low, high = interval
    return f"{100 * difference:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"
