"""The card linter: does a card agree with the data, in terms that the Hub accepts?

It needs no network. Tables and sentences with numbers are made again from the folder and compared
with the card; for the rest, only the form is checked.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from nnd.cards.asked import ASKED, example_request
from nnd.cards.card_parser import parse_card, tables_in
from nnd.cards.content import read_content
from nnd.cards.lint.metadata_checks import check_metadata
from nnd.cards.lint.prose_checks import check_citations, check_links, check_placeholders
from nnd.cards.markdown import Table, escape, table_cell
from nnd.cards.sentences import card_sentences
from nnd.cards.tables import SUITE, card_tables
from nnd.cards.validity import MADE_PAIRS
from nnd.schemas import Problem, SchemaError, excerpt

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

_LONGEST_ROW = 160

REMEDY = "write the card again with `nnd card --out`"


def check_card(text: str, folder: Path) -> Iterator[Problem]:
    """Yield every problem of a card; `path` of a problem is the section that has it.

    Additions to what `data_card` makes are welcome. An unreadable folder is a problem too.
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
    yield from _check_tables(card.sections, tables)
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


def _check_tables(
    sections: Mapping[str, str], expected: Mapping[str, Sequence[Table]]
) -> Iterator[Problem]:
    """Yield a problem for every missing table, and for every row that contradicts the data."""
    for name, tables in expected.items():
        text = sections.get(name, "")
        written = list(tables_in(text))
        for table in tables if text.strip() else ():
            same = next((rows for rows in written if rows[0] == table.header), None)
            if same is None:
                titles = ", ".join(table.header)
                yield Problem(None, name, f"a table with the columns {titles} is missing", REMEDY)
            else:
                written.remove(same)
                for message in _differences(table, same[1:]):
                    yield Problem(None, name, message, REMEDY)


def _differences(table: Table, written: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield a message for every row in which two tables differ; the order of rows is free."""
    wanted = Counter(tuple(map(table_cell, row)) for row in table.rows)
    extra = list((Counter(written) - wanted).elements())
    for row in (wanted - Counter(written)).elements():
        of_the_same = (other for other in extra if other[:1] == row[:1])
        other = next(of_the_same, extra[0] if len(extra) == 1 else None)
        if other is None:
            yield f"the row {_shown(row)} is missing"
        else:
            extra.remove(other)
            yield f"the row {_shown(other)} should be {_shown(row)} according to the data"
    for row in extra:
        yield f"the row {_shown(row)} does not follow from the data"


def _shown(row: tuple[str, ...]) -> str:
    return f'"{excerpt(" | ".join(row), _LONGEST_ROW)}"'
