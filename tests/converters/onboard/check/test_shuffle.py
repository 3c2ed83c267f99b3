"""Shuffled rows: each is there once, in another order, whichever reader reads it."""

import json
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.checked_source import Birds, make_birds, outcomes, run_here
from support.table_files import WRITERS, csv_of

from nnd.converters.onboard.check import separate_run
from nnd.converters.onboard.check.file_changes import Change, Changer
from nnd.converters.onboard.contents.reading_files import read_parts
from nnd.converters.source import Files, Source

ROWS = [{"key": f"k{n}", "text": f'text "{n}",\nin two lines', "score": str(n)} for n in range(9)]


def shuffled(name: str, raw: bytes, folder: Path) -> Files:
    (folder / name).write_bytes(raw)
    facts = {"name": "a", "files": [{"name": name, "url": None, "sha256": None, "bytes": None}]}
    change = Changer(Change(shuffles=True), {})
    return Files(Source(folder, facts), folder, change=change)


CELLS = [[*ROWS[0]], *([*row.values()] for row in ROWS)]


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_table_keeps_its_rows(suffix: str, tmp_path: Path) -> None:
    rows = [{**row, "text": row["text"].replace("\n", " ")} for row in ROWS]
    raw = WRITERS[suffix]([*rows[0]], *([*row.values()] for row in rows))
    path = tmp_path / f"a{suffix}"

    files = shuffled(path.name, raw, tmp_path)
    after = [dict(row.fields) for row in files.table(path.name)]

    assert sorted(after, key=lambda row: str(row["key"])) == rows
    assert after != rows
    assert after == [dict(row.fields) for row in files.table(path.name)]  # also if read twice


def test_a_csv_keeps_its_header_and_cells_of_several_lines(tmp_path: Path) -> None:
    files = shuffled("a.csv", csv_of(*CELLS), tmp_path)
    header, *after = [row.values for row in files.cells("a.csv", delimiter=",", quoted=True)]

    assert header == ["key", "text", "score"]
    assert sorted(after) == [list(row.values()) for row in ROWS]


def test_columns_of_one_name_stay(tmp_path: Path) -> None:
    files = shuffled("a.tsv", b"a\ta\n1\t2\n3\t4\n", tmp_path)

    rows = [row.values for row in files.cells("a.tsv", delimiter="\t", quoted=False)]

    assert rows == [["a", "a"], ["3", "4"], ["1", "2"]]


def test_rows_of_a_member_of_an_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("in/a.tsv", "a\tb\n1\tx\n2\tz\textra\n")
        archive.writestr("in/a.json", '[{"a": 1}, {"a": 2}]')
    files = shuffled("a.zip", (tmp_path / "a.zip").read_bytes(), tmp_path)

    rows = files.cells("a.zip", delimiter="\t", quoted=False, even=False, member="in/a.tsv")

    assert [row.values for row in rows] == [["a", "b"], ["2", "z", "extra"], ["1", "x"]]
    assert [row.fields for row in files.json("a.zip", member="a.json")] == [{"a": 2}, {"a": 1}]


def test_lines_of_json(tmp_path: Path) -> None:
    files = shuffled("a.jsonl", b'{"a": "\xe2\x80\xa8\\""}\n\n{"a": 2}', tmp_path)

    assert [row.fields for row in files.jsonl("a.jsonl")] == [{"a": 2}, {"a": '\u2028"'}]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([{"a": 1}, {"a": 2}], [{"a": 2}, {"a": 1}]),
        ({"a": 1, "b": {"c": 1, "d": 2}}, [{"b": {"c": 1, "d": 2}, "a": 1}]),
        ({"rows": [{"a": 1}, {"a": 2}]}, [{"rows": [{"a": 2}, {"a": 1}]}]),
        ({"column": ["a", "b"]}, [{"column": ["a", "b"]}]),  # it goes with other columns
    ],
)
def test_json(value: Any, expected: Any, tmp_path: Path) -> None:
    files = shuffled("a.json", json.dumps(value).encode(), tmp_path)

    found = [row.fields for row in files.json("a.json")]

    assert json.dumps(found) == json.dumps(expected)


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
def test_what_cannot_be_read_has_no_part(name: str, raw: bytes, tmp_path: Path) -> None:
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
    monkeypatch.setattr(separate_run, "run_readings", run_here(tmp_path / "runs"))
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
