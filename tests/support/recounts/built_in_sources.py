"""The built-in sources, and what their fixtures are expected to give: read once by each worker."""

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from nnd.converters.source.source import Source, list_sources
from nnd.schemas import load_yaml

SOURCES = list_sources()
"""In the order of their names; leave them as they are."""


LINE_BASED = {".jsonl", ".csv", ".tsv"}
"""Endings of files in which a row is a line."""


class Case(NamedTuple):
    """A fixture of a built-in source, read as one of its sets and variants."""

    source: str
    place: Path
    set_name: str | None
    variant: str | None


@functools.cache
def read_expected(folder: Path) -> list[dict[str, Any]]:
    """Return the entries of `fixture/expected.yaml` of a source, one for each reading."""
    path = folder / "fixture" / "expected.yaml"
    return load_yaml(path.read_text(encoding="utf-8")) if path.is_file() else []


def place_of(source: Source, entry: dict[str, Any]) -> Path:
    """Return the folder of what an entry reads; the sample's own file is its fixture."""
    is_own = all((source.folder / file.name).is_file() for file in source.files)
    return source.folder if is_own else source.folder / "fixture" / entry.get("from", ".")


def choose(source: Source, set_name: str | None, variant: str | None) -> Source:
    """Return a source with what one of its sets and variants overrides."""
    chosen = source if set_name is None else source.choose("set", set_name)
    return chosen if variant is None else chosen.choose("variant", variant)


def fixture_cases() -> Iterator[Case]:
    """Yield every fixture that `expected.yaml` of a source speaks of."""
    for source in SOURCES:
        for entry in read_expected(source.folder):
            place = place_of(source, entry)
            yield Case(source.name, place, entry["set"], entry["variant"])
