"""Tables of pass rates: what is in which cell."""

from dataclasses import replace
from typing import Any

from support.screens.evaluations import result
from support.screens.tables import lines, row
from support.two_models import scored

from nnd.metric.likelihood import Work
from nnd.metric.numbers import PassRates
from nnd.metric.numbers.rates.pass_rates import pass_rates
from nnd.metric.show.tables.pass_rates import (
    baselines_table,
    counts_table,
    length_table,
    pass_rate_table,
    slices_table,
)

KINDS = ["rude", "wrong"] * 20


def rates(verdicts: str, **columns: Any) -> PassRates:
    return pass_rates(scored("x", verdicts, **columns))


def test_a_row_per_model_and_a_column_per_category() -> None:
    # x passes the first 30 of 40, every other one rude: 15 of 20 of each. y passes all rude ones.
    found = {
        "org/x": rates("+" * 30 + "-" * 10, error_category=KINDS),
        "y": rates("+-" * 20, error_category=KINDS),
    }
    table = pass_rate_table(found)
    assert lines(table)[0] == "pass rate, % overall [95 % interval] rude wrong"
    assert row(table, "tests") == "40 20 20"
    assert row(table, "x").startswith("75.0 [")
    assert row(table, "x").endswith("] 75.0 75.0")
    assert row(table, "y").endswith("] 100.0 0.0")


def test_one_category_is_no_column() -> None:
    table = pass_rate_table({"x": rates("+-" * 20, error_category="wrong")})
    assert lines(table)[0] == "pass rate, % overall [95 % interval]"


def test_aspects_are_columns_where_errors_have_no_categories() -> None:
    # As `convert` does it for sources without labels: the error category is the aspect.
    aspects = ["fluency", "relevance"] * 20
    found = rates("+-" * 20, aspect=aspects, error_category=aspects)
    assert lines(pass_rate_table({"x": found}))[0].endswith(" fluency relevance")
    starts = [line.split(":")[0] for line in lines(slices_table({"x": found})) if ": " in line]
    assert starts == ["error category", "error category", "*"]  # all pass, or fail: it is said


def test_slices_stand_below_each_other_where_they_differ() -> None:
    groups = ["human", "human", "bird", "bird"] * 10
    found = rates("+-" * 20, error_category=KINDS, error_group=groups)
    table = slices_table({"x": found})
    assert row(table, "error category: wrong").startswith("20 0.0 [")
    assert row(table, "error group: bird").startswith("20 50.0 [")


def test_baselines_stand_beside_the_model() -> None:
    # Shorter wins passes tests 0 to 9 of 40, longer wins none; 30 match in length, and count half.
    columns = {
        "characters_high": [1] * 10 + [9] * 30,
        "characters_low": [9] * 40,
        "ll_alone_high": [-1.0] * 40,
        "ll_alone_low": [-2.0] * 39 + [None],
    }
    table = baselines_table({"x": rates("+" * 30 + "-" * 10, **columns).overall})
    assert row(table, "x").startswith("75.0 62.5 37.5 n/a 98.8 66.7 [")
    assert row(table, "x").endswith("] of 30")


def test_without_texts_there_are_no_baselines() -> None:
    assert row(baselines_table({"x": rates("+-" * 20).overall}), "x") == "50.0 n/a n/a n/a n/a n/a"


def test_counts_of_ties_and_the_like() -> None:
    found = result(scored("x", "+=?" * 10, truncated=[True] * 5 + [False] * 25))
    assert row(counts_table([replace(found, n_close=7)]), "x") == "10 10 n/a 5 7 n/a"


def test_rounding_stands_with_the_requests_that_it_was_measured_on() -> None:
    work = Work("packed", (), 2.8e-5, deviation_requests=8)
    found = result(scored("x", "+-" * 10))
    caption = str(counts_table([replace(found, work=work)]).caption)
    assert caption == "x: rounding is 2.8e-05 nats per token, measured in float64 on 8 requests"
    table = counts_table([replace(found, work=replace(work, deviation_requests=0))])
    assert str(table.caption).endswith("not measured in float64")
    assert counts_table([replace(found, work=replace(work, deviation=None))]).caption is None


def test_a_star_is_explained_where_there_is_one() -> None:
    all_pass, some = rates("+" * 20), rates("+-" * 10)
    assert "*" in row(pass_rate_table({"x": all_pass}), "x")
    for table in (pass_rate_table, slices_table):
        both = table({"x": some, "y": all_pass})
        assert str(both.caption).startswith("*: all contexts agree")
        assert table({"x": some}).caption is None


def test_lengths_in_tokens_stand_beside_the_rate() -> None:
    # As in the guide: of 40 tests with 2 : 1 tokens 30 pass, of 40 with 1 : 2 tokens 10.
    columns = {
        "tokens_high": [4] * 40 + [2] * 40,
        "tokens_low": [2] * 40 + [4] * 40,
        "end_tokens": [0] * 80,
    }
    found = rates("+" * 30 + "-" * 10 + "+" * 10 + "-" * 30, **columns).overall
    table = length_table({"x": found, "y": rates("+-" * 20).overall})  # older, without its number
    assert table is not None
    assert row(table, "x").startswith("50.0 50.0 [")
    assert row(table, "x").endswith("] +1.6 0 of 80 50.0 50.0")
    assert table.row_count == 1


def test_why_there_is_no_rate_at_equal_length_is_said() -> None:
    columns = {"tokens_high": [4, 0] * 6, "tokens_low": [2] * 12, "end_tokens": [0] * 12}
    table = length_table({"x": rates("+-" * 6, **columns).overall})
    assert table is not None
    assert table.caption == (
        "x: no rate at equal tokens: fewer than 10 independent contexts\n"
        "x: 6 tests with an empty candidate left out"
    )
    assert length_table({"y": rates("+-" * 20).overall}) is None
