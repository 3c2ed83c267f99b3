"""Replacing one word of a text by its antonym, from a table of the user."""

import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from random import Random

from nnd.converters.make.text_operations.articles import with_article
from nnd.converters.make.text_operations.operation import Falsify, RefusalError, Statement
from nnd.schemas import NNDError, read_cells

_COLUMNS = ["word", "antonym"]


def antonym(path: Path) -> Falsify:
    """Return the function that replaces a word by its antonym in a table.

    The table is a CSV file with the columns word and antonym; words are replaced in this direction
    only.
    """
    opposites = _read_table(path)
    any_word = "|".join(map(re.escape, sorted(opposites, key=len, reverse=True)))
    pattern = re.compile(rf"(?<![\w-])(?:{any_word})(?![\w-])", re.IGNORECASE)

    def replace_word(statement: Statement, random: Random) -> str:
        text = statement.text
        words = list(pattern.finditer(text))
        if not words:
            raise RefusalError("no word of the table")
        word = random.choice(words)
        new = _in_case_of(word[0], opposites[word[0].lower()])
        return with_article(text[: word.start()], new) + new + text[word.end() :]

    return replace_word


def _in_case_of(old: str, new: str) -> str:
    if old.isupper() and len(old) > 1:
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


def _read_table(path: Path) -> dict[str, str]:
    opposites = dict[str, str]()
    for word, new in _rows(path):
        if word in opposites:
            raise NNDError("row.twice", f'"{word}" has two antonyms', path)
        opposites[word] = new
    if not opposites:
        raise NNDError("file.empty", "has no rows", path)
    try:
        TopologicalSorter({word: [new.lower()] for word, new in opposites.items()}).prepare()
    except CycleError as error:
        cycle = " → ".join(reversed(error.args[1]))
        raise NNDError(
            "row.contradiction",
            f"{cycle} is a cycle",
            path,
            "a word is replaced in one direction only, so leave one of these rows out",
        ) from error
    return opposites


def _rows(path: Path) -> Iterator[tuple[str, str]]:
    """Yield words in lower case with their antonyms."""
    cells = read_cells(path, delimiter=",", quoted=True)
    header = next(cells).values
    if header != _COLUMNS:
        raise NNDError(
            "file.another-kind",
            f"has the columns {', '.join(header)}",
            path,
            f"write {', '.join(_COLUMNS)} as its first line",
        )
    for row in cells:
        word, new = (value.strip() for value in row.values)
        if not (word and new):
            raise NNDError("cell.empty", "a cell is blank", row.where)
        yield word.lower(), new
