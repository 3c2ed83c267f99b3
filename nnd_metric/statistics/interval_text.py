"""Pass rates with their 95 % intervals, as text (`results.Rate.to_dict`)."""

from collections.abc import Mapping
from typing import Any

ALL_AGREE = "*: all contexts agree; Wilson's interval, each context counted as one test"
"""What `rate_and_interval` means by a star."""


def do_all_agree(rate: Mapping[str, Any]) -> bool:
    """Whether all tests pass or all fail, so that the interval is that of one test per context."""
    return rate["interval"] is not None and rate["pass_rate"] in {0, 1}


def percent(share: float) -> str:
    """Return a share in per cent, with a decimal."""
    return f"{100 * share:.1f}"


def rate_and_interval(rate: Mapping[str, Any]) -> str:
    """Return a pass rate, which there must be, in per cent with its interval (`ALL_AGREE`)."""
    bounds = rate["interval"]
    told = "" if bounds is None else f" [{percent(bounds[0])}, {percent(bounds[1])}]"
    return f"{percent(rate['pass_rate'])}{told}{'*' if do_all_agree(rate) else ''}"
