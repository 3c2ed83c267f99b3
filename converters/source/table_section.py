"""The `table:` section of a source.yaml: what it names, and what its schema cannot check."""

import string
from collections.abc import Mapping
from typing import Any, TypeAlias

from nnd.converters.reading import shown
from nnd.converters.source.source import Source
from nnd.schemas import SourceError

Table: TypeAlias = Mapping[str, Any]
"""The section, valid under `source.schema.json`."""


def check_table(table: Table, source: Source) -> None:
    """Complain of what the schema cannot say of a `table` section.

    Raises:
        SourceError: If its template, a scale, or an aspect makes no sense.
    """
    try:
        fields = list(string.Formatter().parse(template_of(table)))
    except ValueError as error:
        raise SourceError(
            f"{_yaml(source)}: context: {error}; write the inputs as one text, each part's name in "
            "braces"
        ) from error
    for _, part, spec, conversion in fields:
        if part is not None and (part not in table["inputs"] or spec or conversion):
            raise SourceError(
                f'{_yaml(source)}: context: "{{{part}}}" is no part of the inputs, only '
                f"{', '.join(table['inputs'])}; write a part's name in braces and nothing else"
            )
    _check_scale(table, source)
    twice = sorted(set(table.get("labels", {})) & set(table.get("marks", {})))
    if twice:
        raise SourceError(
            f"{_yaml(source)}: {', '.join(twice)} has both labels and marks; keep one of them"
        )


def _check_scale(table: Table, source: Source) -> None:
    measured = {*table.get("scores", {}), *table.get("ratings", {})}
    for aspect, (lowest, highest) in table.get("scale", {}).items():
        if aspect not in measured:
            raise SourceError(
                f"{_yaml(source)}: scale: {shown(aspect)} has neither scores nor ratings; correct "
                "its name"
            )
        if not lowest < highest:
            raise SourceError(
                f"{_yaml(source)}: scale: {shown(aspect)}: {lowest:g} is not lower than "
                f"{highest:g}; write the lowest value first"
            )


def _yaml(source: Source) -> str:
    return f"{source.folder / 'source.yaml'}: table"


def template_of(table: Table) -> str:
    """Return how the parts of a context are read as one text; a single part needs no words."""
    parts: list[str] = list(table["inputs"])
    if "context" not in table and len(parts) > 1:
        raise ValueError("there are several inputs and no template")
    return str(table.get("context", f"{{{parts[0]}}}"))


def columns_of(table: Table) -> list[str]:
    """Return the columns that a `table` section names, each once."""
    named = [*table["columns"].values(), *table["inputs"].values()]
    named += [*table.get("scores", {}).values(), *table.get("labels", {}).values()]
    named += [column for columns in table.get("ratings", {}).values() for column in columns]
    named += [
        name for marks in table.get("marks", {}).values() for name in marks["columns"].values()
    ]
    return list(dict.fromkeys(named))
