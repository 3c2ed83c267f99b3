"""Parsing a card into metadata, sections, tables, blocks of code and links."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

_HEAD = re.compile(r"\A---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})\s*(\S*)")
_RULE = re.compile(r"\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?")
_CODE_SPAN = re.compile(r"(?<![\\`])(`+)(?!`).*?[^`]\1(?!`)")
_LINK = re.compile(r"(?<!\\)\[(?:[^\]\\]|\\.)*\]\(([^()]*)\)|<(https?:[^<>]*)>")


class Fence(NamedTuple):
    """A block of code with its stated language."""

    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Card:
    """The parts of a card.

    Attributes:
        head: The YAML of its metadata, or None.
        sections: Title of a section (`## `) → its text without blocks of code; "" is the text
            before the first section.
        fences: Title of a section → its blocks of code.
        titles: All headings, of any level.
    """

    head: str | None
    sections: dict[str, str]
    fences: dict[str, list[Fence]]
    titles: list[str]


class Rows(NamedTuple):
    """A table with cells of Markdown."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def split_head(text: str) -> tuple[str | None, str]:
    """Return the YAML of a card's metadata, or None, and the rest of its text."""
    head = _HEAD.match(text)
    return (head[1], text[head.end() :]) if head else (None, text)


def parse_card(text: str) -> Card:
    """Parse a card; any text can be parsed."""
    head, body = split_head(text)
    card = Card(head, {"": ""}, {"": []}, [])
    section, open_fence, language, held = "", "", "", list[str]()
    for line in body.splitlines():
        mark = _FENCE.match(line)
        if open_fence:
            if mark and mark[1].startswith(open_fence) and not mark[2]:
                card.fences[section].append(Fence(language, "\n".join(held)))
                open_fence = ""
            else:
                held.append(line)
        elif mark:
            open_fence, language, held = mark[1], mark[2], []
        else:
            section = _take(card, section, line)
    return card


def _take(card: Card, section: str, line: str) -> str:
    """Add a line that is not code, and return the section that it belongs to."""
    heading = re.fullmatch(r"(#{1,6})\s+(.+?)\s*", line)
    if heading:
        card.titles.append(heading[2])
    if not heading or heading[1] != "##":
        card.sections[section] += line + "\n"
        return section
    card.sections.setdefault(heading[2], "")
    card.fences.setdefault(heading[2], [])
    return heading[2]


def tables_in(text: str) -> Iterator[Rows]:
    """Yield the tables of a text."""
    lines = text.splitlines()
    at = 1
    while at < len(lines):
        if not (_RULE.fullmatch(lines[at].strip()) and "|" in lines[at - 1] and "|" in lines[at]):
            at += 1
            continue
        header = _cells(lines[at - 1])
        end = at + 1
        while end < len(lines) and "|" in lines[end]:
            end += 1
        yield Rows(header, tuple(_cells(line) for line in lines[at + 1 : end]))
        at = end + 1


def _cells(line: str) -> tuple[str, ...]:
    parts = re.split(r"(?<!\\)\|", line.strip())
    parts = parts[1:] if not parts[0].strip() else parts
    parts = parts[:-1] if not parts[-1].strip() else parts
    return tuple(part.strip() for part in parts)


def links_in(text: str) -> Iterator[str]:
    """Yield the targets of the links of a text; code has none."""
    for match in _LINK.finditer(_CODE_SPAN.sub("`", text)):
        yield match[1] if match[1] is not None else match[2]


def anchor_of(title: str) -> str:
    """Return the anchor that a heading has on the Hub."""
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", title.strip().lower()))
