"""Whatever data hold, the card shows it and stays whole: read by a Markdown parser of others."""

import html
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings, strategies as st
from markdown_it import MarkdownIt
from support.card_folders import change_manifest, make_folder, row

from nnd.cards.card_parser import tables_in
from nnd.cards.dataset import data_card
from nnd.cards.lint.card_linter import SECTIONS, check_card
from nnd.cards.markdown import Table, code, escape, fence, one_visible_line, prose, render_table

MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])

HOSTILE = [
    "a | b || c \\| d \\\\| e",
    "`code` ``two`` ```three",
    "<script>alert(1)</script><!-- <b>&amp; &lt;",
    "```\nfenced\n```",
    "---\n\n# Heading\n\n---",
    "{{ 7 * 7 }} {% for x in y %} {# no #}",
    "x" * 5000,
    "one\ntwo\r\nthree\u2028four\x85five",
    "\u202eright to left\u202c مرحبا بالعالم שלום",
    "[link](javascript:1) ![image](x) <https://a.bc> www.a.b",
    "*a* **b** _c_ ~~d~~ $x$ $$y$$ \\(z\\)",
    "1. one\n- two\n+ three\n> four\n= five",
    "\x01\x1b[2J\x07",
    "| --- | --- |",
    "👩‍👩‍👧 Brasília 北京",
    "TODO XXX None nan",
]


def shown(markdown: str) -> str:
    """The text that a reader sees of one paragraph, as a parser of others renders it."""
    rendered = MARKDOWN.render(markdown)
    assert rendered.count("<p>") <= 1
    return html.unescape(re.sub(r"<[^>]+>", "", rendered)).strip("\n")


def cells(markdown: str) -> list[list[str]]:
    """The cells that a parser of others finds in a single table."""
    rendered = MARKDOWN.render(markdown)
    assert rendered.startswith("<table>")
    assert rendered.endswith("</table>\n")
    assert rendered.count("<table>") == 1
    return [
        [
            html.unescape(re.sub(r"<[^>]+>", "", cell))
            for cell in re.findall(r"<td.*?>(.*?)</td>", line)
        ]
        for line in re.findall(r"<tr>(.*?)</tr>", rendered, re.DOTALL)[1:]
    ]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("make", [escape, code])
def test_a_reader_sees_the_text_and_nothing_else(make: Any, text: str) -> None:
    assert shown(make(text)) == one_visible_line(text)
    table = render_table(Table(("a", "b"), "lr", ((make(text), "1"), ("2", make(text)))))
    assert cells(table) == [[one_visible_line(text), "1"], ["2", one_visible_line(text)]]


@given(st.text(max_size=60))
@settings(max_examples=300, derandomize=True)
def test_any_text_is_seen_as_it_is(text: str) -> None:
    line = one_visible_line(text)
    for make in (escape, code):
        assert shown(make(text)) == line
        table = render_table(Table(("a", "b"), "ll", ((make(text), "1"),)))
        assert cells(table) == [[line, "1"]]
        (read,) = tables_in(table)
        assert read[1] == (make(text).replace("|", r"\|").replace(r"\\|", r"\|"), "1")


@given(st.text(alphabet="`|\\*_<>[]{}$~#-+=1.) a\n&", max_size=30))
@settings(max_examples=500, derandomize=True)
def test_marks_are_seen_as_they_are(text: str) -> None:
    assert shown(escape(text)) == one_visible_line(text)
    assert shown(code(text)) == one_visible_line(text)


def test_what_a_person_wrote_keeps_code_and_links() -> None:
    assert (
        prose("Read `a|b` *now*, at https://a.b/c_d.")
        == r"Read `a|b` \*now\*, at <https://a.b/c_d>."
    )
    assert (
        shown(prose("Marks `<v>…</v>` stand <b>there</b>")) == "Marks <v>…</v> stand <b>there</b>"
    )


@pytest.mark.parametrize(
    "text",
    [
        "https://x/![t](https://evil.example/seen.png)",
        "https://x/><img/src=x>",
        "https://user:password@evil.example/",
        'https://x/"onload="y',
        "https://x/&lt;b",
        "https://x/_a_*b*~~c~~",
    ],
)
def test_an_address_that_is_more_is_text(text: str) -> None:
    rendered = MARKDOWN.render(prose(text))

    assert html.unescape(re.sub(r"</?(p|a)[^<>]*>", "", rendered)).strip("\n") == text
    assert "user:password" not in "".join(re.findall(r"<a[^>]*>", rendered))
    assert "evil.example/seen.png" not in re.findall(r'(?:src|href)="([^"]*)"', rendered)


@pytest.mark.parametrize("text", ["a", "```", "a ```` b\n`````", "~~~"])
def test_a_block_of_code_holds_any_text(text: str) -> None:
    rendered = MARKDOWN.render(fence(text, "bibtex"))

    assert html.unescape(re.sub(r"<[^>]+>", "", rendered)).rstrip("\n") == text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hostile texts everywhere: texts, names, categories, facts, oddities."""
    rows = []
    for number, text in enumerate(HOSTILE):
        name = f"c{number}"
        where = {
            "context_id": name,
            "context": f"{text} {number}",
            "inputs": {"question": f"{text} {number}", text.replace("|", "")[:40]: "part"},
            "category": text,
        }
        rows.append(row(f"{name}{text}h", "heron", "good", candidate=f"{text} good", **where))
        label = text.replace("|", "") if number % 2 else "wrong"
        rows.append(
            row(f"{name}l", "w | x`y`" if False else "wren", label, candidate=text, **where)
        )
    labels = {text.replace("|", "") for text in HOSTILE} | {"wrong"}
    taxonomy = {name: {"name": name, "group": name, "description": name} for name in labels}
    made = make_folder(
        tmp_path_factory.mktemp("hostile"),
        rows,
        pretty_name="Birds\n---\n`{{ x }}` | <b>",
        taxonomy=taxonomy,
        systems={"heron": None, "wren": None},
        aspects={"answer": "\n".join(HOSTILE)},
        notes=HOSTILE[:4],
        limitations=HOSTILE[1:3],
    )
    change_manifest(made, oddities=HOSTILE, permission=HOSTILE[2])
    return made


def test_a_card_of_hostile_data_is_whole(folder: Path) -> None:
    card = data_card(folder, "org/birds")

    assert [str(problem) for problem in check_card(card, folder)] == []
    head, body = card.split("\n---\n", maxsplit=1)
    assert yaml.safe_load(head.removeprefix("---\n"))["pretty_name"].startswith(
        "Birds --- `{{ x }}`"
    )
    rendered = MARKDOWN.render(body)
    headings = re.findall(r"<h2>(.*?)</h2>", rendered)
    assert headings == list(SECTIONS)
    assert "<script" not in rendered
    assert "49" not in re.findall(r"7 \* 7.{0,20}|.{0,20}49", rendered)[0]
    # Nothing of the data became a link, an image, or bold text of ours.
    assert not re.search(r'href="(javascript|x)|<img', rendered)
