"""Results that show themselves."""

from dataclasses import dataclass

import pytest
from rich.table import Table
from rich.text import Text

from nnd.metric.cli.printing import show as print_result
from nnd.schemas import Printable, text_table


@dataclass(frozen=True, slots=True, repr=False)
class Counted(Printable):
    what: str
    known: tuple[str, ...] = ()

    def headline(self) -> str:
        return f"2 {self.what} were counted"

    def table(self) -> Table:
        table = Table("what", caption="all of <them>", box=None)
        table.add_column("n", justify="right")
        table.add_row(Text("[bold]<b>&"), "2")
        return table

    def remarks(self) -> tuple[str, ...]:
        return self.known

    def to_dict(self) -> dict[str, str]:
        return {"what": self.what}


@dataclass(frozen=True, slots=True, repr=False)
class Empty(Printable):
    def headline(self) -> str:
        return "nothing was found"

    def table(self) -> None:
        return None

    def to_dict(self) -> dict[str, str]:
        return {}

    def svg(self) -> str:
        return "<svg></svg>"


def test_a_result_prints_as_a_headline_and_a_table() -> None:
    lines = str(Counted("pairs")).splitlines()
    assert lines[:2] == ["2 pairs were counted", ""]
    assert [line.split() for line in lines[2:]] == [
        ["what", "n"],
        ["[bold]<b>&", "2"],
        ["all", "of", "<them>"],
    ]
    assert repr(Counted("pairs")) == str(Counted("pairs"))


def test_remarks_come_last() -> None:
    lines = str(Counted("pairs", ("one was odd", "<b>"))).splitlines()
    assert lines[-3:] == ["", "one was odd", "<b>"]
    shown = Counted("pairs", ("one was odd", "<b>"))._repr_html_()
    assert shown.endswith("</table>\n<p>one was odd</p>\n<p>&lt;b&gt;</p>\n")


def test_a_notebook_shows_texts_as_they_are() -> None:
    shown = Counted("<i>")._repr_html_()
    assert shown == (
        "<p>2 &lt;i&gt; were counted</p>\n<table><caption>all of &lt;them&gt;</caption>"
        '<tr><th style="text-align: left">what</th><th style="text-align: right">n</th></tr>'
        '<tr><td style="text-align: left">[bold]&lt;b&gt;&amp;</td>'
        '<td style="text-align: right">2</td></tr></table>\n'
    )


def test_a_result_may_have_a_picture_and_no_table() -> None:
    assert str(Empty()) == "nothing was found"
    assert Empty()._repr_html_() == "<p>nothing was found</p>\n<svg></svg>"


HOSTILE = "a\u202eb\u2066c\x1b[31md"
SEEN = r"a\u202eb\u2066c\x1b[31md"


@dataclass(frozen=True, slots=True, repr=False)
class Hostile(Counted):
    def table(self) -> Table:
        table = text_table((HOSTILE,), [[HOSTILE]])
        table.add_row(HOSTILE)
        return table


def test_characters_that_turn_a_terminal_are_shown_as_escapes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = Hostile(HOSTILE, (HOSTILE, "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"))

    print_result(found)

    for text in (str(found), capsys.readouterr().out):
        assert text.count(SEEN) == 5  # headline, title, two cells, remark
        assert not {"\u202e", "\u2066", "\x1b"} & {*text}
        assert "\u0645\u06cc\u200c\u062e" in text  # the joiner of Persian stays
