"""Why a difference is not significant, where one number alone would make it so."""

from pathlib import Path
from typing import Any

import pytest
from support.two_models import scored, write_run

from nnd.metric.numbers.comparison.comparing import compare


def overall(folder: Path, x: str, y: str, **columns: Any) -> str:
    """The sentence on all tests of two models, x and y, by their verdicts."""
    runs = [
        write_run(folder / name, scored(name, verdicts, **columns))
        for name, verdicts in {"x": x, "y": y}.items()
    ]
    (found,) = compare(runs)
    return found.sentences[0]


def test_one_context_gives_no_interval(tmp_path: Path) -> None:
    # There are two flips of the only context, both as far from 0: p = 1.
    assert overall(tmp_path, "+" * 6, "-" * 6, context_id="c") == (
        "x and y do not differ significantly overall: 100.0 % against 0.0 % of 6 tests, a "
        "difference of +100.0 points, p = 1.0000; all tests are of one context, so there is no "
        "interval."
    )


def test_a_p_value_that_the_interval_does_not_bear_out(tmp_path: Path) -> None:
    # Six tests of six contexts are x's, p = 2 / 2^6 = 0.03125; one large context is nobody's.
    contexts = [*"abcdef", *["g"] * 40]
    said = overall(tmp_path, "+" * 6 + "-" * 40, "-" * 46, context_id=contexts)
    assert said.startswith("x and y do not differ significantly overall: 13.0 % against 0.0 % of ")
    assert "], p = 0.0312; p is below 0.05, but the interval includes 0; to detect 2 points" in said


def test_tests_of_one_context_do_not_make_a_difference_significant(tmp_path: Path) -> None:
    # McNemar's p of twelve tests, all of one context, would be 2 / 2^12 = 0.0005; it is 2 / 2.
    contexts = ["c"] * 12 + ["d"]
    said = overall(tmp_path, "+" * 12 + "-", "-" * 13, context_id=contexts)
    assert "+92.3 points [-100.0, +100.0], p = 1.0000; to detect" in said


@pytest.mark.parametrize("better", ["x", "y"])
def test_an_interval_that_the_p_value_does_not_bear_out(better: str, tmp_path: Path) -> None:
    # p = 2 / 2^5 = 0.0625, and the difference is the same in all contexts.
    verdicts = ("+" * 5, "-" * 5) if better == "x" else ("-" * 5, "+" * 5)
    assert overall(tmp_path, *verdicts).endswith(
        "], p = 0.0625; the interval excludes 0, but p is not below 0.05."
    )


def test_numbers_that_agree_need_no_reason(tmp_path: Path) -> None:
    # One test each is x's and y's: p = 1.
    assert "], p = 1.0000; to detect 2 points takes" in overall(tmp_path, "+-+-", "-++-")


@pytest.mark.parametrize(
    ("contexts", "said"),
    [
        (9, ["The tests have 9 contexts; with fewer than 10, intervals are rough."]),
        (10, []),
    ],
)
def test_few_contexts_are_mentioned(contexts: int, said: list[str], tmp_path: Path) -> None:
    runs = [
        write_run(tmp_path / name, scored(name, verdicts + "-" * (contexts - 2)))
        for name, verdicts in {"x": "+-", "y": "-+"}.items()
    ]
    (found,) = compare(runs)
    assert list(found.sentences[1:]) == [*found.remarks()] == said
