"""Figures: every mark stands where its number says, is told in words, and can be told apart."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from support.report.leads import NO_LEAD, comparison, lead
from support.report.svg_marks import marks, texts

import nnd.metric.show.reports.page.report
from nnd.metric.numbers import Rate, spoken, visible
from nnd.metric.numbers.display_names import short_names
from nnd.metric.numbers.rates.baselines import Baseline
from nnd.metric.show.drawing.marks import Drawing
from nnd.metric.show.drawing.svg import png, svg_file, svg_inline
from nnd.metric.show.drawing.text_widths import fit, spread, text_width
from nnd.metric.show.drawing.theme import COLOURS, COLUMN, MUTED, VARIABLES, look, style
from nnd.metric.show.figures.comparison import draw_comparison
from nnd.metric.show.figures.extrapolation import draw_extrapolation
from nnd.metric.show.figures.forest import draw_forest
from nnd.metric.show.figures.groups import RateGroup
from nnd.metric.show.figures.heat_map import draw_heat_map
from nnd.metric.show.figures.points import JudgedRate, Points
from nnd.metric.show.figures.scaling import draw_scaling, in_short
from nnd.metric.show.figures.scatter import draw_agreement

ROOM = Path(nnd.metric.show.reports.page.report.__file__).parent


def rate(
    share: float | None, interval: tuple[float, float] | None = None, **baselines: float
) -> Rate:
    """A pass rate of 40 tests; baselines by what they reach with a coin."""
    every = ("shorter_wins", "longer_wins", "copy_wins", "unconditional")
    return Rate(
        pass_rate=share,
        n=40,
        passes=round(40 * (share or 0)),
        ties=0,
        unscored=0,
        truncated=None,
        interval=interval,
        wilson=(0.1, 0.95),
        baselines={
            name: Baseline(baselines[name], 0, 0, baselines[name], 0.0, None, "close")
            if name in baselines
            else None
            for name in every
        },
        length_matched=None,
    )


def svg(drawing: Drawing) -> bytes:
    return svg_file(drawing)


def drawn(make: Any, *arguments: Any, **options: Any) -> Drawing:
    with style():
        found: Drawing = make(*arguments, **options)
    return found


GROUPS = [
    RateGroup("", "overall", [rate(0.5, (0.4, 0.6), shorter_wins=0.3), rate(0.8, (0.75, 0.9))]),
    RateGroup("error_category", "wrong_fact", [rate(0.25, unconditional=0.6), rate(None)]),
]


# Places are numbers


def test_marks_of_the_forest_stand_at_their_rates() -> None:
    file = svg(drawn(draw_forest, {"org/a": "a", "org/b": "b"}, GROUPS))
    # The scale says where 0 and 100 are; in between it is even.
    zero, hundred = (next(x for text, x, _ in texts(file) if text == t) for t in ("0", "100"))
    at = {each.title: (each.x - zero) / (hundred - zero) for each in marks(file)}
    expected = {
        "overall, shorter wins: 30.0 %": 0.3,
        "a, overall: 50.0 % [40.0, 60.0] of 40": 0.5,
        "b, overall: 80.0 % [75.0, 90.0] of 40": 0.8,
        "a, wrong fact, without any context: 60.0 %": 0.6,
        "a, wrong fact: 25.0 % of 40": 0.25,
    }
    assert at == pytest.approx(expected, abs=1e-4)  # b has no rate there, and no mark


def test_where_all_contexts_agree_the_interval_is_thin() -> None:
    """It takes every context for one test (`context_intervals`)."""
    groups = [RateGroup("", "overall", [rate(1.0, (0.9, 1.0)), rate(0.5, (0.4, 0.6)), rate(0.5)])]
    file = svg(drawn(draw_forest, dict(zip("abc", "abc", strict=True)), groups))
    assert [each.title for each in marks(file)] == [
        "a, overall: 100.0 % [90.0, 100.0] of 40",
        "b, overall: 50.0 % [40.0, 60.0] of 40",
        "c, overall: 50.0 % of 40",  # one context says nothing of others
    ]
    widths = re.findall(rb"stroke: #(?:0072b2|d55e00|009e73); stroke-width: ([\d.]+)", file)
    assert widths == [b"0.5", b"1.2"]


def test_a_title_of_the_forest_ends_before_the_first_letter() -> None:
    long = "a category of a rather long name, longer than the scale is wide, and more of it"
    for share in (0.0, 0.3, 1.0):
        groups = [RateGroup("error_category", long, [rate(0.5, shorter_wins=share)])]
        found = {text: x for text, x, _ in texts(svg(drawn(draw_forest, {"a": "a"}, groups)))}
        (title,) = (text for text in found if text.startswith("a ca"))
        n = next(text for text in found if text.startswith("n "))
        assert found["n 40"] + 72 * text_width(n) < found["S"] - 72 * text_width("S") / 2
        assert found[title] + 72 * text_width(title) < found["n 40"]


def test_rows_of_the_forest_are_those_of_their_models() -> None:
    file = svg(drawn(draw_forest, {"org/a": "a", "org/b": "b"}, GROUPS))
    rows = {text: y for text, _, y in texts(file) if text in ("a", "b")}  # of the last group
    first = [each for each in marks(file) if each.title.startswith("a, wrong fact:")]
    assert abs(first[0].y - rows["a"]) < 3  # points: a text's foot is not its middle
    assert rows["b"] - rows["a"] == pytest.approx(72 * 0.15, abs=0.01)


def test_a_long_forest_is_set_in_two_columns() -> None:
    many = [RateGroup("error_category", f"c{n}", [rate(n / 40)]) for n in range(40)]
    short, long = (drawn(draw_forest, {"a": "a"}, groups) for groups in (many[:5], many))
    assert short.figure.get_figwidth() == COLUMN
    assert long.figure.get_figwidth() > 2 * COLUMN
    assert len(marks(svg(long))) == 40


def test_cells_of_the_heat_map_are_as_strong_as_the_lead_over_a_coin() -> None:
    groups = [RateGroup("", "overall", [rate(share) for share in (1, 0.75, 0.5, 0.25, None)])]
    file = svg(drawn(draw_heat_map, dict(zip("abcde", "abcde", strict=True)), groups))
    strength = {
        each.title[0]: (each.style.split(";")[0], float(each.style.rpartition(" ")[2]))
        for each in marks(file)
    }
    # 0.9 at the ends, nothing at the coin, half of it half way; none where there is no rate
    assert strength["a"] == ("fill: #58b5ea", 0.9)
    assert strength["b"] == ("fill: #58b5ea", 0.45)
    assert strength["c"][1] == 0
    assert strength["d"] == ("fill: #e8a002", 0.45)
    assert "e" not in strength
    assert [text for text, *_ in texts(file) if text in ("100", "75", "50", "25", "n/a")][:5] == [
        "100",
        "75",
        "50",
        "25",
        "n/a",
    ]


CORRELATED = {
    "tau_b": 0.5,
    "pearson": -0.25,
    "intervals": {"tau_b": [0.1, 0.9], "pearson": None},
    "p_values": {"tau_b": 0.0417, "pearson": None},
}


def points(**more: Any) -> Points:
    judged = {
        "w": JudgedRate(0.3, None, 40, 1.0),
        "x": JudgedRate(0.4, (0.3, 0.5), 40, 2.0),
        "y": JudgedRate(0.5, None, 40, 2.5),
        "z": JudgedRate(0.7, None, 40, 4.0),
    }
    return Points("overall", judged, {"new": 0.6}, {**CORRELATED, **more})


NAMES = {name: name for name in ("w", "x", "new", "y", "z")}


def is_even(places: list[float], values: list[float]) -> bool:
    """Whether places are a line in values: a scale."""
    slope, start = np.polyfit(values, places, 1)
    return bool(np.allclose(slope * np.array(values) + start, places, atol=1e-3) and slope)


def test_the_scatter_is_to_scale_and_says_its_correlations() -> None:
    file = svg(drawn(draw_agreement, NAMES, [points()]))
    found = marks(file)
    assert found[1].title == "x, overall: 40.0 % [30.0, 50.0] of 40; human score 2"
    assert is_even([each.x for each in found], [0.3, 0.4, 0.5, 0.7])
    assert is_even([each.y for each in found], [1, 2, 2.5, 4])
    told = [text for text, *_ in texts(file)]
    assert "τ 0.50 [0.10, 0.90]" in told
    assert "r \u22120.25" in told
    assert "4 systems, p(τ) 0.042" in told
    assert "new" not in told  # nobody judged it


def test_predictions_stand_on_the_line_among_the_judged() -> None:
    # By hand, with a line through the points y = 10 x - 2 at 0.6 and 3.9 within 3 and 5.
    prediction = {
        "model": "new",
        "pass_rate": 0.6,
        "score": 3.9,
        "interval": [3.0, 5.0],
        "position": "within",
    }
    line = {"rmse": 0.25, "rmse_of_mean": 1.5}
    of = points(extrapolation={"line": line, "predictions": [prediction]})
    file = svg(drawn(draw_extrapolation, NAMES, [of]))
    *judged, new = marks(file)
    assert is_even([each.x for each in (*judged, new)], [0.3, 0.4, 0.5, 0.7, 0.6])
    assert is_even([each.y for each in (*judged, new)], [1, 2, 2.5, 4, 3.9])
    assert new.title == "new, overall: pass rate 60.0 %, predicted human score 3.9 [3, 5]"
    assert "fill: #ffffff" in new.style  # open: nobody judged it
    told = [text for text, *_ in texts(file)]
    assert {"4 systems judged", "error 0.25 (mean 1.5)"} < set(told)
    assert "no better than the mean" not in told


def test_a_prediction_without_an_interval_is_a_dot() -> None:
    prediction = {
        "model": "new",
        "pass_rate": 0.6,
        "score": 4.0,
        "interval": None,
        "position": "within",
    }
    line = {"rmse": 0.0, "rmse_of_mean": 1.5}
    of = points(extrapolation={"line": line, "predictions": [prediction]})
    *_, new = marks(svg(drawn(draw_extrapolation, NAMES, [of])))
    assert new.title == "new, overall: pass rate 60.0 %, predicted human score 4"


@pytest.mark.parametrize(
    ("rmse", "said"),
    [
        (1.5, ["error 1.5 (mean 1.5)", "no better than the mean"]),
        (None, ["error undefined (mean 1.5)"]),
    ],
)
def test_a_line_that_tells_nothing_says_so(rmse: float | None, said: list[str]) -> None:
    line = {"rmse": rmse, "rmse_of_mean": 1.5}
    of = points(extrapolation={"line": line, "predictions": []})
    told = [text for text, *_ in texts(svg(drawn(draw_extrapolation, NAMES, [of])))]
    assert [text for text in told if "mean" in text] == said


def test_the_line_is_dotted_beyond_the_judged() -> None:
    of = points(extrapolation={"line": {"rmse": 0.1, "rmse_of_mean": 1}, "predictions": []})
    unjudged = {"far": 0.9}
    drawing = drawn(draw_extrapolation, NAMES, [replace(of, unjudged=unjudged)])
    dotted, solid = (
        [float(x) for x in np.asarray(line.get_xdata())]
        for line in drawing.figure.axes[1].lines
        if line.get_color() == MUTED
    )
    # Judged at 30 to 70 %, and a twentieth of the way from 30 to 90 is left free at either end.
    assert (min(dotted), max(dotted)) == pytest.approx((27, 93))
    assert (min(solid), max(solid)) == pytest.approx((30, 70), abs=66 / 59)


def test_differences_are_sorted_and_to_scale() -> None:
    by = {"one": lead(-0.1, p_holm=0.01), "two": lead(0.15, p_holm=0.01), "none": NO_LEAD}
    found = comparison("org/x", "org/y", lead(0.02, p=0.005), {"error_category": by})
    drawing = drawn(draw_comparison, found, places=(0, 3))
    overall, two, one = marks(svg(drawing))
    assert [row["category"] for row in drawing.data] == ["overall", "two", "one"]
    assert is_even([overall.x, two.x, one.x], [0.02, 0.15, -0.1])
    assert overall.y < two.y < one.y
    assert overall.title == (
        "overall: 2.0 points [-3.0, 7.0] of 40, 52.0 % against 50.0 %, p 0.005: not significant"
    )
    assert one.title == (
        "one: -10.0 points [-15.0, -5.0] of 40, 40.0 % against 50.0 %, p 0.01: y is better"
    )
    # Open where the difference is not significant, else in the colour of the better one.
    assert "fill: #ffffff" in overall.style
    assert (f"fill: {COLOURS[0]}" in two.style, f"fill: {COLOURS[3]}" in one.style) == (True, True)


def test_sizes_are_on_a_logarithmic_scale_and_families_joined() -> None:
    sizes = {"s": 10**8, "m": 10**9, "l": 10**10, "alone": 3 * 10**8, "unknown": 0}
    names = {name: name for name in sizes}
    groups = [RateGroup("", "overall", [rate(share) for share in (0.5, 0.6, 0.7, 0.8, 0.9)])]
    known = {name: size for name, size in sizes.items() if size}
    drawing = drawn(draw_scaling, names, groups, known, dict.fromkeys("sml", "family"))
    found = {each.title.split()[0]: each for each in marks(svg(drawing))}
    assert list(found) == ["s", "m", "l", "alone"]
    assert found["m"].title == "m (1B), overall: 60.0 % of 40"
    by_size = [found[name].x for name in ("s", "alone", "m", "l")]
    assert is_even(by_size, [8, np.log10(3e8), 9, 10])
    assert is_even([found[name].y for name in ("s", "m", "l", "alone")], [0.5, 0.6, 0.7, 0.8])
    assert drawing.data[0]["family"] == "family"
    assert drawing.data[3]["family"] is None


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        (999, "999"),
        (1_000, "1k"),
        (124_439_808, "124M"),
        (1_557_611_200, "1.6B"),
        (70 * 10**9, "70B"),
    ],
)
def test_parameters_as_people_say_them(parameters: int, said: str) -> None:
    assert in_short(parameters) == said


# Files


def test_a_png_is_a_column_wide_at_300_dots_per_inch() -> None:
    file = png(drawn(draw_forest, {"a": "a", "b": "b"}, GROUPS))
    assert file.startswith(b"\x89PNG")
    assert int.from_bytes(file[16:20], "big") == round(3.3 * 300)


def test_no_letter_is_smaller_than_seven_points() -> None:
    for drawing in (
        drawn(draw_forest, {"a": "a", "b": "b"}, GROUPS),
        drawn(draw_heat_map, {"a": "a", "b": "b"}, GROUPS),
        drawn(draw_agreement, NAMES, [points()]),
    ):
        sizes = re.findall(rb"font(?:-size)?: [^;\"]*?([\d.]+)px", svg(drawing))
        assert {float(size) for size in sizes} == {7.0}


def test_a_figure_is_the_same_byte_for_byte_and_matplotlib_as_it_was() -> None:
    before = dict(mpl.rcParams)
    once, again = (drawn(draw_forest, {"a": "a", "b": "b"}, GROUPS) for _ in range(2))
    assert svg_file(once) == svg_file(again)
    assert png(once) == png(again)
    assert dict(mpl.rcParams) == before


def test_on_a_page_every_colour_is_a_variable_and_every_id_the_figures_own() -> None:
    inline = svg_inline(drawn(draw_heat_map, {"a": "a", "b": "b"}, GROUPS))
    assert not re.findall("#[0-9a-f]{6}", inline)
    assert set(re.findall(r"var\(--([\w-]+)\)", inline)) >= {"ink", "paper", "above"}
    ids = re.findall(r' id="([^"]*)"', inline)
    assert all(each.startswith("heat_map-") for each in ids)
    references = re.findall(r'(?:href="#|url\(#)([^")]*)', inline)
    assert set(references) <= set(ids)
    assert "<style" not in inline  # one of matplotlib's would hold for the whole page


def test_the_style_sheet_defines_every_variable_of_the_figures() -> None:
    css = (ROOM / "report.css").read_text()
    light, dark = css.split("prefers-color-scheme: dark", 1)
    for name in VARIABLES.values():
        assert f"--{name}: #" in light
        assert f"--{name}: #" in dark


# Told apart


def test_forty_two_models_look_different() -> None:
    assert len({look(number) for number in range(42)}) == 42


def test_colours_are_those_of_okabe_and_ito() -> None:
    theirs = {"#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7"}
    assert set(COLOURS) <= theirs


def _luminance(colour: str, on: str = "#000000", strength: float = 1) -> float:
    """Relative luminance (WCAG 2.2), of a colour laid over another with some strength."""
    total = 0.0
    for place, weight in ((1, 0.2126), (3, 0.7152), (5, 0.0722)):
        over, under = (int(each[place : place + 2], 16) / 255 for each in (colour, on))
        value = strength * over + (1 - strength) * under
        linear = value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        total += weight * linear
    return total


def _contrast(a: float, b: float) -> float:
    return (max(a, b) + 0.05) / (min(a, b) + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_texts_stand_out_from_what_is_behind_them(scheme: int) -> None:
    sheet = (ROOM / "report.css").read_text().split("prefers-color-scheme: dark", 1)[scheme]
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", sheet))
    paper, ink = colours["paper"], _luminance(colours["ink"])
    for name in ("ink", "muted", "link", "pass", "fail"):
        for behind in ("paper", "sunken"):
            against = _luminance(colours[behind])
            assert _contrast(_luminance(colours[name]), against) >= 4.5, (name, behind)
    for cell in ("above", "below"):
        for strength in (0.1, 0.5, 0.9):
            assert _contrast(ink, _luminance(colours[cell], paper, strength)) >= 4.5, cell
    for wash in ("pass-wash", "fail-wash"):
        assert _contrast(ink, _luminance(colours[wash])) >= 4.5


# Texts


@pytest.mark.parametrize(
    ("models", "names"),
    [
        (["org/a", "org/b"], ["a", "b"]),
        (["one/a", "two/a", "b"], ["one/a", "two/a", "b"]),
        (["gpt2"], ["gpt2"]),
        (["runs/x/", "/"], ["x", "/"]),
        (["a\nb\u202e"], ["a·b·"]),
    ],
)
def test_short_names(models: list[str], names: list[str]) -> None:
    assert short_names(models) == names


def test_a_text_is_cut_to_a_width_and_no_further() -> None:
    whole = "a rather long name of a category"
    assert fit(whole, 10) == whole
    cut = fit(whole, 1)
    assert cut.endswith("…")
    assert text_width(cut) <= 1 < text_width(whole[: len(cut) + 1] + "…")
    assert len(spoken("x" * 100_000)) == 100


def test_what_controls_is_a_dot_and_what_is_read_stays() -> None:
    assert visible("a\x00b\u202ec\ud800d\ufffee") == "a·b·c·d·e"
    assert visible("Ça, 中文, שלום, 👩‍👧") == "Ça, 中文, שלום, 👩‍👧"
    assert spoken("wrong_fact") == "wrong fact"


def test_a_dollar_is_a_dollar() -> None:
    groups = [RateGroup("error_category", r"$\frac{$", [rate(0.5)])]
    assert r"$\frac{$" in [t for t, *_ in texts(svg(drawn(draw_forest, {"$x$": "$x$"}, groups)))]


def test_letters_move_apart_and_keep_their_order() -> None:
    assert spread([1.0, 5.0, 3.0], gap=1) == [1.0, 5.0, 3.0]
    moved = spread([2.0, 2.0, 2.1], gap=1)
    assert moved[0] + 0.999 <= moved[1]
    assert moved[1] + 0.999 <= moved[2]
    assert sum(moved) == pytest.approx(6.1)


# Words that differ, by the page's own script

CASES = {
    # (better, worse): what is marked in each, between brackets
    ("The cat sat.", "The dog sat."): ("The [cat] sat.", "The [dog] sat."),
    ("a b c d", "a x y d"): ("a [b c] d", "a [x y] d"),
    ("a b c", "a c"): ("a [b] c", "a c"),
    ("same", "same"): ("same", "same"),
    ("", "new words"): ("", "[new words]"),
    ("two  blanks", "two blanks"): ("two  blanks", "two blanks"),
    # A blank in common is no word in common.
    ("The capital of it.", "Some birds fly south."): (
        "[The capital of it].",
        "[Some birds fly south].",
    ),
}


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node to run the script")
def test_the_words_that_differ_are_marked() -> None:
    program = (
        (ROOM / "report_words.js").read_text()
        + """
    const shown = (parts) => parts.map(([text, marked]) => (marked ? `[${text}]` : text)).join("");
    for (const [a, b] of JSON.parse(process.argv[1])) {
      const [x, y] = wordDifferences(a, b);
      console.log(JSON.stringify([shown(x), shown(y)]));
    }"""
    )
    done = subprocess.run(
        ["node", "-e", program, json.dumps(list(CASES))], capture_output=True, text=True, check=True
    )
    found = [tuple(json.loads(line)) for line in done.stdout.splitlines()]
    assert found == list(CASES.values())
