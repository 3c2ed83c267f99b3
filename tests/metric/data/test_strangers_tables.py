"""Hostile and odd files: one rule for each form, whichever door reads the file."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet
from support.refusals import refusal

from nnd.converters.check.context_checks import _is_inside
from nnd.metric.data import load_pairs, open_pairs, read_table
from nnd.metric.numbers.agreement.from_results import _PASS_RATES, read_pass_rates
from nnd.metric.numbers.slices.parts import with_seen
from nnd.metric.other_metrics.scorers.references import read_references
from nnd.metric.other_metrics.stored_values import read_values
from nnd.metric.run.harness.samples import _read_results
from nnd.metric.run.model_cost import read_costs
from nnd.metric.train.history import read_history
from nnd.schemas import ScoringError, read_json, read_jsonl
from nnd.schemas.files.documents import parse_document

PAIR = {"context": "Sky?", "candidate_high": "Blue.", "candidate_low": "Green."}
CELLS = "context,candidate_high,candidate_low"
CANDIDATES = pl.DataFrame(
    {"split": ["s"], "context_id": ["c"], "system": ["x"], "context": ["Sky?"]}
    | {"candidate_id": ["1"], "candidate": ["Blue."]}
)

JSON_DOORS: dict[str, Callable[[Path], object]] = {
    "data": load_pairs,
    "scores": lambda path: read_values(path, CANDIDATES),
    "references": read_references,
    "rates": read_pass_rates,
    "texts": lambda path: with_seen(pl.DataFrame(PAIR), path),
    "samples": read_table,
    "source": lambda path: list(read_jsonl(path)),
}

HOSTILE_JSON = {
    "depth": ("[" * 101 + "]" * 101, "file.another-kind"),
    "depth beyond Python": ("[" * 50_000 + "]" * 50_000, "file.another-kind"),
    "digits beyond Python": ("9" * 5000, "file.another-kind"),
    "half a surrogate": ('"\\ud83d"', "cell.not-text"),
    "NUL": ('"a\\u0000b"', "cell.not-text"),
    "a doubled key": ('{"k": 1, "k": 2}', "row.twice"),
    "no JSON": ("{", "file.cut-off"),
}


@pytest.mark.parametrize("door", JSON_DOORS)
@pytest.mark.parametrize("form", HOSTILE_JSON)
def test_a_line_of_json_is_refused_at_every_door(door: str, form: str, tmp_path: Path) -> None:
    value, code = HOSTILE_JSON[form]
    path = tmp_path / "x.jsonl"
    path.write_text(f'{json.dumps(PAIR)}\n{{"context": {value}}}\n', encoding="utf-8")
    with refusal(code, "x.jsonl:2"):
        JSON_DOORS[door](path)


@pytest.mark.parametrize("form", HOSTILE_JSON)
def test_documents_of_nnd_and_of_harnesses_are_refused_in_words(form: str, tmp_path: Path) -> None:
    value, code = HOSTILE_JSON[form]
    for name in ("result.json", "results_x.json", "cost.json", "nnd_history.jsonl"):
        (tmp_path / name).write_text(f'{{"models": {value}}}', encoding="utf-8")
    if form == "NUL":  # names of categories may be any text
        assert parse_document(tmp_path / "result.json") == {"models": "a\0b"}
    else:
        with refusal("contract.broken", "result.json"):
            parse_document(tmp_path / "result.json")
    with refusal(code, "results_x.json", ScoringError):
        _read_results(tmp_path / "results_x.json")
    with refusal("train.history", "nnd_history.jsonl"):
        read_history(tmp_path / "nnd_history.jsonl")
    assert read_costs(tmp_path / "cost.json") == {}
    with refusal(code, "cost.json"):
        read_json(tmp_path / "cost.json")


HOSTILE_CELLS = {
    "UTF-16": (f"{CELLS}\nc,h,l\n".encode("utf-16"), "file.not-utf8", "x.csv:1"),
    "Latin-1": (f"{CELLS}\nc,h,\xe9\n".encode("latin-1"), "file.not-utf8", "x.csv:2"),
    "NUL": (f"{CELLS}\nc,h,l\nc,\0,l\n".encode(), "file.not-utf8", "x.csv:3"),
    "a doubled header": (
        f"{CELLS},candidate_high\nc,h,l,other\n".encode(),
        "header.wrong-names",
        "x.csv:1",
    ),
    "a doubled header with a space": (
        f"{CELLS},candidate_high \nc,h,l,other\n".encode(),
        "header.wrong-names",
        "x.csv:1",
    ),
    "one cell more": (f"{CELLS}\nc,h,l,m\n".encode(), "file.not-csv", "x.csv:2"),
    "a quote that does not end": (f'{CELLS}\nc,h,"l\n'.encode(), "file.not-csv", "x.csv:2"),
    "a header alone": (f"{CELLS}\n".encode(), "file.empty", "x.csv"),
    "nothing": (b"", "file.empty", "x.csv"),
    "gzip that ends early": (gzip.compress(b"a" * 1000)[:-9], "file.cut-off", "x.csv"),
}


@pytest.mark.parametrize("door", ["data", "scores", "references", "rates", "texts"])
@pytest.mark.parametrize("form", HOSTILE_CELLS)
def test_a_table_of_cells_is_refused_at_every_door(door: str, form: str, tmp_path: Path) -> None:
    content, code, where = HOSTILE_CELLS[form]
    (tmp_path / "x.csv").write_bytes(content)
    with refusal(code, where, ScoringError):
        JSON_DOORS[door](tmp_path / "x.csv")


SAID = 'He said "hi" to her'
QUOTED = '"He said ""hi"" to her"'
ODD = {
    "pairs.csv": f"\ufeff{CELLS}\r\nSky?,{QUOTED},Green.\r\n",
    "semicolons.csv": f"{CELLS.replace(',', ';')}\nSky?;{QUOTED};Green.\n",
    "excel.csv": f"sep=;\n{CELLS.replace(',', ';')}\nSky?;{SAID};Green.\n",
    "spaces.csv": f"context, candidate_high ,candidate_low\nSky?,{SAID},Green.\n",
    "pandas.tsv": f"{CELLS},".replace(",", "\t") + f"\nSky?\t{QUOTED}\tGreen.\t\n",
    "plain.tsv": f"{CELLS},".replace(",", "\t") + f"\nSky?\t{SAID}\tGreen.\t\n",
    "nan.jsonl": json.dumps(PAIR | {"candidate_high": SAID, "unread": float("nan")}),
    "huge.jsonl": json.dumps(PAIR | {"candidate_high": SAID, "unread": int("9" * 400)}),
}


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("name", ODD)
def test_odd_files_are_read(name: str, *, packed: bool, tmp_path: Path) -> None:
    raw = ODD[name].encode()
    path = tmp_path / (f"{name}.gz" if packed else name)
    path.write_bytes(gzip.compress(raw) if packed else raw)
    found = load_pairs(path).pairs
    assert found.select("context", "candidate_high", "candidate_low").rows() == [
        ("Sky?", SAID, "Green.")
    ]


@pytest.mark.parametrize("category", ["NaN", "Infinity"])
def test_nan_is_refused_where_it_is_read(category: str, tmp_path: Path) -> None:
    line = json.dumps(PAIR)[:-1]
    path = tmp_path / "x.jsonl"
    path.write_text(f'{line}}}\n{line}, "error_category": {category}}}\n', encoding="utf-8")
    with refusal("cell.not-text", "x.jsonl:2"):
        load_pairs(path)


NOT_NUMBERS = ["1_000", "\u0661\u0662", "true", "0x1f", "1,5", "nan"]


@pytest.mark.parametrize("cell", NOT_NUMBERS)
def test_a_score_that_only_python_takes_for_a_number(cell: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f'candidate,comet\nBlue.,1\nBlue.,"{cell}"\n', encoding="utf-8")
    with refusal("cell.not-a-number", "x.csv:3"):
        read_values(path, CANDIDATES)


@pytest.mark.parametrize(
    ("value", "code"),
    [("true", "cell.not-a-number"), ("9" * 400, "cell.not-finite"), ("NaN", "cell.not-finite")],
)
def test_a_score_of_json(value: str, code: str, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    rows = [f'{{"candidate": "Blue.", "comet": {each}}}\n' for each in ("1", value)]
    path.write_text("".join(rows), encoding="utf-8")
    with refusal(code, "x.jsonl:2"):
        read_values(path, CANDIDATES)


def bomb(path: Path) -> Path:
    """Ten thousand times one text of 100,000 characters: 1 GB."""
    rows = 10_000
    text = pa.array(["x" * 100_000], pa.string())
    high = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), text)
    low = pa.array([f"{number}" for number in range(rows)])
    columns = {"context": pa.array(["c"] * rows), "candidate_high": high, "candidate_low": low}
    parquet.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize("read", [load_pairs, lambda path: list(open_pairs(path).pieces(""))])
def test_a_parquet_file_that_unpacks_to_much_is_refused(
    read: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = bomb(tmp_path / "x.parquet")
    assert path.stat().st_size < 200_000
    monkeypatch.setenv("NND_MAX_UNPACKED", "100M")
    with refusal("file.too-large", "x.parquet", ScoringError) as caught:
        read(path)
    assert "NND_MAX_UNPACKED" in caught.value.remedy


@pytest.mark.parametrize(
    ("name", "content", "variable", "most"),
    [
        ("x.jsonl", json.dumps(PAIR | {"candidate_low": "l" * 70_000}), "NND_MAX_TEXT", "69000"),
        ("x.csv", f"{CELLS}\nc,h,{'l' * 101}\n", "NND_MAX_TEXT", "100"),
        ("x.jsonl", json.dumps(PAIR | dict.fromkeys(map(str, range(20)))), "NND_MAX_COLUMNS", "20"),
        ("x.csv", f"{CELLS},a,b\nc,h,l,1,2\n", "NND_MAX_COLUMNS", "4"),
        ("x.jsonl", json.dumps(PAIR), "NND_MAX_LINE", "50"),
        ("x.jsonl.gz", json.dumps(PAIR) * 1000, "NND_MAX_UNPACKED", "1K"),
    ],
)
def test_a_limit_is_named_with_what_lifts_it(
    *,
    name: str,
    content: str,
    variable: str,
    most: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raw = content.encode()
    (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    monkeypatch.setenv(variable, most)
    with refusal("file.too-large", name, ScoringError) as caught:
        load_pairs(tmp_path / name)
    assert variable in caught.value.remedy
    monkeypatch.setenv(variable, "much")
    with refusal("option.bad-value", variable):
        load_pairs(tmp_path / name)


def test_columns_without_a_known_name_are_not_read(tmp_path: Path) -> None:
    frame = pl.DataFrame(PAIR | {f"c{number}": 1 for number in range(300)})
    frame.write_parquet(tmp_path / "x.parquet")
    assert "c1" not in load_pairs(tmp_path / "x.parquet").pairs.columns
    with refusal("column.missing") as caught:
        load_pairs(tmp_path / "x.parquet", cluster="c299x")
    assert "c299" in caught.value.what


def test_nul_in_parquet_is_refused(tmp_path: Path) -> None:
    pl.DataFrame(PAIR | {"candidate_high": "a\0b"}).write_parquet(tmp_path / "x.parquet")
    with refusal("cell.not-text", "x: row 0"):
        load_pairs(tmp_path / "x.parquet")


def test_a_long_candidate_is_looked_for_in_its_context() -> None:
    text = "cd ab " * 110_000  # as a pattern it is too large
    rows = pl.DataFrame({"context": ["ab cd " * 230_000], "candidate": [text]})
    assert rows.select(_is_inside("candidate")).to_series().to_list() == [True]


@pytest.mark.parametrize("rate", ["true", '"1_0"', '"\\u0661"', '"high"', "[0.5]"])
def test_a_pass_rate_is_a_number(rate: str, tmp_path: Path) -> None:
    names = {name: "x" for name in _PASS_RATES if name != "pass_rate"}
    lines = [json.dumps(names | {"pass_rate": number}) for number in (0.5, "0.25")]
    (tmp_path / "x.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert read_pass_rates(tmp_path / "x.jsonl")["pass_rate"].to_list() == [0.5, 0.25]
    lines.append(lines[0].replace("0.5", rate))
    (tmp_path / "x.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with refusal("cell.not-a-number", "x.jsonl:3"):
        read_pass_rates(tmp_path / "x.jsonl")
