"""Real files, spoilt: what is read of them is what another reader finds there, or it is refused."""

import csv
import io
import json
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from xml.etree import ElementTree as ET

import pyarrow as pa
import pytest
from pyarrow import parquet
from support.damage import Damage, fuzz, read_or_refused
from support.table_files import sheet_of, workbook_of

from nnd.converters.folder.conversion import convert
from nnd.converters.source.source import load_source
from nnd.schemas.reading.archives import read_members
from nnd.schemas.reading.limits import TEXT
from nnd.schemas.reading.parquet import read_parquet_rows
from nnd.schemas.reading.records import parse_json, read_cells, read_jsonl
from nnd.schemas.reading.text_files import read_text
from nnd.schemas.reading.workbook import read_workbook

CSV = "confit_samsum/samsum_annotation.csv"
TSV = "challenge300/challenge300-outputs.tsv"
JSONL = "dialsummeval/human_judgment.jsonl"
JSON = "frank/human_annotations.json"
ZIP = "goyal_gpt3_news/human_annotations.zip"
LINES = 40  # of a longer file: examples are many, and damage to a short one meets more of it

T = TypeVar("T")


@cache
def start(path: Path) -> bytes:
    """Return the first lines of a file, to the end of a row."""
    lines = path.read_bytes().splitlines(keepends=True)
    n = LINES
    while b"".join(lines[:n]).count(b'"') % 2:
        n += 1
    return b"".join(lines[:n])


@cache
def start_of_list(path: Path) -> bytes:
    """Return the first objects of a JSON file."""
    return json.dumps(json.loads(path.read_bytes())[:LINES]).encode()


def read_spoilt(path: Path, raw: bytes, damage: Damage, read: Callable[[Path], T]) -> T | None:
    """Write a file, spoilt, and read it; None where it is refused, which a whole one is never."""
    spoilt = damage(raw)
    path.write_bytes(spoilt)
    found = read_or_refused(lambda: read(path))
    assert found is not None or spoilt != raw
    return found


@pytest.mark.parametrize(
    ("name", "delimiter", "quoted"), [(CSV, ",", True), (TSV, "\t", True), (TSV, "\t", False)]
)
@fuzz(50, in_full=10_000)
def test_cells(
    nnd_data: Path, tmp_path: Path, damage: Damage, name: str, delimiter: str, *, quoted: bool
) -> None:
    path = tmp_path / "a"

    found = read_spoilt(
        path,
        start(nnd_data / name),
        damage,
        lambda path: [row.values for row in read_cells(path, delimiter=delimiter, quoted=quoted)],
    )

    if found is not None:
        assert found == cells_of(path.read_bytes(), delimiter, quoted=quoted)


def cells_of(raw: bytes, delimiter: str, *, quoted: bool) -> list[list[str]]:
    text = raw.decode("utf-8-sig").replace("\r\n", "\n")
    quoting = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    limit = csv.field_size_limit(TEXT.most)
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting)
        return [row for row in rows if row]
    finally:
        csv.field_size_limit(limit)


@fuzz(50, in_full=10_000)
def test_lines_of_json(nnd_data: Path, tmp_path: Path, damage: Damage) -> None:
    path = tmp_path / "a"

    found = read_spoilt(
        path,
        start(nnd_data / JSONL),
        damage,
        lambda path: [record.fields for record in read_jsonl(path)],
    )

    if found is not None:
        lines = path.read_bytes().decode("utf-8-sig").split("\n")
        expected = [json.loads(line) for line in lines if line.strip()]
        assert json.dumps(found) == json.dumps(expected)  # NaN is not NaN


@fuzz(50, in_full=10_000)
def test_a_json_file(nnd_data: Path, tmp_path: Path, damage: Damage) -> None:
    path = tmp_path / "a"

    found = read_spoilt(
        path,
        start_of_list(nnd_data / JSON),
        damage,
        lambda path: [record.fields for record in parse_json(read_text(path), "a")],
    )

    if found is not None:
        expected = json.loads(path.read_bytes().decode("utf-8-sig"))
        objects = expected if isinstance(expected, list) else [expected]
        assert json.dumps(found) == json.dumps(objects)


@fuzz(50, in_full=10_000)
def test_members_of_a_zip(nnd_data: Path, tmp_path: Path, damage: Damage) -> None:
    path = tmp_path / "a"

    found = read_spoilt(path, (nnd_data / ZIP).read_bytes(), damage, read_members)

    if found is not None:
        with zipfile.ZipFile(path) as archive:
            assert found == {name: archive.read(name) for name in found}


@pytest.fixture(scope="module")
def rows(nnd_data: Path) -> list[dict[str, str]]:
    """The first rows of a real table."""
    header, *rest = (row.values for row in read_cells(nnd_data / CSV, delimiter=",", quoted=True))
    return [dict(zip(header, values, strict=True)) for values in rest[:LINES]]


@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
@fuzz(50, in_full=4_000)
def test_parquet(
    rows: list[dict[str, Any]], tmp_path: Path, damage: Damage, compression: str
) -> None:
    good, path = tmp_path / "good", tmp_path / "a"
    if not good.exists():
        parquet.write_table(pa.Table.from_pylist(rows), good, compression=compression)

    found = read_spoilt(path, good.read_bytes(), damage, lambda path: list(read_parquet_rows(path)))

    if found is not None:
        assert found == parquet.ParquetFile(path).read(use_threads=False).to_pylist()


@fuzz(50, in_full=10_000)
def test_a_packed_workbook(rows: list[dict[str, str]], tmp_path: Path, damage: Damage) -> None:
    good = tmp_path / "good"
    if not good.exists():
        good.write_bytes(workbook_of(sheet(rows), packing=zipfile.ZIP_DEFLATED))

    found = read_spoilt(tmp_path / "a", good.read_bytes(), damage, cells_of_workbook)

    # A zip has a checksum of every member.
    assert found in (None, [list(rows[0]), *([*row.values()] for row in rows)])


@fuzz(50, in_full=10_000)
def test_a_sheet(rows: list[dict[str, str]], tmp_path: Path, damage: Damage) -> None:
    spoilt = damage(sheet(rows))
    (tmp_path / "a").write_bytes(workbook_of(spoilt, packing=zipfile.ZIP_DEFLATED))

    found = read_or_refused(lambda: cells_of_workbook(tmp_path / "a"))

    assert found is not None or spoilt != sheet(rows)
    if found is not None:
        texts = [element.text or "" for element in ET.fromstring(spoilt).iter("t")]  # noqa: S314
        assert "".join(cell for cells in found for cell in cells) == "".join(texts)


def cells_of_workbook(path: Path) -> list[list[str]]:
    return [row.values for row in read_workbook(path)]


def sheet(rows: list[dict[str, str]]) -> bytes:
    return sheet_of([*rows[0]], *([*row.values()] for row in rows))


@pytest.mark.parametrize("name", ["confit_samsum", "challenge300", "goyal_gpt3_news"])
@fuzz(10, in_full=160)  # each converts a whole file
def test_no_spoilt_file_passes_for_the_declared_one(
    nnd_data: Path, tmp_path: Path, damage: Damage, name: str
) -> None:
    main = load_source(name).files[0].name
    whole = (nnd_data / name / main).read_bytes()

    found = read_spoilt(tmp_path / main, whole, damage, lambda path: convert(name, origin=path))

    assert found is None or (tmp_path / main).read_bytes() == whole
