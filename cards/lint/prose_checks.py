"""Checks of a card's text: placeholders, links and citations."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from urllib.parse import urlsplit

from nnd.cards.bibtex import entries_in, faults_of
from nnd.cards.card_parser import Card, anchor_of, links_in, tables_in
from nnd.cards.content import CardContent
from nnd.cards.front_matter import configs
from nnd.cards.markdown import Table, render_table
from nnd.schemas import SCHEMA_NAMES, Problem

_PLACEHOLDER = re.compile(
    r"\[?More Information Needed\]?|\bTODO\b|\bFIXME\b|\bXXX\b|\bTBD\b|\blorem\b|\{\{|\{%|\{#",
    re.IGNORECASE,
)
_NOTHING = re.compile(r"None|nan|null", re.IGNORECASE)
_PAPER = "near-negative distinction"


def check_placeholders(
    sections: Mapping[str, str], tables: Mapping[str, Sequence[Table]], quoted: Collection[str]
) -> Iterator[Problem]:
    """Yield a problem for each placeholder that is not filled in.

    The tables that follow from the data, and the lines that quote data, may hold any text.
    """
    rendered = [render_table(table).splitlines() for some in tables.values() for table in some]
    own = {line for header, _, *rows in rendered for line in (header, *rows)}
    for name, text in sections.items():
        written = [line for line in text.splitlines() if line not in own]
        left_open = []
        for line in written:
            item = line.removeprefix("- ")
            if (placeholder := _PLACEHOLDER.search(line)) and item not in quoted:
                left_open.append(placeholder[0])
            elif _NOTHING.fullmatch(item.strip()):
                left_open.append(line.strip())
        for table in tables_in("\n".join(written)):
            left_open += [cell for row in table[1:] for cell in row if _NOTHING.fullmatch(cell)]
        for what in left_open:
            message = f'"{what}" is a placeholder'
            yield Problem(None, name or "opening", message, "replace it with the facts")


def check_links(card: Card, content: CardContent) -> Iterator[Problem]:
    """Yield a problem for each link whose form shows that it is dead."""
    anchors = {anchor_of(title) for title in card.titles}
    paths = {file["path"] for config in configs(content) for file in config["data_files"]}
    paths |= {"README.md", "manifest.json"}
    paths |= {f"schemas/{name}.schema.json" for name in SCHEMA_NAMES if name != "result"}
    for section, text in card.sections.items():
        for link in links_in(text):
            if not _leads_somewhere(link, anchors, paths):
                message = f'"{link}" is a dead link'
                remedy = "write an http(s) address, an anchor of the card, or a published file"
                yield Problem(None, section or "opening", message, remedy)


def _leads_somewhere(link: str, anchors: set[str], paths: set[str]) -> bool:
    if link.startswith("#"):
        return link[1:] in anchors
    if link.startswith("mailto:"):
        return "@" in link
    try:
        parts = urlsplit(link)
        port = parts.port
    except ValueError:
        return False
    if not parts.scheme and not parts.netloc:
        return link in paths
    host = parts.hostname or ""
    named = re.fullmatch(r"([\w-]+\.)+[a-z]{2,}", host) is not None
    return parts.scheme in ("http", "https") and named and port != 0 and not re.search(r"\s", link)


def check_citations(blocks: Sequence[str], citation: str) -> Iterator[Problem]:
    """Yield what is wrong with the BibTeX of a card: form, order, missing entries."""
    where = "Source and citation"
    if faults := [fault for block in blocks for fault in faults_of(block)]:
        remedy = "fix the BibTeX, in source.yaml if it comes from there"
        yield from (Problem(None, where, fault, remedy) for fault in faults)
        return  # what follows needs whole entries
    entries = [entry for block in blocks for entry in entries_in(block)]
    own = [entry.split() for entry in entries_in(citation)]
    if [entry.split() for entry in entries[: len(own)]] != own:
        message = "the citation of the people who made the evaluation does not come first"
        yield Problem(None, where, message, "put the BibTeX of source.yaml first")
    if not any(_PAPER in entry.lower() for entry in entries):
        yield Problem(None, where, "the NND paper is not cited", "add its BibTeX")
