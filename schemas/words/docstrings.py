"""Docstrings in Google's style as data: help, JSON Schemas and records take their sentences."""

import re

_ENTRY = re.compile(r"^ {4}(\w+): ((?:.|\n(?! {4}\S))*)", flags=re.MULTILINE)


def sentences_in(docstring: str, section: str) -> dict[str, str]:
    """Return name → description of the entries of a section, each on one line.

    Args:
        docstring: A docstring without its indentation.
        section: The title: Args or Attributes.
    """
    _, _, rest = f"\n{docstring}".partition(f"\n{section}:\n")
    entries = re.split(r"\n(?=\S)", rest, maxsplit=1)[0]
    return {name: " ".join(words.split()) for name, words in _ENTRY.findall(entries)}
