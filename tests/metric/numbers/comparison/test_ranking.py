"""Rankings: where one sign may stand between models that were compared each with each."""

import pytest

from nnd.metric.numbers.comparison.comparison import ranking

RATES = {"z": 0.4, "x": 0.6, "y": 0.5}


@pytest.mark.parametrize(
    ("better", "said"),
    [
        (set(), "x 60.0 %, y 50.0 %, z 40.0 %"),
        # y may be as good as x, and as bad as z: no sign is true of all before and behind it.
        ({("x", "z")}, "x 60.0 %, y 50.0 %, z 40.0 %"),
        ({("x", "z"), ("x", "y")}, "x 60.0 % > y 50.0 %, z 40.0 %"),
        ({("x", "z"), ("y", "z")}, "x 60.0 %, y 50.0 % > z 40.0 %"),
        ({("x", "z"), ("x", "y"), ("y", "z")}, "x 60.0 % > y 50.0 % > z 40.0 %"),
    ],
)
def test_a_sign_stands_where_all_before_are_better(better: set[tuple[str, str]], said: str) -> None:
    assert ranking(RATES, better) == said


def test_equal_models_keep_their_order() -> None:
    assert ranking({"b": 0.5, "a": 0.5}, set()) == "b 50.0 %, a 50.0 %"
