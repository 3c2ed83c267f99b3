"""Baselines for a pass rate, which do not look at the meaning of candidates.

    baseline        passes a test iff the good candidate
    shorter_wins    has fewer characters
    longer_wins     has more characters
    copy_wins       has the larger share of word bigrams copied from the context (`surface`)
    unconditional   is likelier to the same model without any context

As with models, equality is a failure and counted as a tie, and a test without one of the two
numbers is a failure and counted as unscored. There is no unconditional baseline where it would be
the model itself: where no likelihood changes without the context, because there is none.

A model's lead over a baseline is the difference of their pass rates on the same tests, with a
paired interval over contexts. Here every tie and unscored test of the baseline counts as half a
pass: a model does not know more than length only because it can decide at equal lengths. The
baseline is `ahead` if the lead is negative, `close` if the lead is not negative but its 95 %
interval includes 0 (or there is none), `behind` otherwise.

The model's pass rate is also given for tests in which length gives nothing away: those whose two
candidates differ by at most 10 % of the longer one's characters.
"""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import polars as pl

from nnd.metric.numbers.statistics.intervals import Interval, wilson

BASELINES: dict[str, tuple[pl.Expr, pl.Expr]] = {
    "shorter_wins": (-pl.col("characters_high"), -pl.col("characters_low")),
    "longer_wins": (pl.col("characters_high"), pl.col("characters_low")),
    "copy_wins": (pl.col("copied_high"), pl.col("copied_low")),
    "unconditional": (pl.col("ll_alone_high"), pl.col("ll_alone_low")),
}
"""The columns of each baseline for the good and the bad candidate; the larger number wins."""

MATCHED_WITHIN = 0.1
"""Share of the longer candidate's characters by which matched lengths may differ."""

FEW_TOKENS = 4
"""Below so many tokens, their number decides most tests in which a mean over them is compared.

Of the tests with a candidate of fewer tokens and another of a different number, the one with more
wins 96 % (Challenge 300) and 90 % (capitals as bare words) with SmolLM2-135M-Instruct. Such tests
are half of all there, at most 5 % in the other sources, and none if the capitals are sentences.
"""

_WIN, _TIE, _LOSS = 2, 1, 0
"""Half passes of a baseline; an undecided test counts as one."""

Verdict: TypeAlias = Literal["ahead", "close", "behind"]


@dataclass(frozen=True, slots=True)
class Baseline:
    """A baseline on some tests, compared with a model.

    Attributes:
        pass_rate: Its pass rate.
        ties: Tests failed with equal numbers.
        unscored: Tests failed because a number is missing.
        with_coin: Its pass rate if ties and unscored tests count half.
        lead: The model's pass rate minus `with_coin`.
        lead_interval: 95 % paired interval of the lead over contexts (`context_intervals`), or None
            where fewer than two have tests.
    """

    pass_rate: float
    ties: int
    unscored: int
    with_coin: float
    lead: float
    lead_interval: Interval | None

    @property
    def verdict(self) -> Verdict:
        """Whether the baseline is ahead of, close to, or behind the model (module docstring)."""
        if self.lead < 0:
            return "ahead"
        clear = self.lead_interval is not None and self.lead_interval[0] > 0
        return "behind" if clear else "close"

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {
            "pass_rate": self.pass_rate,
            "ties": self.ties,
            "unscored": self.unscored,
            "with_coin": self.with_coin,
            "lead": self.lead,
            "lead_interval": None if self.lead_interval is None else list(self.lead_interval),
            "verdict": self.verdict,
        }


@dataclass(frozen=True, slots=True)
class Matched:
    """A model's pass rate on the tests whose candidates match in length.

    Attributes:
        n: Number of such tests.
        passes: Number of tests passed.
        pass_rate: passes / n, or None where n is 0.
        interval: 95 % interval over contexts, or None where fewer than two have any.
        wilson: 95 % Wilson interval, or None where n is 0.
    """

    n: int
    passes: int
    pass_rate: float | None
    interval: Interval | None
    wilson: Interval | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {
            "pass_rate": self.pass_rate,
            "n": self.n,
            "passes": self.passes,
            "interval": None if self.interval is None else list(self.interval),
            "wilson": None if self.wilson is None else list(self.wilson),
        }


