"""Small tables in which statistics are undefined, or hang on one context, and every estimator.

A table has a row per candidate or test: its context, the system that wrote it, whether two models
pass it, the tokens of both candidates, and the numbers of a metric, of another one and of people.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl
from support.two_models import people

from nnd.metric.numbers import try_agreement
from nnd.metric.numbers.agreement.at_equal_length import agree_at_equal_length
from nnd.metric.numbers.rates.context_sums import CLUSTER_NUMBER, TEST_NUMBER
from nnd.metric.numbers.rates.equal_length import equal_length_difference, equal_length_in
from nnd.metric.numbers.rates.rate_differences import compare_scorings, compare_sets, mean_interval
from nnd.metric.numbers.slices.span_surprise import _mean
from nnd.metric.numbers.statistics.correlation_estimates import Correlations
from nnd.metric.numbers.statistics.intervals import Interval, bootstrap_ratios, stretches
from nnd.metric.other_metrics.candidate_correlations import STATISTICS, correlate_candidates
from nnd.metric.other_metrics.metric_differences import find_differences
from nnd.metric.other_metrics.pair_statistics import PAIR_STATISTICS, measure_pairs

Found: TypeAlias = tuple[float | None, Interval | None, str | None]
"""A value, its interval, and the reason why there is none."""

SYSTEMS = 4
_KEY = (pl.col(CLUSTER_NUMBER),)


class Rows(NamedTuple):
    """Columns of a table: numbers of contexts, and of the others what varies."""

    context: list[int]
    passed: list[bool]
    high: list[int]
    low: list[int]
    score: list[float]
    human: list[float]


def _rows(*rows: tuple[int, bool, int, int, float, float]) -> Rows:
    columns = zip(*rows, strict=True) if rows else ((),) * 6
    return Rows(*(list(each) for each in columns))


def _last_differs(usual: list[tuple[Any, ...]], last: list[tuple[Any, ...]]) -> Rows:
    """Eleven contexts that are alike, and one that is not."""
    rows = [(number, *each) for number in range(11) for each in usual]
    return _rows(*rows, *((11, *each) for each in last))


_PLAIN = [(True, 6, 5, 1.0, 0.0), (False, 5, 6, 2.0, 1.0), (True, 5, 5, 3.0, 1.0)]
_SWAPPED = [(False, 9, 5, 3.0, 0.0), (True, 5, 9, 1.0, 1.0), (True, 5, 7, 2.0, 0.0)]
_SAME = [(True, 6, 5, 1.0, 1.0)] * 3

DEGENERATE: dict[str, Rows] = {
    "empty": _rows(),
    "one test": _rows((0, True, 6, 5, 1.0, 1.0)),
    "one context": _rows(*((0, *each) for each in [*_PLAIN, *_SWAPPED])),
    "two contexts": _rows(
        *((n, *each) for n, own in enumerate((_PLAIN, _SWAPPED)) for each in own)
    ),
    "constant": _last_differs(_SAME, _SAME),
    "all ties": _last_differs([(False, 5, 5, 1.0, h) for h in (0.0, 1.0, 0.0)], _PLAIN[:0]),
    "collinear": _last_differs(
        [(p, 10, 5, float(h), float(h)) for p, h in ((True, 1), (False, 0), (True, 2))], []
    ),
    "separated": _last_differs(
        [(True, 6, 5, 2.0, 1.0), (False, 5, 6, 1.0, 0.0), (True, 7, 5, 3.0, 1.0)], []
    ),
    "constant without one": _last_differs(
        [(True, high, low, 1.0, 1.0) for high, low in ((6, 5), (5, 6), (5, 5))],
        [(False, 5, 5, 2.0, 0.0), (True, 6, 5, 1.0, 1.0), (True, 5, 7, 3.0, 0.0)],
    ),
    "collinear without one": _last_differs(
        [(True, 10, 5, 1.0, 1.0), (False, 10, 5, 0.0, 0.0)], _SWAPPED
    ),
    "separated without one": _last_differs(
        [(True, 6, 5, 2.0, 1.0), (False, 5, 6, 1.0, 0.0)], [(False, 7, 5, 1.0, 1.0)]
    ),
    "empty without one": _rows((0, True, 0, 5, 1.0, 1.0), *((1, *each) for each in _SWAPPED)),
}


def _frame(rows: Rows) -> pl.DataFrame:
    n = len(rows.context)
    system = [f"s{place % SYSTEMS}" for place in range(n)]
    other = [value + place % 3 for place, value in enumerate(rows.score)]
    return pl.DataFrame(
        {
            CLUSTER_NUMBER: pl.Series(rows.context, dtype=pl.UInt32),
            "split": pl.Series(["test"] * n, dtype=pl.String),
            "context_id": pl.Series([f"{each:03}" for each in rows.context], dtype=pl.String),
            "candidate_id": pl.Series([str(each) for each in range(n)], dtype=pl.String),
            "system": pl.Series(system, dtype=pl.String),
            "passed": pl.Series(rows.passed, dtype=pl.Boolean),
            "length_high": pl.Series(rows.high, dtype=pl.UInt32),
            "length_low": pl.Series(rows.low, dtype=pl.UInt32),
            "score": pl.Series(rows.score, dtype=pl.Float64),
            "other": pl.Series(other, dtype=pl.Float64),
            "human": pl.Series(rows.human, dtype=pl.Float64),
        }
    )


def _rates(frame: pl.DataFrame) -> Iterator[tuple[str, Found]]:
    rate = mean_interval(frame, pl.col("passed"), key=_KEY)
    yield "pass rate", (_number(frame["passed"].mean()), rate.bounds, rate.reason)
    both = frame.with_columns(rival=pl.col("human") > 0)
    paired, _ = compare_scorings(both, "passed", "rival", key=_KEY)
    halves = pl.int_range(pl.len()) % 2 == 0
    contexts = frame.select(CLUSTER_NUMBER).unique(maintain_order=True)
    sets = (frame.filter(each) for each in (halves, ~halves))
    unpaired = compare_sets(contexts, *sets, key=_KEY)
    for name, each in (("same tests", paired), ("other tests", unpaired)):
        yield f"difference, {name}", (each.difference, each.interval, each.interval_reason)


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _equal_length(frame: pl.DataFrame) -> Iterator[tuple[str, Found]]:
    one = equal_length_in(frame)
    names = ("passed", "length_high", "length_low")
    sides = {f"{name}_first": name for name in names} | {f"{name}_second": name for name in names}
    both = frame.select(CLUSTER_NUMBER, **{to: pl.col(name) for to, name in sides.items()})
    two = equal_length_difference(both)
    yield (
        "rate at equal length",
        (None, None, "no tests") if one is None else (one.pass_rate, one.interval, one.reason),
    )
    yield (
        "difference at equal length",
        (None, None, "no tests") if two is None else (two.difference, two.interval, two.reason),
    )


def _candidates(frame: pl.DataFrame) -> Iterator[tuple[str, Found]]:
    found = correlate_candidates(frame)
    pooled, means = found.sample_interval_reasons, found.by_context_interval_reasons
    for name in STATISTICS:
        yield name, (found.sample[name], found.sample_intervals[name], pooled.get(name))
        interval = found.by_context_intervals[name]
        yield f"{name}, mean", (found.by_context[name], interval, means.get(name))
    rival = correlate_candidates(frame.with_columns(score="other"))
    both = {"a": {"quality": found}, "b": {"quality": rival}}
    for each in find_differences(both):
        yield "difference of rho", (each.difference, each.interval, each.interval_reason)
    pairs = measure_pairs(frame, PAIR_STATISTICS)
    for name in PAIR_STATISTICS:
        reason = pairs.interval_reasons.get(name)
        yield name, (pairs.values[name], pairs.intervals[name], reason)


def _agreement(frame: pl.DataFrame) -> Iterator[tuple[str, Found]]:
    """Pass rates of systems, whose tests are the rows that they wrote, and of one more model."""
    systems = sorted(frame["system"].unique())
    contexts = sorted(frame[CLUSTER_NUMBER].unique())
    cells = np.zeros((2, len(contexts), len(systems)))
    for row in frame.iter_rows(named=True):
        at = contexts.index(row[CLUSTER_NUMBER]), systems.index(row["system"])
        cells[0][at] += row["passed"]
        cells[1][at] += 1
    drawn = bootstrap_ratios(*cells) if contexts else np.empty((0, 0))
    ours = dict(zip(systems, cells[0].sum(axis=0) / cells[1].sum(axis=0), strict=True))
    of_models = [*ours.items(), ("new", 0.5)]
    rows = [(model, kind, rate, 9) for model, rate in of_models for kind in ("overall", "x")]
    columns = {"model": pl.String, "category": pl.String, "pass_rate": pl.Float64, "n": pl.Int64}
    samples = np.column_stack([drawn, np.full(len(drawn), 0.5)])
    found, _ = try_agreement(
        pl.DataFrame(rows, columns, orient="row"),
        _judged(systems),
        samples=np.stack([samples, samples], axis=2),
        stretch=np.repeat([*stretches(cells[1]), 1.0], 2).reshape(-1, 2),
    )
    if found is None:
        return
    yield from _correlations("", found.by_category["x"])
    yield from _correlations(", mean", found.mean)
    of = found.by_category["x"]
    reason = of.system_accuracy_interval_reason
    yield "system accuracy", (of.system_accuracy, of.system_accuracy_interval, reason)
    for each in of.extrapolation.predictions:
        yield "prediction", (each.score, each.interval, each.interval_reason)


def _judged(systems: list[str]) -> pl.DataFrame:
    scores = {system: float(place) for place, system in enumerate(systems)}
    return people({"quality": scores, "quality x": scores})


def _correlations(where: str, found: Correlations) -> Iterator[tuple[str, Found]]:
    for name, value in found.statistics.items():
        reason = found.interval_reasons.get(name)
        yield f"{name} of systems{where}", (value, found.intervals[name], reason)
        reason = found.interval_reasons_over_systems.get(name)
        interval = found.intervals_over_systems[name]
        yield f"{name} over systems{where}", (value, interval, reason)


def _at_equal_length(frame: pl.DataFrame) -> Iterator[tuple[str, Found]]:
    """Pass rates at equal length of four models, which differ in every second to fifth test."""
    systems = [f"s{place}" for place in range(SYSTEMS)]
    numbered = frame.with_row_index(TEST_NUMBER).with_columns(category=pl.lit("x"))
    rated = {
        system: numbered.with_columns(
            passed=pl.col("passed") ^ (pl.col(TEST_NUMBER) % (place + 2) == 0)
        )
        for place, system in enumerate(systems)
    }
    for category, found in agree_at_equal_length(rated, "category", _judged(systems)).items():
        yield from _correlations(f" at equal length, {category}", found)


def _spans(frame: pl.DataFrame) -> Iterator[tuple[str, Found]]:
    """The mean of an AUC of surprisal for each row, which depends on its human number."""
    numbers = frame.select(CLUSTER_NUMBER, pl.col("human") / 3).rows()
    found = _mean({((context,), place): auc for place, (context, auc) in enumerate(numbers)})
    yield "auc of surprisal", (found.auc, found.interval, found.interval_reason)


ESTIMATORS: dict[str, Callable[[pl.DataFrame], Iterator[tuple[str, Found]]]] = {
    "rates": _rates,
    "equal length": _equal_length,
    "candidates": _candidates,
    "agreement": _agreement,
    "at equal length": _at_equal_length,
    "spans": _spans,
}


def estimate(rows: Rows, estimator: str) -> dict[str, Found]:
    """Return statistic → what one of ESTIMATORS finds."""
    return dict(ESTIMATORS[estimator](_frame(rows)))
