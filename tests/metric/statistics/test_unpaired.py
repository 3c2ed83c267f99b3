"""The difference of rates of different tests."""

import pytest

from nnd.metric.statistics import unpaired_interval, wilson


@pytest.mark.parametrize(
    ("a", "n", "b", "m", "bounds"),
    [  # R. G. Newcombe (1998), Statistics in Medicine 17, Table II, method 10
        (56, 70, 48, 80, (0.0524, 0.3339)),
        (9, 10, 3, 10, (0.1705, 0.8090)),
        (6, 7, 2, 7, (0.0582, 0.8062)),
        (5, 56, 0, 29, (-0.0381, 0.1926)),
        (0, 10, 0, 20, (-0.1611, 0.2775)),
        (10, 10, 0, 10, (0.6075, 1.0)),
    ],
)
def test_with_wilson_intervals_it_is_newcombes(
    a: int, n: int, b: int, m: int, bounds: tuple[float, float]
) -> None:
    assert unpaired_interval(a / n, wilson(a, n), b / m, wilson(b, m)) == pytest.approx(
        bounds, abs=5e-5
    )


def test_no_interval_of_a_rate_is_no_interval_of_the_difference() -> None:
    assert unpaired_interval(1.0, None, 0.5, (0.2, 0.8)) is None
