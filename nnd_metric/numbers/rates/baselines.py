"""Baselines for a pass rate, which do not look at the meaning of candidates.

    baseline        passes a test iff the good candidate
    shorter_wins    has fewer characters
    longer_wins     has more characters
    fewer_tokens    has fewer tokens
    more_tokens     has more tokens
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
from typing import Annotated, Literal, TypeAlias

import polars as pl

from nnd.metric.numbers.statistics.context_intervals import ClusterInterval
from nnd.metric.numbers.statistics.intervals import Interval, wilson
from nnd.schemas import SPARSE, Count, Lead, Record, Share

BASELINES: dict[str, tuple[pl.Expr, pl.Expr]] = {
    "shorter_wins": (-pl.col("characters_high"), -pl.col("characters_low")),
    "longer_wins": (pl.col("characters_high"), pl.col("characters_low")),
    "fewer_tokens": (-pl.col("tokens_high"), -pl.col("tokens_low")),
    "more_tokens": (pl.col("tokens_high"), pl.col("tokens_low")),
    "copy_wins": (pl.col("copied_high"), pl.col("copied_low")),
    "unconditional": (pl.col("ll_alone_high"), pl.col("ll_alone_low")),
}
"""The columns of each baseline for the good and the bad candidate; the larger number wins."""

WINNERS = (
    "The candidate with fewer characters wins.",
    "The candidate with more characters wins.",
    "The candidate with fewer tokens wins; older results lack it.",
    "The candidate with more tokens wins; older results lack it.",
    "The candidate with the larger share of word bigrams copied from the context wins.",
    "The candidate that is likelier to the same model without any context wins.",
)
"""Which candidate wins under each baseline."""

TOKEN_BASELINES = ("fewer_tokens", "more_tokens")
"""Those that depend on the model's tokens."""

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
class Baseline(Record):
    """A baseline on some tests, compared with a model.

    Attributes:
        pass_rate: Its pass rate.
        ties: Tests failed with equal numbers.
        unscored: Tests failed because a number is missing.
        with_coin: Its pass rate if ties and unscored tests count half.
        lead: The model's pass rate minus `with_coin`.
        lead_interval: 95 % paired interval of the lead over contexts, or None if fewer than two
            have tests.
        verdict: Where the baseline stands, seen from the model: `ahead` if the lead is negative;
            `close` if it is not, but its interval includes 0, or there is none; else `behind`.
    """

    pass_rate: Share
    ties: Count
    unscored: Count
    with_coin: Share
    lead: Lead
    lead_interval: Interval | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class LengthMatched(Record):
    """A model's pass rate on the tests whose candidates match in length.

    Attributes:
        pass_rate: passes / n, or None if n is 0.
        n: Number of such tests.
        passes: Number of those passed.
        interval: 95 % interval over contexts, or None if fewer than two have such tests.
        wilson: 95 % Wilson interval, which treats tests as independent, or None if n is 0.
        interval_reason: Why there is no interval; None if there is one, and in older results.
    """

    pass_rate: Share | None
    n: Count
    passes: Count
    interval: Interval | None
    wilson: Interval | None
    interval_reason: Annotated[str | None, SPARSE] = None


def judge(scored: pl.DataFrame) -> pl.DataFrame:
    """Add the verdict of every baseline, and whether lengths match.

    Returns:
        The rows with an Int8 column for each of BASELINES (2 where it passes the test, 0 where it
        does not, 1 for a tie, null where it lacks a number), `matched` (Boolean, null where
        unknown), `unscored` (whether the model lacks a likelihood), `conditional` (whether a
        likelihood changes without the context), `won_by_more` (whether the candidate with more
        tokens wins; null unless the numbers differ and one is less than FEW_TOKENS), and `unknown`
        and `characters` (of both candidates, those unknown to the tokenizer, and all).
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
        won_by_more=pl.when(is_few).then(won_by_more.fill_null(value=False)),
        unknown=pl.col("unknown_high") + pl.col("unknown_low"),
        characters=high + low,
    )


def baseline_in(rows: pl.DataFrame, name: str, interval: Interval | None) -> Baseline | None:
    """Return a baseline's result on judged tests; None if it decides none, or is the model."""
    if name == "unconditional" and not rows["conditional"].any():
        return None
    verdicts, n = rows[name], rows.height
    wins, ties = (int((verdicts == verdict).sum()) for verdict in (_WIN, _TIE))
    unscored = verdicts.null_count()
    if n == ties + unscored:
        return None
    halves = 2 * wins + ties + unscored  # whole numbers, so that equal is equal
    lead = (2 * int(rows["passed"].sum()) - halves) / (2 * n)
    is_clear = interval is not None and interval[0] > 0
    return Baseline(
        pass_rate=wins / n,
        ties=ties,
        unscored=unscored,
        with_coin=halves / (2 * n),
        lead=lead,
        lead_interval=interval,
        verdict="ahead" if lead < 0 else "behind" if is_clear else "close",
    )


def twice_the_lead(name: str) -> pl.Expr:
    """Return by how much a model is ahead of a baseline on each judged test, in half passes."""
    return 2 * pl.col("passed").cast(pl.Int8) - pl.col(name).fill_null(_TIE)


def _judged(good: pl.Expr, bad: pl.Expr) -> pl.Expr:
    verdict = pl.when(good > bad).then(_WIN).when(good < bad).then(_LOSS).when(good == bad)
    return verdict.then(_TIE).cast(pl.Int8)


def matched_in(rows: pl.DataFrame, interval: ClusterInterval) -> LengthMatched | None:
    """Return the model's pass rate on the judged tests whose candidates match in length.

    It is None if lengths are unknown, because an older version scored the tests.
    """
    if rows.height == rows["matched"].null_count():
        return None
    chosen = rows.filter("matched")
    n, passes = chosen.height, int(chosen["passed"].sum())
    rate = passes / n if n else None
    return LengthMatched(rate, n, passes, interval.bounds, wilson(passes, n), interval.reason)
