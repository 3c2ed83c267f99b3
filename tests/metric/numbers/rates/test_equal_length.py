"""The rate at equal length: what the fit finds, its interval, and where there is none."""

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit, ndtr, stdtrit
from support.two_models import scored, write_run

from nnd.metric.numbers import compare
from nnd.metric.numbers.rates.equal_length import EqualLength
from nnd.metric.numbers.rates.pass_rates import PassRates, Rate, pass_rates, rate_frame
from nnd.metric.numbers.statistics.logistic_fit import fit_logistic

Floats = npt.NDArray[np.float64]


def simulated(
    contexts: int, tests: int, *, rate: float, slope: float, seed: int, alike: float = 0.15
) -> dict[str, Any]:
    """Tests whose chance to pass at equal length is `rate`; those of one context are alike.

    The better text has 1.35 times as many tokens, on average.
    """
    rng = np.random.default_rng(seed)
    context, n = np.repeat(np.arange(contexts), tests), contexts * tests
    usual = rng.integers(6, 25, contexts)[context]
    high, low = (
        np.maximum(1, np.round(usual * np.exp(noise)))
        for noise in (rng.normal(0.15, 0.3, n), rng.normal(-0.15, 0.3, n))
    )
    shared, own = rng.normal(size=contexts)[context], rng.normal(size=n)
    chance = expit(logit(rate) + slope * np.log(high / low))
    passed = ndtr(np.sqrt(alike) * shared + np.sqrt(1 - alike) * own) < chance
    return {"high": high, "low": low, "passed": passed, "context": context}


def frame(tests: dict[str, Any], model: str = "x", **columns: Any) -> pl.DataFrame:
    verdicts = "".join("+" if passed else "-" for passed in tests["passed"])
    return scored(
        model,
        verdicts,
        **{
            "tokens_high": tests["high"].astype(int).tolist(),
            "tokens_low": tests["low"].astype(int).tolist(),
            "context_id": [f"c{number}" for number in tests["context"]],
            "end_tokens": [0] * len(verdicts),
        }
        | columns,
    )


def equal(rows: pl.DataFrame) -> EqualLength:
    found = pass_rates(rows.drop("model")).overall.equal_length
    assert found is not None
    return found


def by_scipy(x: Floats, passed: npt.NDArray[np.bool_]) -> Floats:
    """The intercept and the slope that minimise the negative log-likelihood."""
    signs = np.where(passed, -1, 1)

    def loss(fit: Floats) -> float:
        return float(np.logaddexp(0, signs * (fit[0] + fit[1] * x)).sum())

    def gradient(fit: Floats) -> Floats:
        gap = expit(fit[0] + fit[1] * x) - passed
        return np.array([gap.sum(), gap @ x])

    found: Floats = minimize(loss, np.zeros(2), jac=gradient, tol=1e-12).x
    return found


# The fit


def test_two_ratios_are_fitted_exactly() -> None:
    # Of 40 tests with 2 : 1 tokens 30 pass, and of 40 with 1 : 2 tokens 10: the log-odds are log 3
    # and -log 3, so that they are 0 at equal length, and rise by 2 log 3 over 2 log 2.
    tests = {
        "passed": np.array([True] * 30 + [False] * 10 + [True] * 10 + [False] * 30),
        "high": np.array([4] * 40 + [2] * 40),
        "low": np.array([2] * 40 + [4] * 40),
        "context": np.arange(80),
    }
    found = equal(frame(tests))
    assert found.pass_rate == pytest.approx(0.5, abs=1e-12)
    assert found.slope == pytest.approx(np.log(3) / np.log(2))
    assert (found.n, found.near, found.empty, found.reason) == (80, 0, 0, None)


def test_every_fit_is_the_one_that_scipy_finds() -> None:
    tests = simulated(15, 6, rate=0.6, slope=3, seed=1)
    x, context = np.log(tests["high"] / tests["low"]), tests["context"]
    found = fit_logistic(tests["passed"], x, context, 15)
    assert (found.intercept, found.slope) == pytest.approx(by_scipy(x, tests["passed"]), abs=1e-5)
    for number in range(15):
        rest = context != number
        assert found.without[number] == pytest.approx(
            by_scipy(x[rest], tests["passed"][rest])[0], abs=1e-5
        )


