"""Real files, spoilt: what is read of them is what another reader finds there, or it is refused."""

import csv
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from support.damage import Damage, fuzz, read_or_refused

from nnd.converters.folder.conversion import convert
from nnd.converters.reading.archives import read_members
from nnd.converters.reading.parquet import read_parquet_rows
from nnd.converters.reading.records import LONGEST_CELL, parse_json, read_cells, read_jsonl
from nnd.converters.reading.texts import read_text
from nnd.converters.reading.workbook import read_workbook
from nnd.converters.source.source import load_source

CSV = "confit_samsum/samsum_annotation.csv"
TSV = "challenge300/challenge300-outputs.tsv"
JSONL = "dialsummeval/human_judgment.jsonl"
JSON = "frank/frank-data-sample-10.json"
ZIP = "goyal_gpt3_news/human_annotations.zip"
LINES = 40  # of a longer file: examples are many, and damage to a short one meets more of it


def spoil(source: Path, damage: Damage, place: Path, lines: int | None = None) -> Path:
    """Write a spoilt copy of a file, or of its first lines."""
    raw = source.read_bytes()
    if lines is not None:
        raw = b"".join(raw.splitlines(keepends=True)[:lines])
    (place / source.name).write_bytes(damage(raw))
    return place / source.name


@pytest.mark.parametrize(
    ("name", "delimiter", "quoted"), [(CSV, ",", True), (TSV, "\t", True), (TSV, "\t", False)]
)
@fuzz(50, in_full=10_000)
def test_cells(
    nnd_data: Path, tmp_path: Path, damage: Damage, name: str, delimiter: str, *, quoted: bool
) -> None:
    path = spoil(nnd_data / name, damage, tmp_path, LINES)

    found = read_or_refused(
        lambda: [row.values for row in read_cells(path, delimiter=delimiter, quoted=quoted)]
    )

    if found is not None:
        assert found == cells_of(path.read_bytes(), delimiter, quoted=quoted)


def cells_of(raw: bytes, delimiter: str, *, quoted: bool) -> list[list[str]]:
    text = raw.decode("utf-8-sig").replace("\r\n", "\n")
    quoting = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    limit = csv.field_size_limit(LONGEST_CELL)
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting)
        return [row for row in rows if row]
    finally:
        csv.field_size_limit(limit)


@fuzz(50, in_full=10_000)
def test_lines_of_json(nnd_data: Path, tmp_path: Path, damage: Damage) -> None:
    path = spoil(nnd_data / JSONL, damage, tmp_path, LINES)

    found = read_or_refused(lambda: [record.fields for record in read_jsonl(path)])

    if found is not None:
        lines = path.read_bytes().decode("utf-8-sig").split("\n")
        expected = [json.loads(line) for line in lines if line.strip()]
        assert json.dumps(found) == json.dumps(expected)  # NaN is not NaN


@fuzz(50, in_full=10_000)
def test_a_json_file(nnd_data: Path, tmp_path: Path, damage: Damage) -> None:
    path = spoil(nnd_data / JSON, damage, tmp_path)

    found = read_or_refused(lambda: [record.fields for record in parse_json(read_text(path), "a")])

    if found is not None:
        expected = json.loads(path.read_bytes().decode("utf-8-sig"))
        rows = expected if isinstance(expected, list) else [expected]
        assert json.dumps(found) == json.dumps(rows)


@fuzz(50, in_full=10_000)
def test_members_of_a_zip(nnd_data: Path, tmp_path: Path, damage: Damage) -> None:
    path = spoil(nnd_data / ZIP, damage, tmp_path)

    found = read_or_refused(lambda: read_members(path))

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
    good = tmp_path / "good"
    if not good.exists():
        parquet.write_table(pa.Table.from_pylist(rows), good, compression=compression)
    path = tmp_path / "a.parquet"
    path.write_bytes(damage(good.read_bytes()))

    found = read_or_refused(lambda: list(read_parquet_rows(path)))

    if found is not None:
        assert found == parquet.ParquetFile(path).read(use_threads=False).to_pylist()


@fuzz(50, in_full=10_000)
def test_a_packed_workbook(rows: list[dict[str, str]], tmp_path: Path, damage: Damage) -> None:
    write_workbook(tmp_path / "a.xlsx", rows, lambda sheet: sheet)
    good = [row.values for row in read_workbook(tmp_path / "a.xlsx")]
    path = spoil(tmp_path / "a.xlsx", damage, tmp_path)

    found = read_or_refused(lambda: [row.values for row in read_workbook(path)])

    assert found in (None, good)  # a zip has a checksum of every member


@fuzz(50, in_full=10_000)
def test_a_sheet(rows: list[dict[str, str]], tmp_path: Path, damage: Damage) -> None:
    write_workbook(tmp_path / "a.xlsx", rows, damage)

    found = read_or_refused(lambda: [row.values for row in read_workbook(tmp_path / "a.xlsx")])

    assert len({len(values) for values in found or []}) <= 1


def write_workbook(
    path: Path, rows: list[dict[str, str]], change: Callable[[bytes], bytes]
) -> None:
    """Write a workbook of inline texts, its sheet changed before it is packed."""
    table = [list(rows[0]), *([*row.values()] for row in rows)]
    cells = "".join(
        "<row>"
        + "".join(f'<c t="inlineStr"><is><t>{_plain(cell)}</t></is></c>' for cell in row)
        + "</row>"
        for row in table
    )
    members = {
        "xl/workbook.xml": b'<w xmlns:r="r"><sheets><sheet name="A" r:id="1"/></sheets></w>',
        "xl/_rels/workbook.xml.rels": b'<a><Relationship Id="1" Target="worksheets/a.xml"/></a>',
        "xl/worksheets/a.xml": change(f"<worksheet>{cells}</worksheet>".encode()),
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, raw in members.items():
            archive.writestr(name, raw)


def _plain(cell: str) -> str:
    return cell.replace("&", "&amp;").replace("<", "&lt;")


@pytest.mark.parametrize("name", ["confit_samsum", "challenge300", "goyal_gpt3_news"])
@fuzz(10, in_full=160)  # each converts a whole file
def test_no_spoilt_file_passes_for_the_declared_one(
    nnd_data: Path, tmp_path: Path, damage: Damage, name: str
) -> None:
    real = nnd_data / name / load_source(name).files[0].name
    path = spoil(real, damage, tmp_path)

    found = read_or_refused(lambda: convert(name, origin=tmp_path))

    assert (found is not None) == (path.read_bytes() == real.read_bytes())
