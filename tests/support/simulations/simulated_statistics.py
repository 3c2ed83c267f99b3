"""How often the interval of every statistic contains its true value: simulated data sets.

Contexts have skewed sizes, 1 + geometric with a few four times as large, and the tests or
candidates of one context go together: not at all, moderately or strongly. Truths are known from the
normal distribution that the numbers are drawn from; those of SPA and acc_eq_star, which depend on
the number of contexts, are their means over the data sets.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import stats

from nnd.metric.numbers.rates.context_sums import CLUSTER_NUMBER
from nnd.metric.numbers.rates.equal_length import equal_length_difference, equal_length_in
from nnd.metric.numbers.statistics.context_intervals import cluster_intervals
from nnd.metric.numbers.statistics.correlation_estimates import CategoryScores, correlate
from nnd.metric.numbers.statistics.correlations import STATISTICS
from nnd.metric.numbers.statistics.extrapolation import extrapolate
from nnd.metric.numbers.statistics.intervals import Interval, bootstrap_ratios
from nnd.metric.numbers.statistics.unpaired_differences import unpaired_difference
from nnd.metric.other_metrics.candidate_correlations import correlate_candidates
from nnd.metric.other_metrics.metric_differences import find_differences
from nnd.metric.other_metrics.pair_statistics import measure_pairs

Floats: TypeAlias = npt.NDArray[np.float64]
Draw: TypeAlias = Callable[[np.random.Generator, int, float], dict[str, "Found"]]

DEPENDENCE = {"none": 0.0, "medium": 0.3, "strong": 0.8}
SYSTEMS = 7
_R = 0.5
"""True Pearson's r of a metric with people, over candidates."""


class Found(NamedTuple):
    """A statistic of one data set: its true value (nan: the mean of all), value and interval."""

    truth: float
    value: float | None
    interval: Interval | None


def sizes(rng: np.random.Generator, contexts: int) -> npt.NDArray[np.int64]:
    drawn = np.minimum(1 + rng.geometric(0.25, contexts), 40)
    return np.where(rng.random(contexts) < 0.05, 4 * drawn, drawn)


def _uniform(rng: np.random.Generator, contexts: npt.NDArray[Any], rho: float, n: int) -> Floats:
    """n numbers from 0 to 1 for each test, those of a context and between the n dependent."""
    of_context = rng.normal(size=(contexts.max() + 1, n)) + rng.normal(size=(contexts.max() + 1, 1))
    own = rng.normal(size=(len(contexts), n))
    numbers = math.sqrt(rho / 2) * of_context[contexts] + math.sqrt(1 - rho) * own
    return np.asarray(stats.norm.cdf(numbers))


def rates(rng: np.random.Generator, contexts: int, rho: float) -> dict[str, Found]:
    """A pass rate, and the differences of two: of the same tests, and of other ones."""
    counts = sizes(rng, contexts)
    of = np.repeat(np.arange(contexts), counts)
    drawn = _uniform(rng, of, rho, 2)
    first, second = drawn[:, 0] < 0.7, drawn[:, 1] < 0.6
    passes = np.bincount(of, first, contexts)
    lead = first.astype(float) - second
    sums, squares = (np.bincount(of, each, contexts) for each in (lead, lead**2))
    columns = [each[:, None] for each in (passes, passes, counts)]
    (rate,) = cluster_intervals(*columns)
    columns = [each[:, None] for each in (sums, squares, counts)]
    (paired,) = cluster_intervals(*columns, lowest=-1)
    # Two sets: the tests of even and of odd places, which share the contexts.
    even = np.arange(len(of)) % 2 == 0
    tests = np.stack([np.bincount(of[side], minlength=contexts) for side in (even, ~even)], axis=1)
    won = [np.bincount(of[s], own[s], contexts) for s, own in ((even, first), (~even, second))]
    unpaired = unpaired_difference(np.stack(won, axis=1), tests.astype(float))
    return {
        "pass rate": Found(0.7, first.mean(), rate.bounds),
        "difference, same tests": Found(0.1, lead.mean(), paired.bounds),
        "difference, other tests": Found(0.1, unpaired.difference, unpaired.interval),
    }


def equal_length(rng: np.random.Generator, contexts: int, rho: float) -> dict[str, Found]:
    """The rate at equal length and the difference of two, where the log-odds depend on length."""
    of = np.repeat(np.arange(contexts), sizes(rng, contexts))
    high, low = rng.integers(4, 30, (2, len(of)))
    # Truths are marginal: where contexts differ, the chance to pass at equal length is their mean.
    drawn = _uniform(rng, of, rho, 2)
    columns: dict[str, Any] = {CLUSTER_NUMBER: of}
    for place, (side, at) in enumerate((("_first", 0.65), ("_second", 0.5))):
        odds = math.log(at / (1 - at)) + 1.5 * np.log(high / low)
        columns |= {f"passed{side}": drawn[:, place] < 1 / (1 + np.exp(-odds))}
        columns |= {f"length_high{side}": high, f"length_low{side}": low}
    frame = pl.DataFrame(columns)
    one = equal_length_in(frame.rename({n: n[:-6] for n in columns if n.endswith("_first")}))
    two = equal_length_difference(frame)
    assert one is not None
    assert two is not None
    return {
        "rate at equal length": Found(0.65, one.pass_rate, one.interval),
        "difference at equal length": Found(0.15, two.difference, two.interval),
    }


