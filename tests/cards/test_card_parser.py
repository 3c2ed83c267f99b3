"""A card taken apart, and BibTeX looked at."""

import pytest

from nnd.cards.bibtex import entries_in, faults_of
from nnd.cards.card_parser import anchor_of, links_in, parse_card, tables_in


def test_a_card_in_its_parts() -> None:
    card = parse_card("---\na: 1\n---\n# T\n\nx\n\n## A\n```py\n## no\n```\ny\n### B\nz\n## C\n")

    assert card.head == "a: 1"
    assert card.sections == {"": "# T\n\nx\n\n", "A": "y\n### B\nz\n", "C": ""}
    assert card.fences == [("py", "## no")]
    assert card.titles == ["T", "A", "B", "C"]


def test_a_rule_in_the_text_does_not_end_the_metadata() -> None:
    assert parse_card("# T\n---\na: 1\n---\n").head is None
    assert parse_card("---\na: 1\n---\nx\n---\n").head == "a: 1"


def test_a_longer_fence_holds_a_shorter_one() -> None:
    card = parse_card("## A\n````\n```\nx\n```\n````\ny\n")

    assert card.fences == [("", "```\nx\n```")]
    assert card.sections["A"] == "y\n"


def test_tables_with_and_without_bars_at_the_ends() -> None:
    text = "t\n\n| a | b |\n|:--|--:|\n| `x\\|y` | 1 |\n\nc | d\n--- | ---\n2 | 3\n"

    assert list(tables_in(text)) == [
        (("a", "b"), (r"`x\|y`", "1")),
        (("c", "d"), ("2", "3")),
    ]


def test_links_stand_outside_of_code() -> None:
    text = r"[a](https://a.b) `[c](d)` \[e\](f) <https://g.h> [`i`](#j)"

    assert list(links_in(text)) == ["https://a.b", "https://g.h", "#j"]


def test_anchors_are_made_as_the_hub_makes_them() -> None:
    assert anchor_of("What was dropped, and why") == "what-was-dropped-and-why"


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("@misc{a, title={{B}: c}, year={2020}}", []),
        ('@misc{a,\n  Title = "B",\n  year = 2020\n}', []),
        ("@misc{a, title={B}, year=2020}\n@misc{c, title={D}}", ['"c" has no year']),
        ("@misc{a}", ['"@misc{a}" has no key']),
        ("@misc{a, title={B, year=2020}", ["the braces of the BibTeX do not match"]),
        ("see the paper", ["the BibTeX has no entry"]),
    ],
)
def test_faults_of_bibtex(text: str, faults: list[str]) -> None:
    assert list(faults_of(text)) == faults


def test_entries_of_bibtex() -> None:
    assert list(entries_in("% x\n@a{b, t={c}}\n\n@d{e}")) == ["@a{b, t={c}}", "@d{e}"]
