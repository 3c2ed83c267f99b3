"""Parquet tables: their rows, in bounded memory, and without threads."""

import contextlib
import datetime as dt
import itertools
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from support.refusals import refusal

from nnd.schemas import SourceError, read_parquet_rows

ROWS: list[dict[str, Any]] = [
    {
        "text": "A bird.",
        "parts": [{"key": "a", "value": ["b", None]}],
        "pairs": [("k", "v")],
        "n": 1,
        "x": 0.1,
        "when": dt.date(2020, 1, 31),
        "amount": Decimal("1.50"),
        "raw": b"\xff",
    },
    dict.fromkeys(("text", "parts", "pairs", "n", "x", "when", "amount", "raw")),
]
SCHEMA = pa.schema(
    {
        "text": pa.string(),
        "parts": pa.list_(pa.struct({"key": pa.string(), "value": pa.list_(pa.string())})),
        "pairs": pa.map_(pa.string(), pa.string()),
        "n": pa.int64(),
        "x": pa.float64(),
        "when": pa.date32(),
        "amount": pa.decimal128(5, 2),
        "raw": pa.binary(),
    }
)


def write(path: Path, rows: list[dict[str, Any]], **options: Any) -> Path:
    parquet.write_table(pa.Table.from_pylist(rows, SCHEMA), path, **options)
    return path


def write_repeated(path: Path, text: str, times: int, kind: pa.DataType | None = None) -> Path:
    """Write a column in which one text stands so many times; the file holds it once."""
    column = pa.DictionaryArray.from_arrays(pa.array([0] * times, pa.int32()), pa.array([text]))
    if kind is not None:  # a list of one text in each row
        column = pa.ListArray.from_arrays(pa.array(range(times + 1), pa.int32()), column)
    parquet.write_table(pa.table({"text": column}), path)
    return path


@pytest.mark.parametrize("row_group_size", [100, 1500, None])
def test_rows_are_what_was_written(tmp_path: Path, row_group_size: int | None) -> None:
    rows = [{**ROWS[number % 2], "n": number} for number in range(3000)]
    path = write(tmp_path / "a.parquet", rows, row_group_size=row_group_size or len(rows))

    assert list(read_parquet_rows(path)) == rows


def test_only_the_columns_that_are_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", ROWS)

    assert list(read_parquet_rows(path, ["x", "text"])) == [
        {"x": 0.1, "text": "A bird."},
        {"x": None, "text": None},
    ]


@pytest.mark.parametrize("kind", [None, pa.list_(pa.string())], ids=["texts", "lists"])
def test_a_text_that_a_million_rows_refer_to(
    tmp_path: Path, kind: pa.DataType | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NND_MAX_UNPACKED", "1G")
    # 200,000 times 20,000 bytes: 4 GB from a file of a few thousand bytes.
    path = write_repeated(tmp_path / "a.parquet", "lorem ipsum " * 1667, 200_000, kind)
    assert path.stat().st_size < 100_000

    with refusal("file.too-large", "a.parquet"):
        for _ in read_parquet_rows(path):
            pass


READ = """
import resource, sys
from pathlib import Path
from nnd.schemas import read_parquet_rows

path = Path(sys.argv[1])
next(read_parquet_rows(path.with_name("small.parquet")))  # what importing pyarrow takes
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
rows = sum(1 for _ in read_parquet_rows(path))
print(rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_rows_that_were_read_are_not_held(tmp_path: Path) -> None:
    write(tmp_path / "small.parquet", ROWS)
    # 600 MB of text; read at once it would be as much in Arrow, and again in Python.
    path = write_repeated(tmp_path / "a.parquet", "lorem ipsum " * 500, 100_000)

    found = subprocess.run(
        [sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True
    )

    rows, kilobytes = map(int, found.stdout.split())
    assert rows == 100_000
    assert kilobytes < 150_000


THREADS = """
import os, sys
from pathlib import Path
from pyarrow import parquet
from nnd.schemas import read_parquet_rows

before = len(os.listdir("/proc/self/task"))
rows = sum(1 for _ in read_parquet_rows(Path(sys.argv[1])))
print(rows, len(os.listdir("/proc/self/task")) - before)
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs Linux's /proc")
def test_no_thread_of_arrow_outlives_the_reading(tmp_path: Path) -> None:
    # A thread that drops the last reference to a Python buffer while the interpreter is finalizing
    # ends the process with 134 (SIGABRT). Which it does is chance; that there is one is not.
    columns = {f"c{n}": [f"{n * row:060}" for row in range(1000)] for n in range(12)}
    parquet.write_table(pa.table(columns), tmp_path / "a.parquet")

    found = subprocess.run(
        [sys.executable, "-c", THREADS, str(tmp_path / "a.parquet")],
        capture_output=True,
        text=True,
        check=True,
    )

    assert found.stdout.split() == ["1000", "0"]


@pytest.mark.parametrize("kind", [pa.string(), pa.int64(), pa.decimal128(5, 2)], ids=str)
def test_a_column_of_categories(tmp_path: Path, kind: pa.DataType) -> None:
    values = pa.array(["1", "2", "1", None]).cast(kind)
    parquet.write_table(pa.table({"a": values.dictionary_encode()}), tmp_path / "a.parquet")

    found = [row["a"] for row in read_parquet_rows(tmp_path / "a.parquet")]

    assert found == values.to_pylist()


@pytest.mark.parametrize("raw", [b"", b"PAR1", b"PAR1" * 9], ids=["empty", "cut", "broken"])
def test_what_is_not_parquet(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "a.parquet").write_bytes(raw)

    with refusal("file.not-parquet", "a.parquet"):
        list(read_parquet_rows(tmp_path / "a.parquet"))


def test_no_row_is_lost_where_a_byte_is_wrong(tmp_path: Path) -> None:
    # Arrow takes a page of which it cannot make sense for the end of a column, and gives no row.
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"a": ["x", "y", "z"]}), path, compression="none")
    whole = path.read_bytes()
    counts = set[int]()
    for place, change in itertools.product(range(len(whole)), (0x01, 0x02, 0x08, 0xFF)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ change]) + whole[place + 1 :])
        with contextlib.suppress(SourceError):
            counts.add(len(list(read_parquet_rows(path))))

    assert counts == {3}


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with refusal("file.not-parquet", "a.parquet"):
        list(read_parquet_rows(tmp_path / "a.parquet"))