def candidates(rng: np.random.Generator, contexts: int, rho: float) -> dict[str, Found]:
    """Correlations and accuracies over candidates; people's number, and two metrics."""
    counts = sizes(rng, contexts)
    of = np.repeat(np.arange(contexts), counts)
    mix = np.linalg.cholesky(np.array([[1, _R, _R], [_R, 1, 0.4], [_R, 0.4, 1]]))
    shared = rng.normal(size=(contexts, 3)) @ mix.T
    own = rng.normal(size=(len(of), 3)) @ mix.T
    human, score, other = (math.sqrt(rho) * shared[of] + math.sqrt(1 - rho) * own).T
    table = pl.DataFrame(
        {
            "split": "test",
            "context_id": [f"{number:04}" for number in of],
            "candidate_id": [str(number) for number in range(len(of))],
            "system": pl.Series([None] * len(of), dtype=pl.String),
            "score": score,
            "human": human,
        }
    )
    found = correlate_candidates(table)
    second = correlate_candidates(table.with_columns(score=pl.Series(other)))
    rows = {"a": {"quality": found}, "b": {"quality": second}}
    (difference,) = find_differences(rows)
    turned = difference.metric == "b"
    lead = difference.turned() if turned else difference
    truths = {
        "spearman": 6 / math.pi * math.asin(_R / 2),
        "pearson": _R,
        "tau_b": 2 / math.pi * math.asin(_R),
    }
    pooled = {
        f"{name}, pooled": Found(truth, found.sample[name], found.sample_intervals[name])
        for name, truth in truths.items()
    }
    tau = Found(math.nan, found.by_context["tau_b"], found.by_context_intervals["tau_b"])
    # Good are those above 0.5. AUC = P(score of a good one > of a bad one).
    good = table.with_columns(human=(pl.col("human") > 0.5).cast(pl.Float64))
    accuracies = measure_pairs(table, ("acc_eq", "acc_eq_star"))
    areas = measure_pairs(good, ("auc", "auc_within"))
    return pooled | {
        "tau_b, mean within contexts": tau,
        "difference of spearman": Found(0.0, lead.difference, lead.interval),
        "acc_eq": Found((truths["tau_b"] + 1) / 2, *_of(accuracies, "acc_eq")),
        "acc_eq_star": Found(math.nan, *_of(accuracies, "acc_eq_star")),
        "auc, pooled": Found(_AUC, *_of(areas, "auc")),
        "auc within contexts": Found(math.nan, *_of(areas, "auc_within")),
    }


def _of(found: Any, name: str) -> tuple[float | None, Interval | None]:
    return found.values[name], found.intervals[name]


def _area(threshold: float) -> float:
    """The AUC of a score that correlates at _R with what is good above a threshold."""
    x = np.linspace(-8, 8, 1_601)
    above = stats.norm.sf(threshold, _R * x, math.sqrt(1 - _R**2)) * stats.norm.pdf(x)
    below = stats.norm.pdf(x) - above
    above, below = above / above.sum(), below / below.sum()
    return float(above @ (np.cumsum(below) - below / 2))


_AUC = _area(0.5)


def paired_auc(rng: np.random.Generator, contexts: int, rho: float) -> dict[str, Found]:
    """The AUC where each context has a good candidate hardly better than its bad one, as in BUMP.

    Dependence is how alike the two are: most of the variance then cancels, and what a context
    adds by being compared with itself is as large as the rest.
    """
    apart = {0.0: 0.5, 0.3: 0.1, 0.8: 0.02}[rho]
    bad = rng.normal(size=contexts)
    good = bad + apart * (1 + rng.normal(size=contexts))
    table = pl.DataFrame(
        {
            "split": "test",
            "context_id": [f"{number:04}" for number in range(contexts)] * 2,
            "candidate_id": [str(number) for number in range(2 * contexts)],
            "system": pl.Series([None] * 2 * contexts, dtype=pl.String),
            "score": np.r_[bad, good],
            "human": np.repeat([0.0, 1.0], contexts),
        }
    )
    truth = float(stats.norm.cdf(apart / math.sqrt(2 + apart**2)))
    return {"auc, twins": Found(truth, *_of(measure_pairs(table, ("auc",)), "auc"))}


