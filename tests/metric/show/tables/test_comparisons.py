"""Tables of comparisons: what is in which cell."""

from pathlib import Path

import polars as pl
from support.screens.tables import lines, row
from support.two_models import scored, write_run

from nnd.metric.numbers import compare
from nnd.metric.show.tables.comparisons import (
    ahead_table,
    comparison_table,
    rates_table,
    verdict_table,
)


def test_a_comparison_row_by_row(tmp_path: Path) -> None:
    # b = 10, c = 2 of 40, p = 0.0386 and, in one family with the other aspect, twice that.
    one = scored("x", "+" * 10 + "-" * 33, aspect=["p"] * 40 + ["q"] * 3)
    other = scored("y", "-" * 38 + "+" * 2 + "-" * 3, aspect=["p"] * 40 + ["q"] * 3)
    gone = scored("x", "+", aspect="gone", pair_id="z")
    runs = [write_run(tmp_path / "a", pl.concat([one, gone])), write_run(tmp_path / "b", other)]
    (found,) = compare(runs)
    table = comparison_table(found)
    assert row(table, "pass rate, %").endswith("p p (Holm) tests for 2 points, before Holm better")
    assert row(table, "overall").startswith("43 23.3 4.7 +18.6 [")
    assert " 10 2 0.0386 n/a " in row(table, "overall")
    assert row(table, "overall").endswith(" x")
    assert row(table, "aspect: p").startswith("40 25.0 5.0 +20.0 [")
    assert " 10 2 0.0386 0.0771 " in row(table, "aspect: p")
    assert row(table, "aspect: p").endswith(" not significant")
    assert row(table, "aspect: q") == (
        "3 0.0 0.0 +0.0 [-56.1, +56.1] 0 0 1.0000 1.0000 n/a not significant"
    )
    assert row(table, "aspect: gone") == "0 n/a n/a n/a 0 0 n/a n/a n/a not tested"


def test_verdicts_name_the_better_one_first(tmp_path: Path) -> None:
    # ant passes 12 of 40, bee 30, cat 20: bee first, and ant's differences turn their sign.
    ant = scored("org/ant", "+" * 12 + "-" * 28)
    bee = scored("org/bee", "+" * 30 + "-" * 10)
    cat = scored("cat", "+-" * 20)
    found = compare(write_run(tmp_path / "run", ant, bee, cat))
    low, high = found[0].overall.interval or (0, 0)
    rows = lines(verdict_table(found.comparisons))
    assert rows[0] == "models points ahead [95 %] p differ"
    assert rows[2].startswith("bee against cat +25.0 [")
    assert rows[3] == f"bee against ant +45.0 [{-100 * high:+.1f}, {-100 * low:+.1f}] <0.0001 yes"
    assert rows[4].startswith("cat against ant +20.0 [")
    assert rows[4].endswith(" no")


def test_rates_are_told_once_and_the_better_one_is_ahead(tmp_path: Path) -> None:
    # ant passes 10 of 40 and none of 3, bee 30 of 40 and 3 of 3: bee first, by 20 and 3 tests.
    aspects = ["p"] * 40 + ["q"] * 3
    ant = scored("org/ant", "+" * 10 + "-" * 33, aspect=aspects)
    bee = scored("org/bee", "+" * 30 + "-" * 10 + "+" * 3, aspect=aspects)
    cat = scored("cat", "+" * 20 + "-" * 23, aspect=aspects)
    found = compare(write_run(tmp_path / "run", ant, bee, cat))
    of_one = found.comparisons
    rates = rates_table(of_one)
    assert rates is not None
    assert row(rates, "pass rate, %") == "tests bee cat ant"
    assert row(rates, "overall") == "43 76.7 46.5 23.3"
    assert row(rates, "aspect: q") == "3 100.0 0.0 0.0"
    ahead = ahead_table(of_one[0])
    assert lines(ahead)[0] == "bee against ant tests points ahead [95 %] p (Holm) differ"
    assert row(ahead, "overall").startswith("43 +53.5 [+")
    assert row(ahead, "overall").endswith(" <0.0001 yes")
    # Three contexts that all differ: as far as Tango's, 2 z^2 / (3 + z^2) = 1.123 from 1.
    assert row(ahead, "aspect: q") == "3 +100.0 [-12.3, +100.0] 0.2500 no"


def test_rates_that_depend_on_the_other_model_are_not_told(tmp_path: Path) -> None:
    fewer = scored("y", "-" * 20)
    found = compare(write_run(tmp_path / "run", scored("x", "+" * 40), fewer))
    assert rates_table(found.comparisons) is None


def test_one_context_gives_a_difference_without_an_interval(tmp_path: Path) -> None:
    x, y = (scored(name, verdicts, context_id="c") for name, verdicts in (("x", "++"), ("y", "--")))
    found = compare(write_run(tmp_path / "run", x, y))
    assert row(found.table(), "x against y") == "+100.0 1.0000 no"
