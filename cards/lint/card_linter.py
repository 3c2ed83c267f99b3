"""The card linter: does a card agree with the data, in terms that the Hub accepts?

It needs no network. Tables and sentences with numbers are made again from the folder and compared
with the card; for the rest, only the form is checked.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from nnd.cards.asked import ASKED, example_request
from nnd.cards.card_parser import Card, parse_card
from nnd.cards.content import Content, read_content
from nnd.cards.lint.metadata_checks import check_metadata
from nnd.cards.lint.prose_checks import check_citations, check_links, check_placeholders
from nnd.cards.lint.table_checks import check_tables
from nnd.cards.markdown import escape
from nnd.cards.sentences import card_sentences
from nnd.cards.tables import SUITE, card_tables
from nnd.cards.validity import MADE_PAIRS
from nnd.schemas import Problem, SchemaError

SECTIONS = (
    "What an NND test is",
    "How to use it",
    "Source and citation",
    ASKED,
    "How people judged",
    "From judgements to tests",
    "Examples",
    "Counts",
    "What was dropped and what is odd",
    "Human scores of the systems",
    "What the texts are like",
    "What the texts give away",
    "Published counts",
    "Licence and redistribution",
    "Limitations",
    "Personal and sensitive information",
    "Provenance",
)
"""The sections of every card, in this order."""

REMEDY = "write the card again with `nnd card --out`"


def check_card(text: str, folder: Path) -> Iterator[Problem]:
    """Yield every problem of a card; `path` of a problem is the section that has it.

    Args:
        text: The card, as `data_card` makes it; additions by hand are welcome.
        folder: The converted or published folder of the card. An unreadable folder is a problem
            too.
    """
    try:
        content = read_content(folder)
    except SchemaError as error:
        yield Problem(None, "", str(error), "check the folder with `nnd validate`")
        return
    card = parse_card(text)
    yield from check_metadata(card.head, content)
    tables = card_tables(content)
    yield from _check_sections(
        card.sections, [each for each in (SUITE, MADE_PAIRS) if each in tables]
    )
    yield from check_tables(card.sections, tables, REMEDY)
    yield from _check_sentences(card.sections, content)
    quoted = {escape(oddity) for oddity in content.manifest["oddities"]}
    request = example_request(content)
    if "\n".join(request) not in card.sections.get(ASKED, ""):
        yield Problem(None, ASKED, "the request does not follow from the data", REMEDY)
    quoted |= {*request}
    quoted |= {sentence for some in card_sentences(content).values() for sentence in some}
    yield from check_placeholders(card.sections, tables, quoted)
    yield from check_links(card, content)
    yield from check_citations(_fences(card), content.source["citation"])


def _check_sections(sections: Mapping[str, str], more: Sequence[str]) -> Iterator[Problem]:
    for name in (*SECTIONS, *more):
        if name not in sections:
            yield Problem(None, name, "the section is missing", REMEDY)
        elif not sections[name].strip():
            yield Problem(None, name, "the section is empty", REMEDY)


def _check_sentences(sections: Mapping[str, str], content: Content) -> Iterator[Problem]:
    for name, sentences in card_sentences(content).items():
        text = " ".join(sections.get(name, "").split())
        for sentence in sentences if text else ():
            if sentence not in text:
                message = f"a sentence that follows from the data is missing: {sentence}"
                yield Problem(None, name or "opening", message, REMEDY)


def _fences(card: Card) -> list[str]:
    """Return the BibTeX of a card, in order."""
    blocks = (fence for fences in card.fences.values() for fence in fences)
    return [block.text for block in blocks if block.language == "bibtex"]