def agreement(rng: np.random.Generator, contexts: int, rho: float) -> dict[str, Found]:
    """Correlations of pass rates with human scores, systems fixed, in a category and on average."""
    true = np.clip(0.65 + 0.08 * rng.normal(size=SYSTEMS), 0.2, 0.95)
    counts = sizes(rng, contexts)
    of = np.repeat(np.arange(contexts), counts)
    scores = {}
    for name in ("x", "y"):
        theirs = (true + 0.06 * rng.normal(size=SYSTEMS)).tolist()
        won = _uniform(rng, of, rho, SYSTEMS) < true
        passes = np.stack([np.bincount(of, own, contexts) for own in won.T], axis=1)
        tests = np.repeat(counts[:, None], SYSTEMS, axis=1)
        drawn = bootstrap_ratios(passes, tests, resamples=500)
        scores[name] = CategoryScores("ABCDEFG", won.mean(axis=0).tolist(), theirs, drawn)
    found, mean, _ = correlate(scores, [*scores])
    theirs = {name: each.theirs for name, each in scores.items()}
    result = {}
    for name in ("pearson", "spearman", "tau_b"):
        truths = [STATISTICS[name](true.tolist(), own) or 0.0 for own in theirs.values()]
        one = found["x"]
        result[f"{name} of systems"] = Found(truths[0], one.statistics[name], one.intervals[name])
        if name != "spearman":
            both = Found(sum(truths) / 2, mean.statistics[name], mean.intervals[name])
            result[f"{name} of systems, mean"] = both
    return result


def system_statistics(rng: np.random.Generator, contexts: int, rho: float) -> dict[str, Found]:
    """SPA and the accuracy over systems, whose numbers by people and a metric are both sampled."""
    quality = 0.3 * rng.normal(size=SYSTEMS)
    shared = math.sqrt(rho) * rng.normal(size=(contexts, 1))
    human, own = quality + shared + math.sqrt(1 - rho) * rng.normal(size=(2, contexts, SYSTEMS))
    score = 0.5 * human + own
    ids = [f"{number:04}" for number in range(contexts)]
    table = pl.DataFrame(
        {
            "split": "test",
            "context_id": np.repeat(ids, SYSTEMS),
            "candidate_id": [str(number) for number in range(contexts * SYSTEMS)],
            "system": [f"s{number}" for number in range(SYSTEMS)] * contexts,
            "score": score.ravel(),
            "human": human.ravel(),
        }
    )
    found = measure_pairs(table, ("system_accuracy",))
    return {"accuracy over systems": Found(1.0, *_of(found, "system_accuracy"))}


def over_systems(rng: np.random.Generator, systems: int, rho: float) -> dict[str, Found]:
    """Correlations whose systems are the sample, and the human score of one more system.

    Dependence is here the correlation of the two scores.
    """
    x = rng.normal(size=systems + 1)
    y = rho * x + math.sqrt(1 - rho**2) * rng.normal(size=systems + 1)
    ours, theirs = x[:-1].tolist(), y[:-1].tolist()
    scores = CategoryScores([str(n) for n in range(systems)], ours, theirs, np.empty((0, systems)))
    found = correlate({"x": scores}, [])[0]["x"]
    (predicted,) = extrapolate(ours, theirs, {"new": float(x[-1])}).predictions
    truths = {"pearson": rho, "tau_b": 2 / math.pi * math.asin(rho)}
    return {
        f"{name} over systems": Found(
            truth, found.statistics[name], found.intervals_over_systems[name]
        )
        for name, truth in truths.items()
    } | {"predicted human score": Found(float(y[-1]), predicted.score, predicted.interval)}


DRAWS: dict[str, Draw] = {
    "rates": rates,
    "equal length": equal_length,
    "candidates": candidates,
    "twins": paired_auc,
    "agreement": agreement,
    "systems": system_statistics,
    "over systems": over_systems,
}


class Coverage(NamedTuple):
    """Shares of the data sets, from 0 to 1: with an interval; of these, with truth in it; value."""

    given: float
    covered: float
    contains_value: float


def simulate(draw: Draw, n: int, rho: float, times: int, *, seed: int = 0) -> dict[str, Coverage]:
    """Return statistic → how often its interval is there, and contains the truth and the value."""
    rng = np.random.default_rng([seed, n, round(10 * rho)])
    found = [draw(rng, n, rho) for _ in range(times)]
    return {name: _summarise([each[name] for each in found]) for name in found[0]}


def _summarise(found: list[Found]) -> Coverage:
    known = [each.value for each in found if each.value is not None]
    mean = float(np.mean(known)) if known else math.nan
    given = [each for each in found if each.interval is not None]
    truths = [mean if math.isnan(each.truth) else each.truth for each in given]
    covered = [_is_in(truth, each) for truth, each in zip(truths, given, strict=True)]
    contains = [each.value is not None and _is_in(each.value, each) for each in given]
    if not given:
        return Coverage(0.0, math.nan, math.nan)
    return Coverage(len(given) / len(found), float(np.mean(covered)), float(np.mean(contains)))


def _is_in(number: float, found: Found) -> bool:
    low, high = found.interval or (math.nan, math.nan)
    return low - 1e-12 <= number <= high + 1e-12
