"""The one rule of all differences: interval and p must agree."""

from dataclasses import replace

import pytest

from nnd.metric.numbers.statistics.difference import Difference, adjust, in_words

CLEAR = Difference(
    n=40,
    rate=0.75,
    other=0.25,
    difference=0.5,
    interval=(0.2, 0.7),
    p=0.01,
    p_holm=None,
    only_first=22,
    only_second=2,
)


@pytest.mark.parametrize(
    ("interval", "p", "p_holm", "verdict"),
    [
        ((0.2, 0.7), 0.01, None, "first"),
        ((-0.7, -0.2), 0.01, None, "second"),
        ((0.2, 0.7), 0.05, None, "undecided"),
        ((0.2, 0.7), 0.01, 0.06, "undecided"),
        ((0.2, 0.7), 0.04, 0.04, "first"),
        ((0.0, 0.7), 0.01, None, "undecided"),
        ((-0.1, 0.7), 0.01, None, "undecided"),
        (None, 0.01, None, "undecided"),
        ((0.2, 0.7), None, None, "untested"),
        (None, None, None, "untested"),
    ],
)
def test_interval_and_p_must_agree(
    interval: tuple[float, float] | None, p: float | None, p_holm: float | None, verdict: str
) -> None:
    assert replace(CLEAR, interval=interval, p=p, p_holm=p_holm).verdict == verdict


def test_holm_is_over_the_family_and_verdicts_follow() -> None:
    # 0.01 * 3, then 0.03 * 2 for the second; one without p is no member.
    family = [replace(CLEAR, p=p) for p in (0.03, 0.01, None, 0.2)]
    assert [each.p_holm for each in adjust(family)] == pytest.approx([0.06, 0.03, None, 0.2])
    assert [each.verdict for each in adjust(family)] == [
        "undecided",
        "first",
        "untested",
        "undecided",
    ]


def test_turned_it_is_the_difference_of_the_second_from_the_first() -> None:
    turned = CLEAR.turned()
    assert (turned.rate, turned.other, turned.difference) == (0.25, 0.75, -0.5)
    assert (turned.interval, turned.only_first, turned.only_second) == ((-0.7, -0.2), 2, 22)
    assert turned.verdict == "second"
    assert turned.turned() == CLEAR


def test_it_is_stored_with_its_verdict() -> None:
    stored = CLEAR.to_dict()
    assert stored["verdict"] == "first"
    assert stored["interval"] == [0.2, 0.7]
    assert in_words("second", "above", "below") == "below"
