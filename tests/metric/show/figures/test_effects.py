"""The figure of a suite's effects: a mark per set and model, at its difference."""

import pytest
from support.report.leads import NO_LEAD, lead
from support.report.svg_marks import marks

from nnd.metric.numbers import Difference, Effects, ModelDifference, SetEffect
from nnd.metric.show.drawing.svg import svg_file
from nnd.metric.show.drawing.theme import COLOURS, style
from nnd.metric.show.figures.changes import draw_effects
from nnd.schemas import cells_of


def effect(name: str, difference: ModelDifference) -> SetEffect:
    numbers = Difference(
        **{each: getattr(difference, each) for each in cells_of(difference) if each in NUMBERS},
        interval=difference.interval,
    )
    return SetEffect.extend(
        numbers,
        unscored=0,
        parents=40,
        contexts=40,
        rate_interval=None,
        set=name,
        kind="perturbation",
        op=name,
        by_error_category={},
    )


NUMBERS = ("n", "rate", "other", "difference", "p", "p_holm", "only_first", "only_second")


def test_marks_are_at_their_differences() -> None:
    effects = Effects(
        {
            "org/x": (effect("typos", lead(-0.1)), effect("slice", lead(0.04))),
            "org/y": (effect("typos", lead(0.02)), effect("slice", NO_LEAD)),
        }
    )
    with style():
        drawing = draw_effects({"org/none": "none", "org/x": "x", "org/y": "y"}, effects)
        assert drawing is not None
        x_typos, y_typos, x_slice = marks(svg_file(drawing))

    assert x_typos.title == (
        "x: -10.0 points [-15.0, -5.0] of 40, 40.0 % against 50.0 %, p 0.005: passes less"
    )
    assert x_slice.title == (
        "x: 4.0 points [-1.0, 9.0] of 40, 54.0 % against 50.0 %, p 0.005: not significant"
    )
    per_point = (y_typos.x - x_typos.x) / 12
    assert x_slice.x - y_typos.x == pytest.approx(2 * per_point)
    assert x_typos.y < y_typos.y < x_slice.y
    assert f"fill: {COLOURS[1]}" in x_typos.style  # the second model of the report, filled
    assert "fill: #ffffff" in y_typos.style
    assert [(row["model"], row["set"]) for row in drawing.data] == [
        ("org/x", "typos"),
        ("org/x", "slice"),
        ("org/y", "typos"),
        ("org/y", "slice"),
    ]


def test_sets_without_tests_make_no_figure() -> None:
    assert draw_effects({"m": "m"}, Effects({"m": (effect("typos", NO_LEAD),)})) is None
