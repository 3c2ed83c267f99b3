"""Curves of training: the figure shows the numbers of the histories, and says what cannot be."""

# ruff: noqa: S314 - our own figures are read

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from support.refusals import refusal
from support.screens.commands import Nnd, run_apart
from support.shown import check_pictured
from support.training.histories import entry, write

from nnd.metric.numbers.statistics.intervals import wilson
from nnd.metric.train.curves import curve
from nnd.metric.train.history import HISTORY, Point
from nnd.schemas import table_text

SVG = "{http://www.w3.org/2000/svg}"
RISING = [entry(0, 0.4, rude=0.2, wrong=None), entry(500, 0.6, rude=0.7, wrong=0.5)]
FALLING = [entry(0, 0.9, rude=0.9, wrong=0.8), entry(1000, 0.3, rude=0.25, wrong=0.5)]


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("two")
    return [write(folder / name / HISTORY, run) for name, run in (("a", RISING), ("b", FALLING))]


def marks(path: Path) -> list[str]:
    """What the marks of a figure say they are."""
    return [
        title.text or ""
        for group in ET.parse(path).iter(f"{SVG}g")
        if group.get("class") == "mark"
        for title in group.findall(f"{SVG}title")
    ]


# The result


def test_curves_show_themselves_and_the_marks_are_the_entries(
    two: list[Path], tmp_path: Path
) -> None:
    found = curve(two, tmp_path / "c.svg")
    assert check_pictured(found) == marks(tmp_path / "c.svg")
    assert found.headline() == (
        "a passes 60.0 % of 100 tests at step 500; b passes 30.0 % of 100 tests at step 1,000."
    )
    rows = [line.split() for line in table_text(found.table()).splitlines()]
    assert ["b", "rude", "0", "to", "1,000"] in [row[:5] for row in rows]
    assert marks(tmp_path / "c.svg") == [
        "a, overall, step 0: 40.0 % [30.0, 50.0] of 100",
        "a, overall, step 500: 60.0 % [50.0, 70.0] of 100",
        "b, overall, step 0: 90.0 % [80.0, 100.0] of 100",
        "b, overall, step 1,000: 30.0 % [20.0, 40.0] of 100",
        "a, rude, step 0: 20.0 % [10.0, 30.0] of 100",
        "a, rude, step 500: 70.0 % [60.0, 80.0] of 100",
        "b, rude, step 0: 90.0 % [80.0, 100.0] of 100",
        "b, rude, step 1,000: 25.0 % [15.0, 35.0] of 100",
        "a, wrong, step 500: 50.0 % [40.0, 60.0] of 100",  # no test of it at step 0
        "b, wrong, step 0: 80.0 % [70.0, 90.0] of 100",
        "b, wrong, step 1,000: 50.0 % [40.0, 60.0] of 100",
    ]


