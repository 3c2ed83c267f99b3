"""Pass rates with their n and intervals, overall and by slice, from scored pairs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from nnd.metric.results.baselines import (
    BASELINES,
    Baseline,
    Matched,
    baseline_in,
    judge,
    matched_in,
)
from nnd.metric.results.surface import SURFACE_SCHEMA
from nnd.metric.statistics import (
    ClusterInterval,
    FloatArray,
    Interval,
    Method,
    cluster_intervals,
    wilson,
)
from nnd.schemas import DISTINCT

ALONE_SCHEMA = pl.Schema({"ll_alone_high": pl.Float64, "ll_alone_low": pl.Float64})
"""Log-likelihoods without the context; null where they were not asked for."""

_PAIR_SCHEMA = pl.Schema(
    {
        "pair_id": pl.String,
        "split": pl.String,
        "context_id": pl.String,
        "cluster": pl.String,
        "high_id": pl.String,
        "low_id": pl.String,
        "aspect": pl.String,
        "category": pl.String,
        "error_category": pl.String,
        "error_group": pl.String,
        "origin": pl.String,
        "ll_high": pl.Float64,
        "ll_low": pl.Float64,
        "tokens_high": pl.Int64,
        "tokens_low": pl.Int64,
        "truncated": pl.Boolean,
        "passed": pl.Boolean,
        "tie": pl.Boolean,
    }
)
SCORED_SCHEMA = pl.Schema({**_PAIR_SCHEMA, **SURFACE_SCHEMA, **ALONE_SCHEMA})
"""Columns of the scored frame, one row per pair: the stored artefact (see `scoring`)."""

CLUSTER = (pl.col("split"), pl.coalesce("cluster", "context_id"))
"""Pairs of a context and those derived from them are not independent: intervals are over these."""

SLICES = ("error_category", "aspect", "category", "error_group")


@dataclass(frozen=True, slots=True)
class Rate:
    """A pass rate and what it is made of.

    Attributes:
        n: Tests.
        passes: Tests passed.
        ties: Tests failed with equal likelihoods.
        unscored: Tests failed for want of a likelihood.
        truncated: Tests whose context was cut to fit the window; None where unknown, as for
            scorers.
        pass_rate: passes / n, or None where n is 0.
        interval: 95 % interval over contexts (`context_intervals`), or None where fewer than two
            have tests.
        interval_method: "logit-t"; "all-agree" where all tests pass or all fail, so that each
            context counts as one test; None where there is no interval.
        contexts: Contexts with tests.
        wilson: 95 % Wilson interval, which takes tests for independent; for reference.
        baselines: Each of `confounds.BASELINES` on the same tests, or None where it decides none.
        length_matched: On the tests whose candidates match in length, or None where lengths are
            not known.
    """

    n: int
    passes: int
    ties: int
    unscored: int
    truncated: int | None
    pass_rate: float | None
    interval: Interval | None
    interval_method: Method | None
    contexts: int
    wilson: Interval | None
    baselines: dict[str, Baseline | None]
    length_matched: Matched | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {
            "pass_rate": self.pass_rate,
            "n": self.n,
            "passes": self.passes,
            "ties": self.ties,
            "unscored": self.unscored,
            "truncated": self.truncated,
            "interval": None if self.interval is None else list(self.interval),
            "interval_method": self.interval_method,
            "contexts": self.contexts,
            "wilson": None if self.wilson is None else list(self.wilson),
            "baselines": {
                name: None if found is None else found.to_dict()
                for name, found in self.baselines.items()
            },
            "length_matched": None
            if self.length_matched is None
            else self.length_matched.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class PassRates:
    """Pass rates of one model.

    Attributes:
        n_pairs: Pairs; the overall rate counts distinct (high, low) candidates of a context once.
        overall: Over distinct candidates.
        by: Column of SLICES → value → rate over its pairs.
    """

    n_pairs: int
    overall: Rate
    by: dict[str, dict[str, Rate]]

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values: the overall rate's, n_pairs, and `by_<column>`."""
        slices = {
            f"by_{column}": {value: rate.to_dict() for value, rate in rates.items()}
            for column, rates in self.by.items()
        }
        return {**self.overall.to_dict(), "n_pairs": self.n_pairs, **slices}


class Slice(NamedTuple):
    """Some of the scored pairs: those with `value` in `column`, or the distinct tests of all."""

    column: str
    value: str
    rows: pl.DataFrame


def pass_rates(scored: pl.DataFrame) -> PassRates:
    """Summarise the scored pairs of one model.

    Args:
        scored: Rows of SCORED_SCHEMA.
    """
    judged = judge(scored)
    slices = [distinct_tests(judged), *slices_by(judged, *SLICES)]
    rates = rates_of(judged, slices)
    by: dict[str, dict[str, Rate]] = {column: {} for column in SLICES}
    for piece, rate in zip(slices[1:], rates[1:], strict=True):
        by[piece.column][piece.value] = rate
    return PassRates(scored.height, rates[0], by)


