"""How far one metric is ahead of another: the jackknife again, by scipy."""

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from scipy import stats
from scipy.special import expit, logit
from support.judged_cases import by_candidate, write_judged

from nnd.metric.other_metrics.candidate_correlations import correlate_candidates
from nnd.metric.other_metrics.judged_candidates import read_judged
from nnd.metric.other_metrics.measuring_metrics import compare_metrics
from nnd.metric.other_metrics.metric_differences import find_differences
from nnd.metric.other_metrics.scorers.scorer_names import find_scorers

LENGTH = find_scorers(["length"])
FIRST = {"1/a": -1.0, "1/b": -2.0, "1/c": -3.0}


@pytest.mark.parametrize("order", ["given", "turned"])
def test_the_better_of_two_metrics_and_how_sure_that_is(order: str, tmp_path: Path) -> None:
    values = dict(zip(("1/a", "1/b", "1/c", "2/a", "2/b"), (3.0, 1.0, 2.0, 0.0, 1.0), strict=True))
    scorers = [*LENGTH, by_candidate("mine", values)]
    judged = read_judged(write_judged(tmp_path))
    shown = scorers if order == "given" else scorers[::-1]

    (found,) = compare_metrics(judged, shown).differences

    length, mine, people = np.array([[11, 7, 5, 14, 5], [3, 1, 2, 0, 1], [3, 2, 0, 1, 1]])
    rho = [stats.spearmanr(each, people)[0] for each in (length, mine)]
    assert (found.aspect, found.metric, found.other_metric) == ("quality", "length", "mine")
    assert found.difference == pytest.approx(rho[0] - rho[1])
    assert (found.rate, found.other) == pytest.approx(tuple(rho))
    # Of context 2 alone, people found both candidates equal: rho is undefined without context 1.
    reason = "the number is undefined without one of the independent contexts"
    assert (found.interval, found.interval_reason, found.p) == (None, reason, None)


def test_the_lead_is_left_out_context_by_context() -> None:
    rng = np.random.default_rng(0)
    contexts = np.repeat(np.arange(20), 5)
    human = rng.normal(size=100)
    scores = {"good": human + rng.normal(size=100) / 2, "bad": human + 2 * rng.normal(size=100)}
    rows = {}
    for name, score in scores.items():
        table = pl.DataFrame({"context_id": contexts, "score": score, "human": human})
        table = table.with_columns(split=pl.lit("x"), system=pl.lit(None, pl.String))
        rows[name] = {"quality": correlate_candidates(table)}

    (found,) = find_differences(rows)

    def lead(some: npt.NDArray[np.bool_]) -> float:
        one, other = (stats.spearmanr(s[some], human[some]).statistic for s in scores.values())
        return float(one - other)

    without = np.array([lead(contexts != number) for number in range(20)])
    value = lead(contexts >= 0)
    bias = 19 * (without.mean() - value)
    error = math.sqrt(19 / 20 * ((without - value) ** 2).sum() + bias**2)
    assert (found.metric, found.difference) == ("good", pytest.approx(value))
    share = (value + 2) / 4
    reach = stats.t.ppf(0.975, 19) * error / 4 / (share * (1 - share))
    ends = [4 * expit(logit(share) + side) - 2 for side in (-reach, reach)]
    assert found.interval == pytest.approx(ends)
    assert found.p == pytest.approx(2 * stats.t.sf(value / error, 19))


def test_rows_over_other_candidates_are_not_compared(tmp_path: Path) -> None:
    judged = read_judged(write_judged(tmp_path))
    scorers = [*LENGTH, by_candidate("mine", FIRST), by_candidate("none", {})]
    assert compare_metrics(judged, scorers, over="all").differences == ()
    # Only what has a number is compared: FIRST knows context 1 alone, which has no spread.
    (found,) = compare_metrics(judged, scorers).differences
    assert {found.metric, found.other_metric} == {"length", "mine"}
    assert (found.difference, found.interval, found.p) == (pytest.approx(0), None, None)
