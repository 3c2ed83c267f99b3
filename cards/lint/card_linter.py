"""The card linter: does a card agree with the data, in terms that the Hub accepts?

It needs no network. Tables and sentences with numbers are made again from the folder and compared
with the card; for the rest, only the form is checked.
"""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from nnd.cards.asked import ASKED, example_request
from nnd.cards.card_parser import parse_card
from nnd.cards.content import read_content
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
    for name in (*SECTIONS, *(each for each in (SUITE, MADE_PAIRS) if each in tables)):
        if not card.sections.get(name, "").strip():
            what = "empty" if name in card.sections else "missing"
            yield Problem(None, name, f"the section is {what}", REMEDY)
    yield from check_tables(card.sections, tables, REMEDY)
    sentences = card_sentences(content)
    for name, expected in sentences.items():
        text = " ".join(card.sections.get(name, "").split())
        for sentence in expected if text else ():
            if sentence not in text:
                message = f"a sentence that follows from the data is missing: {sentence}"
                yield Problem(None, name or "opening", message, REMEDY)
    request = example_request(content)
    if "\n".join(request) not in card.sections.get(ASKED, ""):
        yield Problem(None, ASKED, "the request does not follow from the data", REMEDY)
    quoted = {*map(escape, content.manifest["oddities"]), *request, *chain(*sentences.values())}
    yield from check_placeholders(card.sections, tables, quoted)
    yield from check_links(card, content)
    bibtex = [text for language, text in card.fences if language == "bibtex"]
    yield from check_citations(bibtex, content.source["citation"])
