"""Shuffled copies: every row is there once, in another order, as the readers see it."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.checked_source import Birds, make_birds, outcomes, run_here

from nnd.converters.onboard.check import checked_source as case
from nnd.converters.onboard.check.file_content import read_parts, shuffle_rows, write_parts
from nnd.converters.reading.file_writing import write_objects
from nnd.converters.reading.records import read_cells
from nnd.converters.reading.workbook import read_workbook

ROWS = [{"key": f"k{n}", "text": f'text "{n}",\nin two lines', "score": str(n)} for n in range(9)]


def shuffle_file(path: Path, out: Path) -> None:
    write_parts(path, out, shuffle_rows({"": read_parts(path)})[""])


def shuffled(path: Path, raw: bytes) -> bytes:
    path.write_bytes(raw)
    out = path.with_name(f"shuffled-{path.name}")
    shuffle_file(path, out)
    return out.read_bytes()


def cells(path: Path) -> Iterator[list[str]]:
    if path.suffix == ".xlsx":
        yield from (row.values for row in read_workbook(path))
    else:
        yield from (row.values for row in read_cells(path, delimiter=",", quoted=True))


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_a_table_keeps_its_header_and_its_rows(suffix: str, tmp_path: Path) -> None:
    path, out = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    write_objects(path, ROWS)

    shuffle_file(path, out)

    before, after = list(cells(path)), list(cells(out))
    assert after[0] == before[0] == ["key", "text", "score"]
    assert sorted(after) == sorted(before)
    assert after != before


def test_marks_line_ends_and_a_last_line_without_one_do_no_harm(tmp_path: Path) -> None:
    raw = b'\xef\xbb\xbfa,b\r\n1,"x\r\ny"\r\n2,z'

    assert shuffled(tmp_path / "a.csv", raw) == b'a,b\n2,z\n1,"x\ny"\n'


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        # A quote that is never closed is a character: as one row, nothing would be shuffled.
        (b'a\tb\n1\tsix " wide\n2\tz\n', b'a\tb\n2\tz\n1\tsix " wide\n'),
        (b"a\tb\r1\tx\r2\tz\r", b"a\tb\n2\tz\n1\tx\n"),
    ],
)
def test_rows_are_told_apart(raw: bytes, expected: bytes, tmp_path: Path) -> None:
    assert shuffled(tmp_path / "a.tsv", raw) == expected


def test_quotes_far_from_each_other_take_no_time(tmp_path: Path) -> None:
    """Two that enclose 40,000 lines: a minute where the row is copied for each of them."""
    raw = b'a\tb\n1\t"\n' + b"some words\tand more of them\n" * 40_000 + b'2\t"\n3\tz\n'

    start = time.process_time()
    found = shuffled(tmp_path / "a.tsv", raw)

    assert time.process_time() - start < 2
    assert sorted(found.splitlines()) == sorted(raw.splitlines())


def test_lines_of_json(tmp_path: Path) -> None:
    raw = b'{"a": "\xe2\x80\xa8\\""}\n\n{"a": 2}'

    assert shuffled(tmp_path / "a.jsonl", raw) == b'{"a": 2}\n{"a": "\xe2\x80\xa8\\""}\n'


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([1, 2], [2, 1]),
        ({"a": 1, "b": {"c": 1, "d": 2}}, {"b": {"c": 1, "d": 2}, "a": 1}),
        ({"rows": [{"a": 1}, {"a": 2}]}, {"rows": [{"a": 2}, {"a": 1}]}),
        ({"column": ["a", "b"]}, {"column": ["a", "b"]}),  # it goes with other columns
    ],
)
def test_json(value: Any, expected: Any, tmp_path: Path) -> None:
    found = shuffled(tmp_path / "a.json", json.dumps(value).encode())

    assert found.decode() == json.dumps(expected)


def test_parquet(tmp_path: Path) -> None:
    path, out = tmp_path / "a.parquet", tmp_path / "b.parquet"
    frame = pl.DataFrame(ROWS)
    frame.write_parquet(path)

    shuffle_file(path, out)

    after = pl.read_parquet(out)
    assert after.sort("key").equals(frame)
    assert not after.equals(frame)


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("a.zip", b"PK"),
        ("a.txt", b"1\n2\n"),
        ("a.json", b"{"),
        ("a.xlsx", b"x"),
        ("a.parquet", b""),
    ],
)
def test_what_cannot_be_shuffled_has_no_part(name: str, raw: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(raw)

    assert read_parts(tmp_path / name) == {}


TABLE = {
    "columns": {"context_id": "key", "candidate": "answer", "system": "system"},
    "inputs": {"question": "question"},
    "labels": {"answer": "label"},
}


@pytest.mark.parametrize(
    "suffix",
    [
        ".csv",
        *(pytest.param(each, marks=pytest.mark.full) for each in (".parquet", ".tsv", ".json")),
    ],
)
def test_the_real_file_may_be_of_another_kind(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    birds = make_birds(tmp_path)
    monkeypatch.setattr(case, "run_readings", run_here(tmp_path / "runs"))
    (birds.folder / "convert.py").unlink()
    birds.set_facts(table=TABLE)
    frame = pl.read_ndjson(birds.real)
    other = birds.real.with_suffix(suffix)
    match suffix:
        case ".parquet":
            frame.write_parquet(other)
        case ".json":
            other.write_text(json.dumps(frame.to_dicts()))
        case _:
            frame.write_csv(other, separator="," if suffix == ".csv" else "\t")

    checks = Birds(birds.folder, other).check()

    # It is not the declared file; for the rest it does as well.
    assert outcomes(checks) == {"review": ["counts"]}