def test_without_a_file_nothing_is_written(
    two: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert curve(two).to_dict() == curve(two, "c.png").to_dict()
    assert [*tmp_path.rglob("*")] == [tmp_path / "c.png"]


def test_a_row_of_the_frame_is_a_point(two: list[Path]) -> None:
    frame = curve(two, categories=["wrong"]).to_frame()
    assert frame.select("run", "category", "step", "n", "pass_rate").rows() == [
        ("a", "overall", 0, 100, 0.4),
        ("a", "overall", 500, 100, 0.6),
        ("a", "wrong", 500, 100, 0.5),
        ("b", "overall", 0, 100, 0.9),
        ("b", "overall", 1000, 100, 0.3),
        ("b", "wrong", 0, 100, 0.8),
        ("b", "wrong", 1000, 100, 0.5),
    ]
    assert frame.select("low", "high").row(0) == pytest.approx((0.3, 0.5))


# The figure


def test_marks_and_bands_stand_where_their_numbers_are(tmp_path: Path) -> None:
    curve(write(tmp_path / "h", RISING), tmp_path / "c.svg", categories=["overall"])
    root = ET.parse(tmp_path / "c.svg").getroot()
    dots = [
        (float(use.get("x", "")), float(use.get("y", "")))
        for group in root.iter(f"{SVG}g")
        if group.get("class") == "mark"
        for use in group.iter(f"{SVG}use")
    ]
    (x0, at_40), (x500, at_60) = dots
    assert x0 < x500
    per_point = (at_60 - at_40) / 20  # below 0: down is more in an SVG
    (band,) = [use for use in root.iter(f"{SVG}use") if "fill-opacity" in use.get("style", "")]
    paths = {f"#{path.get('id')}": path.get("d", "") for path in root.iter(f"{SVG}path")}
    numbers = [float(part) for part in paths[band.get("href", "")].split() if part not in "MLz"]
    shift = float(band.get("x", "")), float(band.get("y", ""))
    found = sorted(
        {
            (round(x + shift[0], 2), round((y + shift[1] - at_40) / per_point + 40, 2))
            for x, y in zip(numbers[::2], numbers[1::2], strict=True)
        }
    )
    # The intervals of the two steps: [30, 50] and [50, 70].
    expected = [(x0, 30), (x0, 50), (x500, 50), (x500, 70)]
    assert found == [(pytest.approx(x, abs=0.02), pytest.approx(y, abs=0.02)) for x, y in expected]


def test_the_same_histories_give_the_same_bytes(two: list[Path], tmp_path: Path) -> None:
    for name in ("1.svg", "2.svg", "1.png", "2.png"):
        curve(two, tmp_path / name)
    assert (tmp_path / "1.svg").read_bytes() == (tmp_path / "2.svg").read_bytes()
    assert (tmp_path / "1.png").read_bytes() == (tmp_path / "2.png").read_bytes()
    assert (tmp_path / "1.png").read_bytes().startswith(b"\x89PNG")


def test_chosen_categories_stand_beside_all_tests(two: list[Path], tmp_path: Path) -> None:
    found = curve(two, tmp_path / "c.svg", categories=["wrong", "wrong"])
    assert found.categories == ("overall", "wrong")
    assert {mark.split(",")[1] for mark in marks(tmp_path / "c.svg")} == {" overall", " wrong"}


def test_a_long_history_is_a_line_without_marks(tmp_path: Path) -> None:
    many = [entry(step, 0.5) for step in range(0, 50_000, 1000)]
    curve(write(tmp_path / "h", many), tmp_path / "c.svg")
    assert marks(tmp_path / "c.svg") == []
    texts = [text.text for text in ET.parse(tmp_path / "c.svg").iter(f"{SVG}text")]
    assert {"0", "20k", "40k"} <= set(texts)


def test_the_interval_of_a_step_is_shown(tmp_path: Path) -> None:
    ends = {"all": Point(1.0, 20, (0.839, 1.0)), "none": Point(0.0, 5, (0.0, 0.434))}
    path = write(tmp_path / "h", [replace(entry(0, 0.5), by=ends)])
    found = curve(path, tmp_path / "c.svg").to_dict()
    assert marks(tmp_path / "c.svg") == [
        "h, overall, step 0: 50.0 % [40.0, 60.0] of 100",
        "h, all, step 0: 100.0 % [83.9, 100.0] of 20",
        "h, none, step 0: 0.0 % [0.0, 43.4] of 5",
    ]
    points = {each["category"]: each for each in found["runs"][0]["points"]}
    assert points["all"]["interval"] == [0.839, 1.0]
    assert points["all"]["wilson"] == [pytest.approx(0.839, abs=5e-4), 1.0]


def test_every_panel_says_how_many_tests_it_shows(tmp_path: Path) -> None:
    entries = [replace(entry(0), by={"rude": Point(0.5, n, None)}) for n in (4, 1200, 8)]
    grown = [replace(each, step=step) for step, each in enumerate(entries)]
    curve(write(tmp_path / "h", grown), tmp_path / "c.svg")
    texts = [text.text for text in ET.parse(tmp_path / "c.svg").iter(f"{SVG}text")]
    assert [text for text in texts if text and text.endswith("tests")] == [
        *("100 tests", "4 to 1,200 tests")
    ]


def test_an_entry_without_an_interval_has_no_band(tmp_path: Path) -> None:
    one = replace(entry(0), overall=Point(0.5, 1, None))
    curve(write(tmp_path / "h", [one]), tmp_path / "c.svg")
    assert marks(tmp_path / "c.svg") == ["h, overall, step 0: 50.0 % of 1"]


def test_hostile_names_and_categories_are_shown_as_text(tmp_path: Path) -> None:
    category = "</svg><script>alert(1)</script>\x00\u202e$x$ [red]"
    path = write(tmp_path / "<b>\x01.jsonl", [entry(0, 0.5, **{category: 0.25})])
    curve(path, tmp_path / "c.svg")
    assert marks(tmp_path / "c.svg")[1] == (
        "<b>·, </svg><script>alert(1)</script>··$x$ [red], step 0: 25.0 % [15.0, 35.0] of 100"
    )
    curve(path, tmp_path / "c.png")


# The numbers


def test_the_numbers_are_returned_too(two: list[Path], tmp_path: Path) -> None:
    found = curve(two, tmp_path / "c.svg", categories=["rude"]).to_dict()
    first, second = found["runs"]
    assert first == {
        "name": "a",
        "history": str(two[0]),
        "share_of_time": 0.25,
        "signature": RISING[-1].signature,
        "change": None,
        "points": [
            {
                "category": category,
                "step": step,
                "pass_rate": rate,
                "n": 100,
                "interval": bounds,
                "wilson": pytest.approx(wilson(round(100 * rate), 100)),
            }
            for category, step, rate, bounds in [
                ("overall", 0, 0.4, [0.3, 0.5]),
                ("overall", 500, 0.6, [0.5, 0.7]),
                ("rude", 0, 0.2, [0.1, 0.3]),
                ("rude", 500, 0.7, [0.6, 0.8]),
            ]
        ],
    }
    assert second["name"] == "b"
    assert found["notes"] == []


def test_runs_that_were_scored_on_other_pairs_are_told_apart(tmp_path: Path) -> None:
    other = entry(0)
    other = replace(other, signature=other.signature.replace("made_up@1", "made_up@2"))
    paths = [write(tmp_path / "a.jsonl", RISING), write(tmp_path / "b.jsonl", [other])]
    (note,) = curve(paths, tmp_path / "c.svg").notes
    assert note.startswith("a and b were not scored on the same pairs in the same way: ")


def test_runs_are_called_by_what_tells_them_apart(tmp_path: Path) -> None:
    paths = [write(tmp_path / part / HISTORY, RISING) for part in ("x/run", "y/run", "other")]
    found = curve(paths, tmp_path / "c.svg")
    assert [run.name for run in found.runs] == [str(paths[0]), str(paths[1]), "other"]


# What cannot be


def test_what_cannot_be_drawn_is_said_and_nothing_is_written(
    two: list[Path], tmp_path: Path
) -> None:
    empty = write(tmp_path / "empty", [])
    for histories, out, categories, code, where in [
        ([], "c.svg", [], "input.missing", ""),
        ([two[0], two[0]], "c.svg", [], "name.twice", str(two[0])),
        ([empty], "c.svg", [], "train.history", "empty"),
        ([tmp_path / "none"], "c.svg", [], "train.history", "none"),
        (two, "c.pdf", [], "option.bad-value", "c.pdf"),
        (two, "c.svg", ["rood"], "name.unknown", ""),
    ]:
        with refusal(code, where):
            curve(histories, tmp_path / out, categories=categories)
        assert not (tmp_path / out).exists()


# The command


def test_the_command_prints_a_table_and_writes_the_figure(
    nnd: Nnd, two: list[Path], tmp_path: Path
) -> None:
    code, out, err = nnd("curve", *two)
    assert (code, err) == (0, "")
    assert (tmp_path / "curve.svg").is_file()
    rows = [" ".join(line.split()) for line in out.splitlines()]
    assert "a wrong 500 to 500 50.0 [40.0, 60.0] 50.0 [40.0, 60.0] 100" in rows
    assert "b overall 0 to 1,000 90.0 [80.0, 100.0] 30.0 [20.0, 40.0] 100" in rows
    assert "scoring took" not in out
    assert out.splitlines()[-1].strip() == "written to curve.svg"
    _, out, _ = nnd("curve", *two, "--details")
    assert "a: scoring took 25.0 % of the training time" in out.splitlines()
    code, out, _ = nnd("curve", two[0], "--out", "c.png", "--category", "rude", "--json")
    assert code == 0
    (run,) = json.loads(out)["runs"]
    assert {each["category"] for each in run["points"]} == {"overall", "rude"}
    assert (tmp_path / "c.png").is_file()


@pytest.mark.parametrize("name", ["c.svg", "c.png"])
def test_only_a_figure_of_ours_is_replaced(two: list[Path], tmp_path: Path, name: str) -> None:
    curve(two, tmp_path / name)
    drawn = (tmp_path / name).read_bytes()
    curve(two[0], tmp_path / name)
    assert (tmp_path / name).read_bytes() != drawn

    for mine in (b"mine", drawn.replace(b"Drawn by nnd", b"Drawn by me!")):
        (tmp_path / name).write_bytes(mine)
        with refusal("place.foreign-files"):
            curve(two, tmp_path / name)
        assert (tmp_path / name).read_bytes() == mine


def test_the_command_marks_where_all_contexts_agree(nnd: Nnd, tmp_path: Path) -> None:
    entries = [entry(0, 0.5), replace(entry(9), overall=Point(1.0, 20, (0.839, 1.0)))]
    _, out, _ = nnd("curve", write(tmp_path / "h", entries))
    rows = [" ".join(line.split()) for line in out.splitlines()]
    assert "h overall 0 to 9 50.0 [40.0, 60.0] 100.0 [83.9, 100.0]* 20" in rows
    assert "*: all contexts agree" in out
    assert "*" not in nnd("curve", write(tmp_path / "h", entries[:1]))[1]


def test_reading_a_history_and_drawing_it_loads_no_torch(two: list[Path], tmp_path: Path) -> None:
    (ran,) = run_apart(["curve", two[0]], folder=tmp_path)
    assert (ran.code, ran.err, "torch" in ran.loaded) == (0, "", False)
