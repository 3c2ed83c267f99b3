"""Which 95 % interval is shown beside a pass rate (`results.Rate.to_dict`)."""

from collections.abc import Mapping, Sequence
from typing import Any

WILSON = "*: Wilson's interval, tests taken for independent, as resampling contexts has no width"
"""What `rate_and_interval` means by a star."""


def has_no_width(rate: Mapping[str, Any]) -> bool:
    """Whether every resample gave the same rate, as where all tests pass: that is no certainty."""
    return rate["interval"] is not None and rate["interval"][0] == rate["interval"][1]


def interval_of(rate: Mapping[str, Any]) -> Sequence[float] | None:
    """Return the interval to show: the bootstrap's, or Wilson's where that has no width."""
    bounds: Sequence[float] | None = rate["wilson" if has_no_width(rate) else "interval"]
    return bounds


def percent(share: float) -> str:
    """Return a share in per cent, with a decimal."""
    return f"{100 * share:.1f}"


def rate_and_interval(rate: Mapping[str, Any]) -> str:
    """Return a pass rate, which there must be, in per cent with its interval (`WILSON`)."""
    bounds = interval_of(rate)
    told = "" if bounds is None else f" [{percent(bounds[0])}, {percent(bounds[1])}]"
    return f"{percent(rate['pass_rate'])}{told}{'*' if has_no_width(rate) else ''}"