def test_the_interval_is_students_over_contexts() -> None:
    tests = simulated(15, 6, rate=0.6, slope=3, seed=1)
    fit = fit_logistic(tests["passed"], np.log(tests["high"] / tests["low"]), tests["context"], 15)
    found = equal(frame(tests))
    error = np.sqrt(14 / 15 * np.sum((fit.without - fit.intercept) ** 2))
    reach = stdtrit(14, 0.975) * error
    assert found.pass_rate == pytest.approx(expit(fit.intercept))
    assert found.interval == pytest.approx(
        (expit(fit.intercept - reach), expit(fit.intercept + reach))
    )


def test_large_fits_that_one_step_moves_little_are_close_to_converged_ones() -> None:
    tests = simulated(600, 3, rate=0.6, slope=3, seed=2)
    x = np.log(tests["high"] / tests["low"])
    found = fit_logistic(tests["passed"], x, tests["context"], 600)
    for number in range(0, 600, 60):
        rest = tests["context"] != number
        again = fit_logistic(tests["passed"][rest], x[rest], tests["context"][rest], 600)
        assert found.without[number] == pytest.approx(again.intercept, abs=2e-6)


def test_the_order_of_rows_does_not_matter() -> None:
    rows = frame(simulated(30, 5, rate=0.7, slope=2, seed=3))
    assert equal(rows) == equal(rows.sample(fraction=1, shuffle=True, seed=4))


# What it finds


def simulate(slope: float, rate: float) -> tuple[Floats, float]:
    """Rates at equal length and raw ones of 300 sets [300, 2], and the share of them covered."""
    rates, covered = [], 0
    for seed in range(300):
        tests = simulated(20, 8, rate=rate, slope=slope, seed=seed)
        found = pass_rates(frame(tests).drop("model")).overall
        assert found.equal_length is not None
        low, high = found.equal_length.interval or (0, 0)
        covered += low <= rate <= high
        rates.append((found.equal_length.pass_rate, found.pass_rate))
    return np.array(rates, dtype=np.float64), covered / 300


@pytest.mark.parametrize("slope", [0.0, 3.0])
def test_a_known_rate_is_found_whether_or_not_length_matters(slope: float) -> None:
    # 300 sets: the mean has a standard error of 0.3 points, the coverage one of 1.3 points.
    rates, covered = simulate(slope, 0.6)
    assert rates[:, 0].mean() == pytest.approx(0.6, abs=0.012)
    assert (rates[:, 1].mean() > 0.7) == (slope > 0)
    assert 0.91 <= covered <= 0.985


# Which tokens


def test_end_tokens_do_not_count() -> None:
    rows = frame(simulated(20, 6, rate=0.6, slope=3, seed=5))
    more = rows.with_columns(pl.col("tokens_high", "tokens_low") + 2, end_tokens=pl.lit(2))
    assert equal(more) == equal(rows)


def test_tests_with_an_empty_candidate_are_left_out_and_counted() -> None:
    tests = simulated(20, 6, rate=0.6, slope=3, seed=5)
    empty = {key: values.copy() for key, values in tests.items()}
    empty["low"][:7] = 0
    rest = {key: values[7:] for key, values in tests.items()}
    found = equal(frame(empty))
    assert (found.empty, found.n, found.pass_rate) == (7, 113, equal(frame(rest)).pass_rate)


def test_nearly_equal_lengths_are_counted() -> None:
    # 9 of 10 and 10 of 9 differ by 10 % of the larger, 8 of 9 by more.
    tests = {
        "high": np.array([9, 10, 8, 5] * 10),
        "low": np.array([10, 9, 9, 5] * 10),
        "passed": np.array([True, False, False, True, True] * 8),
        "context": np.arange(40),
    }
    assert equal(frame(tests)).near == 30


@pytest.mark.parametrize("unknown", ["tokens_high", "end_tokens"])
def test_without_numbers_of_tokens_there_is_none(unknown: str) -> None:
    rows = frame(simulated(20, 6, rate=0.6, slope=3, seed=5), **{unknown: None})
    assert pass_rates(rows.drop("model")).overall.equal_length is None


# Where there is no fit


@pytest.mark.parametrize(
    ("verdicts", "high", "low", "reason"),
    [
        ("+-" * 4, [3, 4] * 4, [5] * 8, "fewer than 10 independent contexts"),
        ("+" * 12, [3, 4] * 6, [5] * 12, "all tests pass"),
        ("-" * 12, [3, 4] * 6, [5] * 12, "no tests pass"),
        ("+-" * 6, [3, 6] * 6, [5, 10] * 6, "lengths are in the same ratio in all tests"),
        ("++--" * 3, [5, 6, 5, 4] * 3, [5] * 12, "length alone separates passes from failures"),
    ],
)
def test_no_fit_has_a_reason(verdicts: str, high: list[int], low: list[int], reason: str) -> None:
    rows = scored("x", verdicts, tokens_high=high, tokens_low=low, end_tokens=[0] * len(high))
    found = equal(rows)
    assert (found.pass_rate, found.interval, found.slope) == (None, None, None)
    assert found.reason == reason


