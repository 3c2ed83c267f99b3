"""Parts of a source.yaml that is written: names, SQL, and what is still to be described."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nnd.converters.onboard.contents.level_columns import SAYS_LITTLE, Column
from nnd.converters.onboard.guess import name_words as words
from nnd.converters.onboard.guess.name_words import good_label

TODO = "TODO"
"""Stands where nothing in the file says what belongs there; nothing is converted before."""

Change = Mapping[str, Any]
"""What lines of source.yaml may say instead: the keys that lead to a value, in `table:` or outside
of it, with dots between → that value. None removes the line."""


def taxonomy_of(labels: Iterable[str]) -> dict[str, dict[str, str | None]]:
    """Return the `taxonomy:` of labels that are still to be described."""
    return {
        label: {
            "name": label[:1].upper() + label[1:].replace("_", " "),
            "group": None,
            "description": f"{TODO}, what the error is",
        }
        for label in labels
    }


def questions_of(aspects: Iterable[str]) -> dict[str, str]:
    """Return the `aspects:` whose questions are still to be written."""
    return dict.fromkeys(aspects, f"{TODO}, the question that the annotators answered")


def without_error(good: str, labels: Iterable[str]) -> dict[str, Any]:
    """Return the change that takes one of some labels for the one without an error."""
    return {
        "quality": {"rule": "no_error", "no_error": good},
        "taxonomy": taxonomy_of(label for label in labels if label != good),
    }


def labelled(column: Column) -> Change:
    """Return the change that reads a column of labels in place of scores."""
    labels = [label for label, _ in column.counts.most_common()]
    good = good_label(labels, [column]) or labels[0]
    read = {"scores": None, "labels": {"quality": column.path}}
    return {**read, **without_error(good, labels)}


def aspect_names(columns: Sequence[Column]) -> dict[str, Column]:
    """Return the names of aspects for columns, as short as they differ."""
    short = [words.slug(column.name, "quality") for column in columns]
    names = (
        short if len(set(short)) == len(short) else [words.slug(c.path, "quality") for c in columns]
    )
    return dict(zip(names, columns, strict=True))


def part_names(columns: Sequence[Column]) -> dict[str, Column]:
    """Return the parts of a context by the names that templates use."""
    parts: dict[str, Column] = {}
    for number, column in enumerate(columns, start=1):
        says_little = column.name.lower() in SAYS_LITTLE
        name = words.slug("context" if says_little else column.name, "context")
        parts[name if name not in parts else f"{name}_{number}"] = column
    return parts


def quoted(name: str) -> str:
    """Return a column as SQL names it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"
