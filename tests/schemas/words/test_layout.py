"""Tables in little room: titles fold, columns stack, rows become blocks; nothing is cut."""

import re

import pytest
from rich.table import Table

from nnd.schemas import fit, table_text, text_table, width_here

NAMES = ["models/toy-untrained", "facebook/bart-large-cnn"]
VALUES = ["48.7 [45.7, 51.8]", "1,234,567", "a-name-of-thirty-two-characters!"]
PROSE = "what there is to say about it, and that may go on on the next line"


def table() -> Table:
    titles = ("model", "pass rate, % [95 % interval]", "tests", "stands for", "note")
    rows = [(name, *VALUES, PROSE) for name in NAMES]
    return text_table(titles, rows, right=titles[1:3], prose=titles[4:])


@pytest.mark.parametrize("width", [30, 44, 60, 80, 120, 200])
def test_nothing_is_cut_and_nothing_stands_beyond_the_edge(width: int) -> None:
    shown = table_text(table(), width)
    assert "…" not in shown
    for value in (*NAMES, *VALUES):
        assert value in shown
    longest = max(map(len, VALUES)) + len("interval]  ")
    assert max(map(len, shown.splitlines())) <= max(width, longest)
    words = re.sub(r"\s+", " ", shown)
    assert all(word in words for word in PROSE.split())


def test_a_table_that_fits_stays_as_it_is() -> None:
    one = table()
    assert fit(one, 200) == [one]


def test_titles_fold_before_columns_stack() -> None:
    rows = text_table(("a", "a long title of a number"), [("x", "123,456")])
    assert table_text(rows, 13).splitlines() == [
        "     a long",
        "     title",
        "     of a",
        " a   number",
        " ───────────",
        " x   123,456",
    ]


def test_columns_stack_below_each_other_with_the_first_one() -> None:
    rows = text_table(("model", "x", "y"), [("ant", "1.0", "2.0"), ("bee", "3.0", "4.0")])
    assert table_text(rows, 15).splitlines() == [
        " model   x",
        " ───────────",
        " ant     1.0",
        " bee     3.0",
        "",
        " model   y",
        " ───────────",
        " ant     2.0",
        " bee     4.0",
    ]


def test_where_no_two_columns_fit_a_row_is_a_block() -> None:
    rows = text_table(("name", "value"), [("a" * 12, "b" * 12), ("c", "d")])
    assert table_text(rows, 20).splitlines() == [
        "name   aaaaaaaaaaaa",
        "value  bbbbbbbbbbbb",
        "",
        "name   c",
        "value  d",
    ]


def test_where_a_title_is_too_long_cells_stand_below_it() -> None:
    rows = text_table(("name", "facebook/bart-large"), [("ant", "48.7 [45.7, 51.8]")])
    assert table_text(rows, 20).splitlines() == [
        "name",
        "  ant",
        "facebook/bart-large",
        "  48.7 [45.7, 51.8]",
    ]


def test_columns_that_fold_break_no_word() -> None:
    # By itself rich would give both columns 12 of the 27, and break the word of 16 characters.
    rows = text_table(("a", "b"), [("it is " * 9, "x" * 16 + " and")], prose=("a", "b"))
    shown = table_text(rows, 27)
    assert "x" * 16 in shown
    assert max(map(len, shown.splitlines())) <= 27


def test_sections_and_captions_stay() -> None:
    rows = text_table(("model", "x", "y"))
    rows.add_row("ant", "1.0", "2.0", end_section=True)
    rows.add_row("bee", "3.0", "4.0")
    rows.caption = "*: a star"
    parts = fit(rows, 15)
    assert [part.caption for part in parts] == [None, "*: a star"]
    assert all(part.rows[0].end_section for part in parts)
    assert "*: a star" in table_text(rows, 15)


def test_texts_are_never_markup() -> None:
    rows = text_table(("[bold]a[/bold]", ":bird:"), [("[red]x", ":dog:")])
    rows.add_row("[dim]y", ":cat:")  # as `nnd curve` adds the names of categories
    texts = ("[bold]a[/bold]", ":bird:", "[red]x", ":dog:", "[dim]y", ":cat:")
    for width in (4, 80):
        shown = table_text(rows, width)
        assert [text for text in texts if text not in shown] == []


def test_the_width_is_that_of_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "61")
    assert width_here() == 61
    monkeypatch.delenv("COLUMNS")
    monkeypatch.setattr("sys.__stdout__", None)  # no terminal
    assert width_here() == 80
