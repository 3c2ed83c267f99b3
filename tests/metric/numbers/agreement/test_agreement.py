"""An agreement shows itself: headline, table, picture, frame."""

from dataclasses import replace

import polars as pl
import pytest
from support.refusals import refusal
from support.screens.tables import lines, row
from support.shown import check_pictured, check_shown
from support.two_models import agreement, people

from nnd.metric.numbers import STATISTICS, Agreement
from nnd.metric.numbers.agreement.agreement import COLUMNS

MODELS = ["org/ant", "org/bee", "org/cat", "org/dog"]
FOUR = dict(zip(MODELS, "ABCD", strict=True))
SYSTEMS = dict(zip(MODELS[:3], "ABC", strict=True))


def rates(*shares: float, n: int | None = 40) -> pl.DataFrame:
    rows = [(model, "overall", share, n) for model, share in zip(MODELS, shares, strict=False)]
    return pl.DataFrame(rows, ["model", "category", "pass_rate", "n"], orient="row")


def judged(*scores: float) -> pl.DataFrame:
    return people({"q": dict(zip("ABCD", scores, strict=False))})


@pytest.fixture
def found() -> Agreement:
    # of 3 pairs of systems 2 agree: tau (2 - 1) / 3; r = (0.1 * 0.3 - 0) / sqrt(...), below
    return agreement(rates(0.4, 0.5, 0.6), judged(1, 3, 2), systems=SYSTEMS)


def test_below_four_systems_there_is_nothing_to_correlate(found: Agreement) -> None:
    assert found.headline() == (
        "Too few systems for a correlation: pass rates and human scores of 3 systems are known, "
        "but at least 4 are needed."
    )
    assert lines(found.table())[2:] == [
        "cat C 60.0 2.000",
        "bee B 50.0 3.000",
        "ant A 40.0 1.000",
    ]


def test_from_four_on_the_headline_is_the_correlation_over_all_tests() -> None:
    # Of 6 pairs of systems 5 agree: tau (5 - 1) / 6. Rates -1.5, -.5, .5, 1.5 against scores -1.5,
    # .5, -.5, 1.5: r = (2.25 - .25 - .25 + 2.25) / 5 = 0.8.
    four = agreement(rates(0.4, 0.5, 0.6, 0.7), judged(1, 3, 2, 4), systems=FOUR)
    assert four.headline() == (
        "Pass rates and human scores of 4 systems correlate with tau-b 0.667 and Pearson r 0.800 "
        "(overall)."
    )
    # Of all 24 orders 4 have a gap r, which is r, of at least 0.8, and 4 of at most -0.8.
    assert row(four.table(), "overall") == "4 0.667 0.800 0.3333"
    check_shown(four)


def test_without_a_rate_over_all_tests_the_headline_is_the_mean_over_categories() -> None:
    # "x" as above: tau 2/3, r 0.8; "y" in the order of the scores: tau 1, r of two equal steps 1.
    scores = judged(1, 3, 2, 4)
    of_y = judged(1, 2, 3, 4).with_columns(category=pl.lit("y"))
    of_both = pl.concat([scores.with_columns(category=pl.lit("x")), of_y])
    shares = rates(0.4, 0.5, 0.6, 0.7)
    tested = pl.concat([shares.with_columns(category=pl.lit(name)) for name in "xy"])
    found = agreement(tested, of_both, systems=FOUR)

    assert found.headline() == (
        "Pass rates and human scores of 4 systems correlate with tau-b 0.833 and Pearson r 0.900 "
        "(mean over categories)."
    )
    assert set(found.over_all_tests().values()) == {None}


def test_an_undefined_statistic_is_called_so() -> None:
    alike = agreement(rates(0.5, 0.5, 0.5, 0.5), judged(1, 3, 2, 4), systems=FOUR)
    assert "tau-b undefined and Pearson r undefined" in alike.headline()
    check_shown(alike)


def test_a_model_that_nobody_judged_is_named() -> None:
    known = {model: system for model, system in SYSTEMS.items() if system in "AB"}
    found = agreement(rates(0.4, 0.5, 0.6), judged(1, 3, 2), systems=known)
    assert found.remarks() == ["Without a human score: cat."]


def test_details_hold_every_statistic_and_who_is_who(found: Agreement) -> None:
    table, *notes = found.details()
    # Ranks 1, 2, 3 against 1, 3, 2: Spearman 0.5; r is that of two steps of 0.1 against 2 and -1.
    assert row(table, "overall") == "3 0.333 0.333 0.500 0.500 0.189"
    assert notes[:3] == [f"{model} stands for {system}" for model, system in SYSTEMS.items()]


def test_three_systems_show_what_is_asked_for_and_two_nothing(found: Agreement) -> None:
    chosen = replace(found, columns=COLUMNS["laban2022"])
    assert row(chosen.table(), "overall") == "3 0.333 0.189 0.500"
    assert chosen.headline() == found.headline()
    (remark,) = (line for line in found.remarks() if "prove nothing" in str(line))
    assert "fewer than 4 have no interval over systems" in str(remark)

    two = agreement(rates(0.4, 0.5), judged(1, 3), systems=dict([*SYSTEMS.items()][:2]))
    assert "prove nothing" not in str(two)
    assert lines(replace(two, columns=COLUMNS["laban2022"]).table())[0].startswith("model system")
    assert row(two.details()[0], "overall") == "2 n/a n/a n/a n/a n/a"


def test_the_picture_has_a_mark_per_system(found: Agreement) -> None:
    assert check_pictured(found) == [
        "ant, overall: 40.0 % of 40; human score 1",
        "bee, overall: 50.0 % of 40; human score 3",
        "cat, overall: 60.0 % of 40; human score 2",
    ]


def test_rates_without_n_are_drawn_too() -> None:
    found = agreement(rates(0.4, 0.5, 0.6, n=None), judged(1, 3, 2), systems=SYSTEMS)
    assert check_pictured(found)[0] == "ant, overall: 40.0 %; human score 1"


def test_only_pass_rates_are_drawn(found: Agreement) -> None:
    other = replace(found, of_pass_rates=False)
    assert "mean scores and human scores of 3 systems" in other.headline()
    assert lines(other.table())[0] == "model system mean score human score"
    assert other.svg() is None
    with refusal("figure.nothing-to-draw"):
        other.figure()


def test_a_row_of_the_frame_is_a_statistic_of_a_category(found: Agreement) -> None:
    frame = found.to_frame()
    assert frame.select("category", "statistic", "n").rows() == [
        *(("overall", name, 3) for name in STATISTICS),
        *((None, name, 0) for name in STATISTICS),
    ]
    values = dict(frame.head(len(STATISTICS)).select("statistic", "value").iter_rows())
    assert values == pytest.approx(dict(found.by_category["overall"].statistics))
    assert values["tau_a"] == pytest.approx(1 / 3)
    # It takes each pair once: rates differ by -.1, -.2, -.1 and scores by -2, -1, 1, about their
    # means .1/3, -.2/3, .1/3 and -4/3, -1/3, 5/3, so r = (.1/3) / sqrt(.02/3 * 14/3) = 0.189.
    assert values["gap_r_laban2022"] == pytest.approx(0.189, abs=5e-4)
    tau = frame.row(0, named=True)
    # all 6 orders of 3 scores: tau is 1, 1/3, 1/3, -1/3, -1/3, -1; none is nearer to 0 than 1/3
    assert tau["p"] == 1
    assert (tau["low"], tau["high"]) == (None, None)  # of a table of rates there are no samples