def rates_of(judged: pl.DataFrame, slices: Sequence[Slice]) -> list[Rate]:
    """Return the rate of every slice.

    Args:
        judged: Scored pairs of one model, as `judge` returns them.
        slices: Some of their rows each.
    """
    return [
        _rate(piece.rows, own, matched, leads)
        for piece, own, matched, leads in zip(slices, *_intervals(judged, slices), strict=True)
    ]


def count_close(scored: pl.DataFrame, deviation: float, *, summed: bool = False) -> int:
    """Count the tests whose margin is smaller than a deviation: those that it could turn.

    Args:
        scored: Rows of SCORED_SCHEMA.
        deviation: How far a log-likelihood may be off, nats per scored token.
        summed: Whether the log-likelihoods are sums over tokens, not means.
    """
    return distinct_tests(scored).rows.filter(is_close(deviation, summed=summed)).height


def is_close(deviation: float, *, summed: bool = False) -> pl.Expr:
    """Return whether a margin is smaller than a deviation (arguments as of `count_close`)."""
    tokens = pl.max_horizontal("tokens_high", "tokens_low") if summed else pl.lit(1)
    return (pl.col("ll_high") - pl.col("ll_low")).abs() < deviation * tokens


def distinct_tests(scored: pl.DataFrame) -> Slice:
    """Return the tests behind the overall rate: each (high, low) of a context once."""
    rows = scored.unique(DISTINCT, keep="first", maintain_order=True)
    return Slice("", "overall", rows)


def slices_by(scored: pl.DataFrame, *columns: str) -> Iterator[Slice]:
    """Yield a slice for every value of every column, in the order of both."""
    for column in columns:
        for value in sorted(scored[column].drop_nulls().unique()):
            yield Slice(column, value, scored.filter(pl.col(column) == value))


def count_by_context(
    scored: pl.DataFrame, slices: Sequence[Slice]
) -> tuple[FloatArray, FloatArray]:
    """Return passes and tests [contexts, slices], the contexts in the order of `scored`."""
    sums = sum_by_context(scored, slices, pl.col("passed").sum(), pl.len())
    return sums[:, :, 0], sums[:, :, 1]


def sum_by_context(scored: pl.DataFrame, slices: Sequence[Slice], *sums: pl.Expr) -> FloatArray:
    """Return [contexts, slices, sums], the contexts in the order of `scored`.

    Args:
        scored: Tests with the columns of CLUSTER.
        slices: Some of its rows each.
        sums: What is summed over a slice's tests of one context; 0 where it has none there.
    """
    clusters = scored.select(CLUSTER).unique(maintain_order=True).with_row_index("number")
    found = np.zeros((clusters.height, len(slices), len(sums)))
    named = [each.alias(str(position)) for position, each in enumerate(sums)]
    for place, piece in enumerate(slices):
        rows = piece.rows.join(
            clusters, left_on=CLUSTER, right_on=["split", "cluster"], nulls_equal=True
        )
        summed = rows.group_by("number").agg(named)
        found[summed["number"].to_numpy(), place] = summed.drop("number").to_numpy()
    return found


def _intervals(
    judged: pl.DataFrame, slices: Sequence[Slice]
) -> tuple[list[ClusterInterval], list[ClusterInterval], list[tuple[ClusterInterval, ...]]]:
    """Return the intervals of each slice: pass rate, rate where matched, leads over BASELINES."""
    passed = pl.col("passed").cast(pl.Int64)
    matched = (passed * pl.col("matched")).sum(), pl.col("matched").sum()
    leads = [passed - pl.col(name) for name in BASELINES]
    values = [*(lead.sum() for lead in leads), *((lead**2).sum() for lead in leads)]
    sums = sum_by_context(judged, slices, passed.sum(), pl.len(), *matched, *values)
    passes, tests, passes_matched, tests_matched, *rest = np.moveaxis(sums, 2, 0)
    of_leads = [
        cluster_intervals(lead, squares, tests, lowest=-1)
        for lead, squares in zip(rest[: len(leads)], rest[len(leads) :], strict=True)
    ]
    return (
        cluster_intervals(passes, passes, tests),
        cluster_intervals(passes_matched, passes_matched, tests_matched),
        list(zip(*of_leads, strict=True)),
    )


def _rate(
    rows: pl.DataFrame,
    interval: ClusterInterval,
    matched: ClusterInterval,
    leads: Sequence[ClusterInterval],
) -> Rate:
    n, passes = rows.height, int(rows["passed"].sum())
    unscored = rows["ll_high"].is_null() | rows["ll_low"].is_null()
    return Rate(
        n=n,
        passes=passes,
        ties=int(rows["tie"].sum()),
        unscored=int(unscored.sum()),
        truncated=None if rows["truncated"].has_nulls() else int(rows["truncated"].sum()),
        pass_rate=passes / n if n else None,
        interval=interval.bounds,
        interval_method=interval.method,
        contexts=interval.contexts,
        wilson=wilson(passes, n),
        baselines={
            name: baseline_in(rows, name, lead.bounds)
            for name, lead in zip(BASELINES, leads, strict=True)
        },
        length_matched=matched_in(rows, matched.bounds),
    )
