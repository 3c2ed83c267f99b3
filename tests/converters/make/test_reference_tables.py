"""Negatives of a table of references, which need no converted folder and no human pairs."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.refusals import refusal
from support.screens.commands import Nnd

from nnd.converters.make.deriving import derive
from nnd.schemas import check_rows

DIALOGUE = "Amanda: I baked cookies.\nJerry: Sure!"
ROWS: list[dict[str, Any]] = [
    {"context": DIALOGUE, "reference": "Amanda will bring Jerry cookies.", "id": 7},
    {"context": DIALOGUE, "reference": "They will meet."},
    {"context": "Ann: Hi.", "reference": "Nothing happens."},
]
MADE = [
    ["Jerry will bring Amanda cookies.", "Amanda will not bring Jerry cookies."],
    ["They will not meet."],
    [],
]
OPERATIONS = ["swap_speakers", "negation"]


def write(folder: Path, form: str, rows: list[dict[str, Any]] = ROWS) -> Path:
    path = folder / f"talks.{form}"
    frame = pl.DataFrame(rows, infer_schema_length=None)
    writers = {"jsonl": frame.write_ndjson, "json": frame.write_json, "csv": frame.write_csv}
    writers |= {"tsv": lambda at: frame.write_csv(at, separator="\t")}
    {**writers, "parquet": frame.write_parquet}[form](path)
    return path


def made(folder: Path, table: Path, **options: Any) -> list[dict[str, Any]]:
    derive(table, OPERATIONS, out=folder / "out", negatives="references", **options)
    text = (folder / "out" / "references.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("form", ["jsonl", "json", "parquet"])
def test_every_reference_keeps_its_row_and_gets_its_negatives(form: str, tmp_path: Path) -> None:
    found = made(tmp_path, write(tmp_path, form))
    assert [row["negatives"] for row in found] == MADE
    assert [row["reference"] for row in found] == [row["reference"] for row in ROWS]
    assert [row["id"] for row in found] == [7, None, None]
    facts = json.loads((tmp_path / "out" / "negatives.json").read_text(encoding="utf-8"))
    assert [*check_rows("negatives", [facts])] == []
    assert facts["table"]["rows"] == 3
    assert [(each["name"], each["pairs"], each["rejected"]) for each in facts["sets"]] == [
        ("swap_speakers", 1, 2),
        ("negation", 2, 1),
    ]


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_tables_of_cells_are_read_too(form: str, tmp_path: Path) -> None:
    rows = [{"context": "Ann: Hi. Bob: No.", "reference": "They will meet."}]
    table = write(tmp_path, form, rows)
    derive(table, ["negation"], out=tmp_path / "out", negatives="references")
    text = (tmp_path / "out" / "references.jsonl").read_text(encoding="utf-8")
    assert json.loads(text)["negatives"] == ["They will not meet."]


def test_negatives_of_before_are_kept(tmp_path: Path) -> None:
    rows = [
        {**row, "negatives": before}
        for row, before in zip(ROWS, [["No."], MADE[1], None], strict=True)
    ]
    found = made(tmp_path, write(tmp_path, "jsonl", rows))
    assert [row["negatives"] for row in found] == [["No.", *MADE[0]], MADE[1], []]


def test_draws_depend_on_the_reference_not_on_its_row(tmp_path: Path) -> None:
    rows = [
        {"context": f"Ann: At {n}, Bob.\nBob: At {n}?", "reference": f"They meet at {n}."}
        for n in range(10, 20)
    ]
    derive(write(tmp_path, "jsonl", rows), ["numbers"], out=tmp_path / "a", negatives="references")
    derive(
        write(tmp_path, "json", rows[::-1]), ["numbers"], out=tmp_path / "b", negatives="references"
    )
    texts = [(tmp_path / name / "references.jsonl").read_text().splitlines() for name in "ab"]
    assert sorted(texts[0]) == sorted(texts[1])
    assert len({json.loads(line)["negatives"][0] for line in texts[0]}) > 3


def test_the_same_command_gives_the_same_bytes_and_replaces_its_own(tmp_path: Path) -> None:
    table = write(tmp_path, "jsonl")
    for _ in range(2):
        made(tmp_path, table)
    files = [path.read_bytes() for path in sorted((tmp_path / "out").iterdir())]
    derive(table, OPERATIONS, out=tmp_path / "other", negatives="references")
    assert [path.read_bytes() for path in sorted((tmp_path / "other").iterdir())] == files
    (tmp_path / "out" / "references.jsonl").write_text("changed", encoding="utf-8")
    with refusal("place.foreign-files", "out"):
        made(tmp_path, table)


WRONG: list[tuple[list[dict[str, Any]], str, str]] = [
    ([{"context": "x"}], "file.another-kind", "talks.jsonl:1"),
    ([{"reference": "x"}], "file.another-kind", "talks.jsonl:1"),
    ([{"context": "x", "reference": " "}], "cell.null", "talks.jsonl:1"),
    ([{"context": "x", "reference": 3}], "file.another-kind", "talks.jsonl:1"),
    ([{"context": "x", "reference": "It is."}], "data.no-pairs", ""),
]


@pytest.mark.parametrize(("rows", "code", "where"), WRONG)
def test_a_row_that_cannot_be_read_is_named(
    rows: list[dict[str, Any]], code: str, where: str, tmp_path: Path
) -> None:
    with refusal(code, where):
        made(tmp_path, write(tmp_path, "jsonl", rows))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("--op typos", "option.conflict"),
        ("--op negation --negatives preferred", "option.conflict"),
        ("--op negation --negatives references --aspect answer", "option.conflict"),
    ],
)
def test_what_a_table_cannot_give_is_refused(
    words: str, code: str, nnd: Nnd, tmp_path: Path
) -> None:
    nnd.refuses("derive", write(tmp_path, "jsonl"), *words.split(), code=code)


def test_the_command_names_the_folder_after_the_table(nnd: Nnd, tmp_path: Path) -> None:
    write(tmp_path, "jsonl")
    printed = nnd("derive", "talks.jsonl", "--negatives", "references", "--op", "negation").out
    assert printed.startswith("1 set with 2 pairs from talks, written to talks-suite.")
    assert (tmp_path / "talks-suite" / "references.jsonl").is_file()
