"""Comparisons show themselves: headline, table, picture, frame."""

from pathlib import Path

import pytest
from support.shown import check_pictured
from support.two_models import scored, write_run

from nnd.metric.numbers import Comparisons, compare

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


def test_one_comparison_shows_its_verdict_and_its_categories(two: Comparisons) -> None:
    (only,) = two
    assert two.headline() == only.headline()
    assert two.headline() == (
        "ant 75.0 % > bee 30.0 % of 40 shared tests; the difference is significant."
    )
    assert str(two) == str(only)
    assert two.details()[2:] == only.details()[2:]  # all but the tables, which equal themselves
    marks = check_pictured(two)
    assert check_pictured(only) == marks
    assert [mark.partition(":")[0] for mark in marks] == ["overall", "rude", "wrong"]
    assert marks[0].startswith("overall: 45.0 points")
    assert marks[0].endswith("p 7.63e-06: ant is better")  # 2 / 2 ** 18


def test_several_are_ranked(three: Comparisons) -> None:
    # ant passes 30 of 40, bee 12 and cat 20; that cat is better than bee is not significant.
    verdicts = [each.overall.verdict for each in three]
    assert verdicts == ["first", "first", "undecided"]
    assert three.headline() == (
        "ant 75.0 % > cat 50.0 %, bee 30.0 % of 40 shared tests; 2 of 3 differences are "
        "significant."
    )
    marks = check_pictured(three)
    assert [mark.partition(" points")[0] for mark in marks] == [
        "ant against bee: 45.0",
        "ant against cat: 25.0",
        "bee against cat: -20.0",
    ]
    assert [*map(str, three.table().columns[0].cells)] == [
        "ant against cat",
        "ant against bee",
        "cat against bee",
    ]


def test_two_that_do_not_differ_are_not_ranked(tmp_path: Path) -> None:
    found = compare(write_run(tmp_path / "run", BEE, CAT))
    assert found.headline() == (
        "cat 50.0 %, bee 30.0 % of 40 shared tests; the difference is not significant."
    )


def test_tests_that_not_all_share_give_no_ranking(tmp_path: Path) -> None:
    # bee lacks the last ten tests: the rate of ant is another one against bee than against cat.
    found = compare(write_run(tmp_path / "run", ANT, BEE.head(30), CAT))
    assert found.headline() == (
        "3 models, compared pairwise on the tests they share: 2 of 3 differences are significant."
    )
    assert found.remarks() == [
        f"Left out: {left} pairs scored only with {a}, and {out} scored only with {b}."
        for a, left, b, out in (("org/ant", 10, "org/bee", 0), ("org/bee", 0, "org/cat", 10))
    ]


def test_slices_sentences_and_signatures_are_details(three: Comparisons) -> None:
    shown = three.details()
    tables = [part for part in shown if not isinstance(part, str)]
    assert [table.row_count for table in tables] == [3, 3, 3, 3]  # overall, rude, wrong
    titles = [str(table.columns[0].header) for table in tables]
    assert titles == ["pass rate, %", *map(str, three.table().columns[0].cells)]
    sentences = [part for part in shown if isinstance(part, str)]
    undecided = [e for e in three if e.overall.verdict == "undecided"]
    assert sentences[:-1] == [each.sentences[0] for each in undecided]
    assert (
        sentences[-1] == "p (Holm) is adjusted within each comparison, not over all 3 comparisons"
    )
    assert not {*sentences} & {*str(three).splitlines()}


def test_comparisons_are_a_sequence(three: Comparisons) -> None:
    assert len(three) == 3
    assert [(each.first, each.second) for each in three] == [
        (three[n].first, three[n].second) for n in range(3)
    ]
    with pytest.raises(IndexError):
        three[3]
    assert three.to_dict() == {"comparisons": [each.to_dict() for each in three]}


def test_a_row_of_the_frame_is_a_slice_of_a_comparison(three: Comparisons) -> None:
    frame = three.to_frame()
    assert frame.height == 9
    assert frame.filter(slice="overall").select(
        "first", "second", "n", "only_first", "only_second"
    ).rows() == [
        ("org/ant", "org/bee", 40, 18, 0),
        ("org/ant", "org/cat", 40, 15, 5),
        ("org/bee", "org/cat", 40, 6, 14),
    ]
    for each, row in zip(three, frame.filter(slice="overall").iter_rows(named=True), strict=True):
        told = each.overall
        assert (row["low"], row["high"]) == told.interval
        assert (row["difference"], row["p"], row["p_holm"]) == (told.difference, told.p, None)
        assert row["verdict"] == told.verdict
