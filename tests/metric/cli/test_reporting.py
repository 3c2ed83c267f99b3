"""`nnd report`: a thin shell, whose words are those of the function it calls."""

import json
from pathlib import Path

from support.report.page import Page
from support.screens.commands import Nnd


def test_every_option_reaches_the_page(nnd: Nnd, small: Path, small_run: Path) -> None:
    ran = nnd(
        *("report", small_run, "--out", "a.html", "--json", "--data", small),
        *("--figures", "figures", "--system", "zoo/eel=dipper"),
        *("--family", "zoo/ant=cats", "--family", "zoo/bee=cats"),
    )
    told = json.loads(ran.out)
    assert (told["page"], told["bytes"]) == ("a.html", Path("a.html").stat().st_size)
    assert sorted(told["figures"]) == sorted(str(each) for each in Path("figures").iterdir())
    page = Page(Path("a.html"))
    assert page.pairs["texts"]
    assert {row["family"] for row in page.numbers["scaling"]} == {"cats", None}
    judged = {row["model"] for row in page.numbers["agreement"]}
    assert judged == {"zoo/bee", "zoo/cat", "zoo/dog", "zoo/eel"}  # the run has ant for dipper


def test_people_are_told_what_was_written(nnd: Nnd, small_run: Path) -> None:
    said = nnd("report", small_run).out
    size = f"{Path('report.html').stat().st_size / 1e6:.1f} MB"
    assert said == f"The report of dog, cat, eel, bee, ant is in report.html ({size}).\n"


def test_a_family_without_a_name(nnd: Nnd, small_run: Path) -> None:
    options = ["--family", "zoo/ant"]
    nnd.refuses("report", small_run, *options, code="option.bad-value", where='--family "zoo/ant"')
