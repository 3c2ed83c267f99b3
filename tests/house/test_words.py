"""Printed texts avoid the phrases that CONTRIBUTING lists."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from support.places import ROOT
from support.screens.doc_blocks import DOCUMENTS
from typer.cli import get_docs_for_click

from nnd.metric.cli.command import app

ROOMS = ("cards", "converters", "nnd_metric", "schemas")
PATTERNS = ("*.jinja", "*.schema.json", "source.yaml", "*.ipynb")
FILES = [
    *(ROOT / document for document in DOCUMENTS),
    *(path for room in ROOMS for each in PATTERNS for path in sorted((ROOT / room).rglob(each))),
]


def avoided() -> list[str]:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    _, _, rows = text.partition("| avoid | write |\n|---|---|\n")
    cells = (row.split("|")[1] for row in rows.partition("\n\n")[0].splitlines())
    return [phrase for cell in cells for phrase in re.findall(r"`([^`]+)`", cell)]


AVOIDED = re.compile(rf"(?<!there )\b(?:{'|'.join(avoided())})\b", re.IGNORECASE)


def found_in(text: str) -> Iterator[str]:
    """Yield each phrase to avoid, with the words around it; the list itself may name them."""
    words = " ".join(re.sub(r"`[^`\n]+`", "`", text).split())
    yield from (words[max(0, hit.start() - 30) : hit.end() + 30] for hit in AVOIDED.finditer(words))


def texts_of(path: Path) -> Iterator[str]:
    """Yield the strings of a module that may be printed: of several words, and not docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            is_pattern = "(?" in node.value
            if " " in node.value and not is_pattern and id(node) not in docstrings:
                yield node.value


@pytest.mark.parametrize("room", ROOMS)
def test_the_texts_of_a_room_avoid_the_phrases(room: str) -> None:
    avoidable = [
        (path.relative_to(ROOT).as_posix(), phrase)
        for path in sorted((ROOT / room).rglob("*.py"))
        for text in texts_of(path)
        for phrase in found_in(text)
    ]
    assert avoidable == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_printed_file_avoids_the_phrases(path: Path) -> None:
    assert list(found_in(path.read_text(encoding="utf-8"))) == []


def test_the_help_of_the_commands_avoids_the_phrases() -> None:
    command = typer.main.get_command(app)
    text = get_docs_for_click(obj=command, ctx=typer.Context(command), name="nnd")

    assert list(found_in(text)) == []


def test_the_list_is_read_and_recognised() -> None:
    assert {"nobody", "stands beside", "is no"} <= {*avoided()}
    text = "This is no\nfolder, but there is no `told`, and Nobody said so."
    assert next(found_in(text)).startswith("This is no folder")
    assert len(list(found_in(text))) == 2
