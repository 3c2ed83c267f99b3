"""Cards of hostile data in a real browser, as a Hub that sanitises nothing would show them."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from support.hostile_cards import HOSTILE, NAMES, as_page, documents
from support.report.chromium import Chromium, require_browser

from nnd.cards.markdown import one_visible_line

OURS = {
    *("main", "h1", "h2", "p", "ul", "li", "a", "strong", "em", "code", "pre", "details"),
    *("summary", "table", "thead", "tbody", "tr", "th", "td"),
    *("blockquote", "br"),  # the quoted request
}
PAPER = ["https://arxiv.org/abs/2205.06871", "Laban et al., 2022"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The documents by name."""
    return documents(tmp_path_factory.mktemp("hostile") / "birds")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    require_browser()
    with Chromium(tmp_path_factory.mktemp("chromium")) as browser:
        yield browser


class Elements(HTMLParser):
    """Tags and attributes of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html[html.index("<main>") :])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("name", NAMES)
def test_a_document_of_hostile_data_has_our_elements_only(name: str, made: dict[str, str]) -> None:
    found = Elements(as_page(made[name])).found

    assert {tag for tag, _ in found} <= OURS
    assert {key for _, attributes in found for key in attributes} <= {"href", "class", "style"}
    assert {style for _, each in found if (style := each.get("style"))} <= {"text-align:right"}


@pytest.mark.parametrize("name", NAMES)
def test_a_browser_shows_hostile_data_as_text(
    name: str, made: dict[str, str], browser: Chromium, tmp_path: Path
) -> None:
    (tmp_path / "page.html").write_text(as_page(made[name]), encoding="utf-8")
    with browser.tab() as tab:
        tab.open(tmp_path / "page.html")
        tab.until("document.readyState === 'complete'")
        tags = tab.evaluate("[...document.querySelectorAll('main *')].map(e => e.localName)")
        links = tab.evaluate(
            "[...document.querySelectorAll('a')].map(e => [e.getAttribute('href'), e.textContent])"
        )
        text = tab.evaluate("document.querySelector('main').textContent")
        was_seen = tab.evaluate("window.wasSeen === true")

        assert tab.complaints() == []
        assert [each for each in tab.requests() if not each.startswith("file:")] == []
    assert set(tags) <= OURS
    # Texts that people write may name addresses; where a link leads is what it shows.
    assert [link for link in links if link[0] != link[1]] == [PAPER] * (name == "data card")
    assert not was_seen
    if name != "model card":  # all of it is in the metadata there
        assert [one for one in HOSTILE if one_visible_line(one) not in text] == []