def judge(scored: pl.DataFrame) -> pl.DataFrame:
    """Add the verdict of every baseline, and whether lengths match.

    Args:
        scored: Rows of `results.SCORED_SCHEMA`.

    Returns:
        The rows with an Int8 column for each of BASELINES (2 where it passes the test, 0 where it
        does not, 1 for a tie, null where it lacks a number), `matched` (Boolean, null where
        unknown), `unscored` (whether the model lacks a likelihood), `conditional` (whether a
        likelihood changes without the context) and `more_tokens` (whether the candidate with more
        tokens wins; null unless the numbers differ and one is less than FEW_TOKENS).
    """
    tokens = pl.col("tokens_high"), pl.col("tokens_low")
    is_few = (tokens[0] != tokens[1]) & (pl.min_horizontal(tokens) < FEW_TOKENS)
    lead = pl.col("ll_high") - pl.col("ll_low")
    won_by_more = pl.when(tokens[0] > tokens[1]).then(lead > 0).otherwise(lead < 0)
    high, low = pl.col("characters_high"), pl.col("characters_low")
    apart = (high - low).abs()
    return scored.with_columns(
        *(_judged(good, bad).alias(name) for name, (good, bad) in BASELINES.items()),
        matched=apart <= MATCHED_WITHIN * pl.max_horizontal(high, low),
        unscored=pl.col("ll_high").is_null() | pl.col("ll_low").is_null(),
        conditional=pl.any_horizontal(
            pl.col(f"ll_{side}").ne_missing(pl.col(f"ll_alone_{side}")) for side in ("high", "low")
        ),
        more_tokens=pl.when(is_few).then(won_by_more.fill_null(value=False)),
    )


def baseline_in(rows: pl.DataFrame, name: str, interval: Interval | None) -> Baseline | None:
    """Return the result of a baseline on some judged tests.

    Args:
        rows: Tests, as `judge` returns them.
        name: One of BASELINES.
        interval: Interval of the model's lead.

    Returns:
        None if it decides no test, or is the model itself.
    """
    if name == "unconditional" and not rows["conditional"].any():
        return None
    verdicts, n = rows[name], rows.height
    counted = verdicts == _WIN, verdicts == _TIE, verdicts.is_null()
    wins, ties, unscored = (int(each.sum()) for each in counted)
    if n == ties + unscored:
        return None
    halves = 2 * wins + ties + unscored  # whole numbers, so that equal is equal
    return Baseline(
        pass_rate=wins / n,
        ties=ties,
        unscored=unscored,
        with_coin=halves / (2 * n),
        lead=(2 * int(rows["passed"].sum()) - halves) / (2 * n),
        lead_interval=interval,
    )


def twice_the_lead(name: str) -> pl.Expr:
    """Return by how much a model is ahead of a baseline on each judged test, in half passes."""
    return 2 * pl.col("passed").cast(pl.Int8) - pl.col(name).fill_null(_TIE)


def _judged(good: pl.Expr, bad: pl.Expr) -> pl.Expr:
    verdict = pl.when(good > bad).then(_WIN).when(good < bad).then(_LOSS).when(good == bad)
    return verdict.then(_TIE).cast(pl.Int8)


def matched_in(rows: pl.DataFrame, interval: Interval | None) -> Matched | None:
    """Return the model's pass rate on the judged tests whose candidates match in length.

    Args:
        rows: Tests, as `judge` returns them.
        interval: Of that rate.

    Returns:
        None if lengths are unknown, because an older version scored the tests.
    """
    if rows.height == rows["matched"].null_count():
        return None
    chosen = rows.filter("matched")
    n, passes = chosen.height, int(chosen["passed"].sum())
    return Matched(n, passes, passes / n if n else None, interval, wilson(passes, n))
