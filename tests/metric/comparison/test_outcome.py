"""Comparisons show themselves: headline, table, picture, frame."""

from pathlib import Path

import pytest
from support.shown import check_pictured
from support.two_models import scored, write_run

from nnd.metric.comparison import Comparisons, compare
from nnd.schemas import table_text

CATEGORIES = ["wrong", "rude"] * 20
ANT = scored("org/ant", "+" * 30 + "-" * 10, error_category=CATEGORIES)
BEE = scored("org/bee", "+" * 12 + "-" * 28, error_category=CATEGORIES)
CAT = scored("org/cat", "+-" * 20, error_category=CATEGORIES)


@pytest.fixture
def two(tmp_path: Path) -> Comparisons:
    return compare(write_run(tmp_path / "run", ANT, BEE))


@pytest.fixture
def three(tmp_path: Path) -> Comparisons:
    return compare(write_run(tmp_path / "run", ANT, BEE, CAT))


def test_one_comparison_shows_its_finding_and_its_categories(two: Comparisons) -> None:
    (only,) = two
    assert two.headline() == only.headline() == only.sentences[0]
    assert str(two) == str(only)
    marks = check_pictured(two)
    assert check_pictured(only) == marks
    assert [mark.partition(":")[0] for mark in marks] == ["overall", "rude", "wrong"]
    assert marks[0].startswith("overall: 45.0 points")
    assert marks[0].endswith("of 40, p 7.63e-06: ant is better")  # 2 / 2 ** 18


def test_several_show_the_differences_over_all_tests(three: Comparisons) -> None:
    verdicts = [each.differences.overall.verdict for each in three]
    assert verdicts == ["a", "a", "undecided"]
    assert three.headline() == ("Of the 3 differences between 3 models, 2 are significant overall.")
    marks = check_pictured(three)
    assert [mark.partition(" points")[0] for mark in marks] == [
        "ant against bee: 45.0",
        "ant against cat: 25.0",
        "bee against cat: -20.0",
    ]
    lines = table_text(three.table()).splitlines()
    assert [line.split()[0:3] for line in lines if line.startswith(" org/")] == [
        ["org/ant", "org/bee", "40"],
        ["org/ant", "org/cat", "40"],
        ["org/bee", "org/cat", "40"],
    ]


def test_comparisons_are_a_sequence(three: Comparisons) -> None:
    assert len(three) == 3
    assert [(each.a, each.b) for each in three] == [(three[n].a, three[n].b) for n in range(3)]
    with pytest.raises(IndexError):
        three[3]
    assert three.to_dict() == {"comparisons": [each.to_dict() for each in three]}


def test_a_row_of_the_frame_is_a_slice_of_a_comparison(three: Comparisons) -> None:
    frame = three.to_frame()
    assert frame.height == 9
    assert frame.filter(slice="overall").select("a", "b", "n", "only_a", "only_b").rows() == [
        ("org/ant", "org/bee", 40, 18, 0),
        ("org/ant", "org/cat", 40, 15, 5),
        ("org/bee", "org/cat", 40, 6, 14),
    ]
    for each, row in zip(three, frame.filter(slice="overall").iter_rows(named=True), strict=True):
        told = each.differences.overall
        assert (row["low"], row["high"]) == told.interval
        assert (row["difference"], row["p"], row["p_holm"]) == (told.difference, told.p, None)
        assert row["verdict"] == told.verdict
