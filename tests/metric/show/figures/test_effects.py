"""The figure of a suite's effects: a mark per set and model, at its delta."""

from typing import Any

import pytest
from support.report.svg_marks import marks

from nnd.metric.show import draw_effects
from nnd.metric.show.drawing.svg import svg_file
from nnd.metric.show.drawing.theme import COLOURS, style


def effect(name: str, delta: float | None, verdict: str, **more: Any) -> dict[str, Any]:
    return {
        "set": name,
        "n": 40,
        "pass_rate": None if delta is None else 0.6 + delta,
        "parents_pass_rate": 0.6,
        "rest_pass_rate": None,
        "delta": delta,
        "interval": None if delta is None else [delta - 0.05, delta + 0.05],
        "verdict": verdict,
        "by_error_category": {},
        **more,
    }


def test_marks_are_at_their_deltas() -> None:
    others = {"parents_pass_rate": None, "rest_pass_rate": 0.6}
    suites = {
        "org/x": [effect("typos", -0.1, "worse"), effect("slice", 0.04, "undecided", **others)],
        "org/y": [effect("typos", 0.02, "undecided"), effect("slice", None, "undecided")],
    }
    with style():
        drawing = draw_effects({"org/none": "none", "org/x": "x", "org/y": "y"}, suites)
        assert drawing is not None
        x_typos, y_typos, x_slice = marks(svg_file(drawing))

    assert (
        x_typos.title == "x, typos: 50.0 % of 40, 60.0 % of the parents: -10.0 points [-15.0, -5.0]"
    )
    assert x_slice.title == "x, slice: 64.0 % of 40, 60.0 % of the rest: 4.0 points [-1.0, 9.0]"
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
    assert draw_effects({"m": "m"}, {"m": [effect("typos", None, "undecided")]}) is None
