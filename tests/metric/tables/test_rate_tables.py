"""Tables of pass rates, comparisons and predictions: what stands in which cell."""

import io
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console
from rich.table import Table
from support.two_models import scored, write_run

from nnd.metric.comparison.models import compare
from nnd.metric.results.rates import pass_rates
from nnd.metric.statistics.extrapolation import extrapolate
from nnd.metric.tables.results import comparison_table, extrapolation_tables, pass_rate_table


def lines(table: Table) -> list[str]:
    """The table as a wide terminal shows it, with single spaces."""
    console = Console(width=250, file=io.StringIO())
    console.print(table)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return [" ".join(line.split()) for line in text.splitlines()]


def row(table: Table, start: str) -> str:
    (found,) = [line for line in lines(table) if line.startswith(start)]
    return found.removeprefix(start).strip()


def result(verdicts: str, **columns: Any) -> dict[str, Any]:
    return {"model": "x", **pass_rates(scored("x", verdicts, **columns)).to_dict()}


def test_baselines_stand_below_the_overall_rate() -> None:
    # Shorter wins passes tests 0 to 9 of 40, longer wins none; half of all match in length.
    columns = {
        "characters_high": [1] * 10 + [9] * 30,
        "characters_low": [9] * 40,
        "ll_alone_high": [-1.0] * 40,
        "ll_alone_low": [-2.0] * 39 + [None],
    }
    table = pass_rate_table([result("+" * 30 + "-" * 10, **columns)])
    assert row(table, "overall").startswith("40 75.0 [")
    assert row(table, "shorter wins") == "25.0"
    assert row(table, "longer wins") == "0.0"
    assert row(table, "more copied wins") == "n/a"
    assert row(table, "without any context") == "97.5"
    assert row(table, "where lengths match").startswith("66.7 [")
    assert row(table, "where lengths match").endswith("] of 30")


def test_letters_name_the_baselines_that_reach_as_much() -> None:
    # Of aspect p: 20 tests, all passed, as shorter wins does: close, a small letter. Of aspect q:
    # 20 tests, none passed, all of them longer: ahead, a capital.
    columns = {
        "aspect": ["p"] * 20 + ["q"] * 20,
        "characters_high": [1] * 20 + [9] * 20,
        "characters_low": [9] * 20 + [1] * 20,
    }
    table = pass_rate_table([result("+" * 20 + "-" * 20, **columns)])
    # All contexts agree, so Wilson's interval: from 20 / (20 + 1.96²) = 0.839.
    assert row(table, "aspect: p") == "20 100.0 [83.9, 100.0]* s"
    # Shorter wins passes none of q either, no less than the model.
    assert row(table, "aspect: q") == "20 0.0 [0.0, 16.1]* sL"


def test_a_baseline_that_is_behind_has_no_letter() -> None:
    columns = {"characters_high": [9] * 20, "characters_low": [1] * 20}
    table = pass_rate_table([result("+" * 20, **columns)])
    assert row(table, "overall") == "20 100.0 [83.9, 100.0]* l"


def test_where_lengths_match_all_may_pass() -> None:
    columns = {"characters_high": [5] * 20 + [1] * 9, "characters_low": [5] * 20 + [9] * 9}
    table = pass_rate_table([result("+" * 20 + "-" * 9, **columns)])
    assert row(table, "where lengths match") == "100.0 [83.9, 100.0]* of 20"


def test_a_comparison_row_by_row(tmp_path: Path) -> None:
    # b = 10, c = 2 of 40, p = 0.0386 and, in one family with the other aspect, twice that.
    one = scored("x", "+" * 10 + "-" * 33, aspect=["p"] * 40 + ["q"] * 3)
    other = scored("y", "-" * 38 + "+" * 2 + "-" * 3, aspect=["p"] * 40 + ["q"] * 3)
    gone = scored("x", "+", aspect="gone", pair_id="z")
    runs = [write_run(tmp_path / "a", pl.concat([one, gone])), write_run(tmp_path / "b", other)]
    (found,) = compare(runs)
    table = comparison_table(found.to_dict())
    assert row(table, "pass rate, %").endswith(
        "p (McNemar) p (Holm) tests for 2 points, before Holm better"
    )
    assert row(table, "overall").startswith("43 23.3 4.7 +18.6 [")
    assert " 10 2 0.0386 n/a " in row(table, "overall")
    assert row(table, "overall").endswith(" x")
    assert row(table, "aspect: p").startswith("40 25.0 5.0 +20.0 [")
    assert " 10 2 0.0386 0.0771 " in row(table, "aspect: p")
    assert row(table, "aspect: p").endswith(" cannot tell")
    assert (
        row(table, "aspect: q") == "3 0.0 0.0 +0.0 [-56.1, +56.1] 0 0 1.0000 1.0000 n/a cannot tell"
    )
    assert row(table, "aspect: gone") == "0 " + " ".join(["n/a"] * 9)


def predicted(rates: list[float], scores: list[float]) -> str:
    found = extrapolate(rates, scores, {"new": 0.6}).to_dict()
    (table,) = extrapolation_tables({"by_category": {"c": {"extrapolation": found}}})
    return row(table, "c new")


def test_a_line_that_one_system_carries_has_no_leave_one_out_error() -> None:
    # Without the last the rates are all equal. Guessing the mean of the other three misses each of
    # the scores by 4/3 of their distance from the mean 2.5: 4/3 sqrt((2.25 + 0.25) / 2) = 1.491.
    shown = predicted([0.5, 0.5, 0.5, 0.7], [1, 2, 3, 4])
    assert shown.endswith(
        " n/a (guessing the mean 1.49) one system carries the line: no leave-one-out error"
    )


def test_a_line_that_is_no_better_than_the_mean() -> None:
    # Scores at the corners of a square: the slope is 0.
    assert predicted([0.5, 0.5, 0.7, 0.7], [1, 2, 1, 2]).endswith(
        ") no better than guessing the mean"
    )


def test_a_line_that_is_better_than_the_mean_needs_no_note() -> None:
    assert predicted([0.4, 0.5, 0.6, 0.7], [1, 2, 3, 4]).endswith(" (guessing the mean 1.49)")
