"""Parsing a card into metadata, sections, tables, blocks of code and links."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nnd.schemas import PublishError, excerpt, load_yaml

_HEAD = re.compile(r"\A---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})\s*(\S*)")
_LONGEST_REASON = 200
_HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*")
_RULE = re.compile(r"\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?")
_CODE_SPAN = re.compile(r"(?<![\\`])(`+)(?!`).*?[^`]\1(?!`)")
_LINK = re.compile(r"(?<!\\)\[(?:[^\]\\]|\\.)*\]\(([^()]*)\)|<(https?:[^<>]*)>")


@dataclass(frozen=True, slots=True)
class Card:
    """The parts of a card; the head is the YAML of its metadata.

    Attributes:
        sections: Title of a section (`## `) → its text without blocks of code; "" is the text
            before the first section.
        fences: Language and text of the blocks of code.
        titles: All headings, of any level.
    """

    head: str | None
    sections: dict[str, str]
    fences: list[tuple[str, str]]
    titles: list[str]


def split_head(text: str) -> tuple[str | None, str]:
    """Return the YAML of a card's metadata, or None, and the rest of its text."""
    head = _HEAD.match(text)
    return (head[1], text[head.end() :]) if head else (None, text)


def read_metadata(head: str, place: str) -> dict[str, Any]:
    """Return the metadata of a card."""
    try:
        metadata = load_yaml(head)
    except Exception as error:  # PyYAML lets ValueError, KeyError and others through
        reason = excerpt(" ".join(str(error).split()), _LONGEST_REASON)
        raise PublishError(
            "file.not-yaml", f"its metadata is not valid YAML: {reason}", place
        ) from error
    if metadata is not None and not isinstance(metadata, dict):
        raise PublishError("file.not-yaml", "its metadata is not a mapping", place)
    return metadata or {}


def parse_card(text: str) -> Card:
    """Parse a card; any text can be parsed."""
    head, body = split_head(text)
    card = Card(head, {"": ""}, [], [])
    section, open_fence, language, held = "", "", "", list[str]()
    for line in body.splitlines():
        mark = _FENCE.match(line)
        if open_fence:
            if mark and mark[1].startswith(open_fence) and not mark[2]:
                card.fences.append((language, "\n".join(held)))
                open_fence = ""
            else:
                held.append(line)
        elif mark:
            open_fence, language, held = mark[1], mark[2], []
        else:
            heading = _HEADING.fullmatch(line)
            if heading:
                card.titles.append(heading[2])
            if heading and heading[1] == "##":
                section = heading[2]
                card.sections.setdefault(section, "")
            else:
                card.sections[section] += line + "\n"
    return card


def tables_in(text: str) -> Iterator[tuple[tuple[str, ...], ...]]:
    """Yield the tables of a text: their rows with cells of Markdown, the header first."""
    lines = text.splitlines()
    at = 1
    while at < len(lines):
        if not (_RULE.fullmatch(lines[at].strip()) and "|" in lines[at - 1] and "|" in lines[at]):
            at += 1
            continue
        end = at + 1
        while end < len(lines) and "|" in lines[end]:
            end += 1
        yield tuple(_cells(line) for line in (lines[at - 1], *lines[at + 1 : end]))
        at = end + 1


def _cells(line: str) -> tuple[str, ...]:
    parts = [part.strip() for part in re.split(r"(?<!\\)\|", line)]
    parts = parts if parts[0] else parts[1:]
    return tuple(parts if parts[-1:] != [""] else parts[:-1])


def links_in(text: str) -> Iterator[str]:
    """Yield the targets of the links of a text; code has none."""
    for target, address in _LINK.findall(_CODE_SPAN.sub("`", text)):
        yield target or address


def anchor_of(title: str) -> str:
    """Return the anchor that a heading has on the Hub."""
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", title.strip().lower()))
