"""Pass rates with their 95 % intervals as text."""

from collections.abc import Mapping
from typing import Any

ALL_AGREE = "*: all contexts agree; Wilson's interval, each context counted as one test"
"""Meaning of the star of `rate_and_interval`."""


def do_all_agree(rate: Mapping[str, Any]) -> bool:
    """Whether all tests of a rate pass or all fail, so that each context counts as one test."""
    return rate["interval"] is not None and rate["pass_rate"] in {0, 1}


def percent(share: float) -> str:
    """Return a share in per cent with one decimal, without the sign."""
    return f"{100 * share:.1f}"


def tests_of(n: int, n_whole: int | None) -> str:
    """Return a number of tests, and of how many if they are only a part of the data."""
    return f"{n:,} of {n_whole:,} tests" if n_whole is not None and n_whole > n else f"{n:,} tests"


def rate_and_interval(rate: Mapping[str, Any]) -> str:
    """Return a pass rate in per cent with its interval, and a star if all contexts agree.

    Args:
        rate: `Rate.to_dict()` of a rate with tests.
    """
    bounds = rate["interval"]
    interval = "" if bounds is None else f" [{percent(bounds[0])}, {percent(bounds[1])}]"
    return f"{percent(rate['pass_rate'])}{interval}{'*' if do_all_agree(rate) else ''}"
