"""The real files of a source, converted by nnd and counted again without it: each once."""

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support.recounts.raw_files import Text
from support.recounts.readings import READINGS, Reading

from nnd.converters.folder.conversion import Conversion, convert
from nnd.schemas.reading import table_rows
from nnd.schemas.reading.records import Cells
from nnd.schemas.reading.workbook import read_workbook

Row = tuple[Any, ...]
"""What `pairs_of` gives of a pair, in the order of the columns that the test names."""


@contextmanager
def workbooks_parsed_once() -> Iterator[None]:
    """Keep their rows: QGEval is read in six ways, and each reads its three workbooks twice."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(table_rows, "read_workbook", lambda *at: iter(_rows_of_workbook(*at)))
        yield


@cache
def _rows_of_workbook(path: Path, sheet: str | None) -> list[Cells]:
    return [*read_workbook(path, sheet)]


def converted(
    source: str, origin: Path, *, set_name: str | None = None, variant: str | None = None
) -> Conversion:
    """Convert once for all tests of a process: leave it as it is."""
    return _converted(source, origin, set_name, variant)


@cache
def _converted(source: str, origin: Path, set_name: str | None, variant: str | None) -> Conversion:
    with workbooks_parsed_once():
        return convert(source, origin=origin, set_name=set_name, variant=variant)


def conversion_of(reading: Reading, data: Path) -> Conversion:
    """What nnd makes of the real files."""
    set_name, variant = (reading.options.get(name) for name in ("set_name", "variant"))
    origin = reading.place(data) / reading.origin
    return converted(reading.source, origin, set_name=set_name, variant=variant)


@cache
def recounted(folder: Path, number: int) -> list[Text]:
    return READINGS[number].texts(folder)


def texts_of(reading: Reading, data: Path) -> list[Text]:
    """The candidates of the real files, read with nothing of ours."""
    return recounted(reading.place(data), READINGS.index(reading))


def pairs_of(reading: Reading, data: Path) -> list[Row]:
    return recounted_pairs(reading.place(data), READINGS.index(reading))


@cache
def recounted_pairs(folder: Path, number: int) -> list[Row]:
    """Every pair of two candidates of a context and a group, in the order of their keys."""
    reading, groups = READINGS[number], defaultdict(list)
    for text in recounted(folder, number):
        groups[text.split, text.context, text.group].append(text)
    found: list[Row] = []
    for group in groups.values():
        for high in group:
            for low in group:
                for aspect in high.marks:
                    better = reading.better(high.marks[aspect], low.marks[aspect])
                    for category in (aspect,) * better if isinstance(better, bool) else better:
                        ids = (high.split, high.context, high.id, low.id)
                        keys = (*ids, aspect, category, high.group)
                        written = (high.text, low.text)
                        digest = pair_id(reading, keys, written)
                        found.append((*keys, *written, high.system, low.system, digest))
    return sorted(found)


def pair_id(reading: Reading, keys: Row, texts: Row) -> str:
    """By the recipe of `pairing.ID_FIELDS`."""
    split, context, high, low, aspect, category, group = keys
    made = re.sub("[^a-z0-9]+", "_", category.lower())
    origin = f"constructed:{made}" if reading.constructed else "human"
    fields = (reading.source, split, context, aspect, category, high, low, *texts, origin)
    sized = [*fields, group] if group is not None else fields
    key = "".join(f"{len(field.encode())}:{field}" for field in sized)
    return hashlib.sha256(key.encode()).hexdigest()[:16]


def same_text(row: Row) -> bool:
    high, low = (" ".join(unicodedata.normalize("NFC", text).split()) for text in row[7:9])
    return high == low