def test_a_fit_that_hangs_on_one_context_has_no_interval() -> None:
    # Without the last test, those with more tokens in the better text pass, and the others fail.
    rows = scored(
        "x",
        "+" * 6 + "-" * 6 + "+-",
        tokens_high=[6, 7] * 3 + [3, 4] * 3 + [3, 6],
        tokens_low=[5] * 14,
        end_tokens=[0] * 14,
        context_id=[*(f"c{number}" for number in range(12)), "last", "last"],
    )
    found = equal(rows)
    assert found.pass_rate is not None
    assert found.interval is None
    assert found.reason is not None
    assert found.reason.startswith("without one of the independent contexts")


# Stored, and of two models


def test_results_without_it_are_read() -> None:
    rates = pass_rates(frame(simulated(20, 6, rate=0.6, slope=3, seed=5)).drop("model"))
    stored = rates.to_dict()
    assert PassRates.from_dict(stored).to_dict() == stored
    old = rates.overall.to_dict()
    del old["equal_length"]
    for name in ("fewer_tokens", "more_tokens"):
        del old["baselines"][name]
    read = Rate.from_dict(old)
    assert (read.equal_length, "more_tokens" in read.baselines) == (None, False)


def test_a_frame_has_it_for_every_slice() -> None:
    tests = simulated(20, 6, rate=0.6, slope=3, seed=5)
    rates = pass_rates(frame(tests, error_category=["a", "b"] * 60).drop("model"))
    rows = rate_frame({"x": rates})
    slices = {"overall": rates.overall, **rates.by["error_category"]}
    for value, rate in slices.items():
        found = rate.equal_length
        assert found is not None
        assert found.interval is not None
        (row,) = rows.filter(value=value).to_dicts()
        assert {name: cell for name, cell in row.items() if name.startswith("equal_length")} == {
            "equal_length_pass_rate": found.pass_rate,
            "equal_length_low": found.interval[0],
            "equal_length_high": found.interval[1],
            "equal_length_slope": found.slope,
            "equal_length_n": found.n,
            "equal_length_near": found.near,
        }
    unknown = pass_rates(frame(tests, tokens_high=None).drop("model"))
    names = [name for name in rows.columns if name.startswith("equal_length")]
    assert rate_frame({"x": unknown}).select(names).row(0) == (None,) * 6


def test_each_of_two_models_has_its_own_tokens(tmp_path: Any) -> None:
    first, second = (simulated(25, 6, rate=rate, slope=3, seed=6) for rate in (0.7, 0.55))
    second["high"], second["low"] = second["high"] + 3, second["low"] + 1  # another tokenizer's
    runs = [
        write_run(tmp_path / name, frame(tests, name))
        for name, tests in (("a", first), ("b", second))
    ]
    (found,) = compare(runs)
    both = found.overall.equal_length
    assert both is not None
    one, other = (equal(frame(tests)) for tests in (first, second))
    assert (both.rate, both.other) == pytest.approx((one.pass_rate, other.pass_rate))
    assert both.difference == pytest.approx((both.rate or 0) - (both.other or 0))
    # Leaving out one context at a time, of both models: the error of their paired difference.
    without = []
    for tests in (first, second):
        x = np.log(tests["high"] / tests["low"])
        without.append(expit(fit_logistic(tests["passed"], x, tests["context"], 25).without))
    error = np.sqrt(24 / 25 * np.sum((without[0] - without[1] - both.difference) ** 2))
    share = (1 + (both.difference or 0)) / 2
    reach = stdtrit(24, 0.975) * error / 2 / (share * (1 - share))
    ends = [2 * expit(logit(share) + side) - 1 for side in (-reach, reach)]
    assert both.interval == pytest.approx(ends)
    row = found.to_frame().row(0, named=True)
    ends_of_both = (row["equal_length_low"], row["equal_length_high"])
    assert (row["equal_length_difference"], ends_of_both) == (both.difference, both.interval)
    turned = found.overall.turned().equal_length
    assert turned is not None
    assert turned.difference == pytest.approx(-(both.difference or 0))
    assert turned.interval == pytest.approx((-ends[1], -ends[0]))
