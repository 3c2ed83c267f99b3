"""How far one metric is ahead of another: the bootstrap again, row by row and by scipy."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from support.judged_cases import by_candidate, write_judged

from nnd.metric.other_metrics.judged_candidates import read_judged
from nnd.metric.other_metrics.measuring_metrics import compare_metrics
from nnd.metric.other_metrics.scorers.scorer_names import find_scorers

LENGTH = find_scorers(["length"])
FIRST = {"1/a": -1.0, "1/b": -2.0, "1/c": -3.0}


@pytest.mark.parametrize("order", ["given", "turned"])
def test_the_better_of_two_metrics_and_how_sure_that_is(order: str, tmp_path: Path) -> None:
    # Redrawn by hand: contexts 1 and 2, with 3 and 2 judged candidates, are drawn w and 2 - w
    # times; 1/2 of the draws have w = 1.
    values = dict(zip(("1/a", "1/b", "1/c", "2/a", "2/b"), (3.0, 1.0, 2.0, 0.0, 1.0), strict=True))
    scorers = [*LENGTH, by_candidate("mine", values)]
    judged = read_judged(write_judged(tmp_path))
    shown = scorers if order == "given" else scorers[::-1]

    (found,) = compare_metrics(judged, shown).differences

    length, mine, people = np.array([[11, 7, 5, 14, 5], [3, 1, 2, 0, 1], [3, 2, 0, 1, 1]])
    contexts = np.array([0, 0, 0, 1, 1])
    ahead = {}
    for first in (1, 2):  # of context 2 alone, people found both candidates equal: undefined
        some = np.repeat(np.arange(5), np.array([first, 2 - first])[contexts])
        one, other = (stats.spearmanr(each[some], people[some])[0] for each in (length, mine))
        ahead[first] = one - other
    drawn = np.random.default_rng(0).multinomial(2, [1 / 2, 1 / 2], size=1_000)
    samples = [ahead[first] for first, _ in drawn if first]
    rho = [stats.spearmanr(each, people)[0] for each in (length, mine)]
    assert (found.aspect, found.metric, found.other_metric) == ("quality", "length", "mine")
    assert found.difference == pytest.approx(rho[0] - rho[1])
    assert found.interval == pytest.approx(tuple(np.quantile(samples, [0.025, 0.975])))
    assert (found.rate, found.other) == pytest.approx(tuple(rho))
    worse = sum(value <= 0 for value in samples)
    assert found.p == pytest.approx(2 * (worse + 1) / (len(samples) + 1))


def test_rows_over_other_candidates_are_not_compared(tmp_path: Path) -> None:
    judged = read_judged(write_judged(tmp_path))
    scorers = [*LENGTH, by_candidate("mine", FIRST), by_candidate("none", {})]
    assert compare_metrics(judged, scorers, over="all").differences == ()
    # Only what has a number is compared: FIRST knows context 1 alone, which has no spread.
    (found,) = compare_metrics(judged, scorers).differences
    assert {found.metric, found.other_metric} == {"length", "mine"}
    assert (found.difference, found.interval, found.p) == (pytest.approx(0), None, None)
