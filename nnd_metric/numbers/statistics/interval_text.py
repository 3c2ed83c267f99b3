"""Pass rates with their 95 % intervals as text."""

ALL_AGREE = "*: all contexts agree; Wilson's interval, each context counted as one test"
"""Meaning of the star of `rate_and_interval`."""


def do_all_agree(pass_rate: float | None, interval: tuple[float, float] | None) -> bool:
    """Whether all tests of a rate pass or all fail, so that each context counts as one test."""
    return interval is not None and pass_rate in {0, 1}


def percent(share: float) -> str:
    """Return a share in per cent with one decimal, without the sign."""
    return f"{100 * share:.1f}"


def tests_of(n: int, n_whole: int | None) -> str:
    """Return a number of tests, and of how many if they are only a part of the data."""
    return f"{n:,} of {n_whole:,} tests" if n_whole is not None and n_whole > n else f"{n:,} tests"


def in_brackets(bounds: tuple[float, float] | None) -> str:
    """Return an interval in per cent as ` [40.0, 60.0]`, or "" for none."""
    return "" if bounds is None else f" [{percent(bounds[0])}, {percent(bounds[1])}]"


def rate_and_interval(pass_rate: float, interval: tuple[float, float] | None) -> str:
    """Return a pass rate in per cent with its interval, and a star if all contexts agree."""
    star = "*" if do_all_agree(pass_rate, interval) else ""
    return f"{percent(pass_rate)}{in_brackets(interval)}{star}"
