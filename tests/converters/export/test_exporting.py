"""Pairs for other tools: what is refused, what is left behind, and the two flat forms."""

import csv
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import polars as pl
import pytest
from support.refusals import refusal
from support.stored_folders import reseal, store, write_manifest

from nnd.converters.export.exporting import Target, export
from nnd.converters.export.prompt_rendering import PromptRendering
from nnd.converters.folder.conversion import convert
from nnd.schemas import polars_schema, rows_of
from nnd.schemas.reading.parquet import read_parquet

TARGETS = get_args(Target)
every_target = pytest.mark.parametrize("target", TARGETS)

HOSTILE = (
    'quotes " and "" and \\',
    "commas, semicolons; tabs\t and pipes |",
    "lines\nend\r\nin\rmany\u2028ways\u2029or\x85so",
    "  white space around  ",
    "=1+1",
    "null",
    "NaN",
    "1984-01-01",
    "007",
    "א נב 🍰 e\u0301",
    "{{ jinja }} {% raw %}",
    "\x01\x1f",
)


@pytest.fixture
def hostile(
    make_source: Callable[..., Path], toy: Callable[..., dict[str, Any]], tmp_path: Path
) -> Path:
    """A converted folder whose texts are hard to write down: a pair for each."""
    rows = []
    for number, text in enumerate(HOSTILE):
        context = {"context_id": f"c{number}", "context": text, "inputs": {text: text, "q": text}}
        context["metadata"] = {"topic": text}
        rows.append(toy(f"a{number}", "heron", "good", **context, candidate=text))
        rows.append(toy(f"b{number}", "wren", "wrong", **context, candidate=f"{text}!"))
    folder = tmp_path / "hostile-nnd"
    convert(make_source(rows, expected=None), out=folder)
    return folder


def files(place: Path) -> dict[str, bytes]:
    """Everything at a place: a file, or those of a folder."""
    found = [place] if place.is_file() else sorted(p for p in place.rglob("*") if p.is_file())
    return {str(path.relative_to(place)): path.read_bytes() for path in found}


def lines(path: Path) -> list[dict[str, Any]]:
    text = path.read_text(encoding="utf-8")
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


# What is refused


def test_an_unknown_target_is_refused_with_those_there_are(sample: Path, tmp_path: Path) -> None:
    with refusal("option.unknown-value"):
        export(sample, tmp_path / "out", to="xml")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


@every_target
def test_a_folder_that_holds_no_pairs_is_refused(target: Target, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    with refusal("data.convert-again", "in"):
        export(tmp_path / "in", tmp_path / "out", to=target)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda pairs: pairs.drop("candidate_low"), "data.invalid"),
        (lambda pairs: pairs.with_columns(context=pl.lit(None, pl.String)), "data.invalid"),
        (lambda pairs: pairs.clear(), "data.no-pairs"),
    ],
    ids=["no column", "a null", "no rows"],
)
def test_pairs_that_break_the_contract_are_refused(
    change: Callable[[pl.DataFrame], pl.DataFrame], code: str, sample: Path, tmp_path: Path
) -> None:
    broken = shutil.copytree(sample, tmp_path / "in")
    store(broken, "pairs.parquet", change(read_parquet(broken / "pairs.parquet")))
    with refusal(code):
        export(broken, tmp_path / "out", to="jsonl")
    assert not (tmp_path / "out").exists()


def test_a_manifest_without_its_source_is_refused(sample: Path, tmp_path: Path) -> None:
    broken = shutil.copytree(sample, tmp_path / "in")
    write_manifest(broken, {})
    with refusal("data.invalid", "in: row 0"):
        export(broken, tmp_path / "out", to="trl")


@every_target
@pytest.mark.parametrize("kind", ["file", "folder", "empty folder", "dangling link"])
def test_what_is_there_already_is_left_alone(
    target: Target, kind: str, sample: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    if kind == "file":
        out.write_text("mine", encoding="utf-8")
    elif kind == "dangling link":
        out.symlink_to(tmp_path / "nowhere")
    else:
        out.mkdir()
    if kind == "folder":
        (out / "thesis.tex").write_text("mine", encoding="utf-8")
    before = files(out) if out.exists() else {}

    with refusal("place.exists", "out"):
        export(sample, out, to=target)

    assert os.path.lexists(out)
    assert (files(out) if out.exists() else {}) == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("target", ["trl", "lm-eval"])
def test_a_failure_half_way_leaves_nothing(target: Target, sample: Path, tmp_path: Path) -> None:
    def fail(*_: object) -> list[tuple[str, str]]:
        raise ValueError("half way")

    with pytest.raises(ValueError, match="half way"):
        export(sample, tmp_path / "out", to=target, rendering=PromptRendering("mine", " ", fail))
    assert list(tmp_path.iterdir()) == []


@every_target
def test_a_full_disk_leaves_nothing(
    target: Target, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "rename", full)  # the last step: everything is written by then
    with refusal("place.cannot-write", "out"):
        export(sample, tmp_path / "out", to=target)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("target", ["jsonl", "csv"])
def test_flat_forms_take_no_template(target: Target, sample: Path, tmp_path: Path) -> None:
    rendering = PromptRendering("mine", " ", lambda contexts, _: [(text, "") for text in contexts])
    with refusal("option.conflict"):
        export(sample, tmp_path / "out", to=target, rendering=rendering)


# What comes out


@every_target
def test_the_same_pairs_give_the_same_bytes(target: Target, sample: Path, tmp_path: Path) -> None:
    export(sample, tmp_path / "a", to=target)
    export(sample, tmp_path / "deep" / "b", to=target)
    assert files(tmp_path / "a") == files(tmp_path / "deep" / "b")


@every_target
def test_a_folder_as_it_lies_on_the_hub_gives_the_same(
    target: Target, sample: Path, tmp_path: Path
) -> None:
    published = tmp_path / "published" / sample.name
    (published / "pairs").mkdir(parents=True)
    shutil.copy(sample / "manifest.json", published)
    shutil.copy(sample / "pairs.parquet", published / "pairs" / "test-00000-of-00001.parquet")
    reseal(published)
    export(published, tmp_path / "a", to=target)
    export(sample, tmp_path / "b", to=target)
    assert files(tmp_path / "a") == files(tmp_path / "b")


def test_jsonl_holds_the_pairs_as_the_schema_has_them(sample: Path, tmp_path: Path) -> None:
    exported = export(sample, tmp_path / "pairs.jsonl", to="jsonl")
    found = lines(tmp_path / "pairs.jsonl")
    assert all(row["distinct"] for row in found)  # the sample has a pair for each test
    stored = rows_of(read_parquet(sample / "pairs.parquet"))
    assert found == [row | {"distinct": True} for row in stored]
    assert (exported.rows, exported.notes, len(found)) == (72, (), 72)
    assert list(found[0]) == [*polars_schema("pair").names(), "distinct"]
    assert isinstance(found[0]["inputs"], dict)


def test_jsonl_brings_every_text_back_in_any_script(hostile: Path, tmp_path: Path) -> None:
    export(hostile, tmp_path / "pairs.jsonl", to="jsonl")
    assert "א נב 🍰" in (tmp_path / "pairs.jsonl").read_text(encoding="utf-8")
    found = lines(tmp_path / "pairs.jsonl")  # cut at whatever Python takes for a line's end
    by_context = {row["context_id"]: row for row in found}
    assert len(found) == len(HOSTILE)
    for number, text in enumerate(HOSTILE):
        row = by_context[f"c{number}"]
        assert (row["context"], row["candidate_high"]) == (text, text)
        assert row["inputs"] == {text: text, "q": text}


def test_csv_brings_every_text_back(hostile: Path, tmp_path: Path) -> None:
    exported = export(hostile, tmp_path / "pairs.csv", to="csv")
    pairs = read_parquet(hostile / "pairs.parquet")
    with (tmp_path / "pairs.csv").open(encoding="utf-8", newline="") as file:
        by_python = list(csv.DictReader(file, strict=True))
    schema = {**polars_schema("pair"), "inputs": pl.String(), "metadata": pl.String()}
    schema["distinct"] = pl.Boolean()
    by_polars = pl.read_csv(tmp_path / "pairs.csv", schema=schema)

    assert exported.rows == len(by_python) == pairs.height == len(HOSTILE)
    for row, pair in zip(by_python, rows_of(pairs), strict=True):
        for name in ("inputs", "metadata"):
            assert json.loads(row.pop(name)) == pair.pop(name) != {}
        for name, value in pair.items():  # the reader has texts only, and no null
            assert row[name] == ("" if value is None else str(value))
    plain = pairs.drop("inputs", "metadata")
    # Nulls are nulls, and empty texts are not.
    assert by_polars.drop("inputs", "metadata", "distinct").equals(plain)
    assert plain.null_count().sum_horizontal().item() > 0


FORMULAS = ("=1+1", "+1", "-1", "@SUM(1)", "\t=1", " =HYPERLINK(1)", "\r-", "＝1")  # noqa: RUF001


@pytest.fixture
def formulas(
    make_source: Callable[..., Path], toy: Callable[..., dict[str, Any]], tmp_path: Path
) -> Path:
    """A converted folder with a pair for each text that a spreadsheet would compute."""
    rows = []
    for number, text in enumerate(FORMULAS):
        context = {"context_id": f"c{number}", "context": "Add.", "inputs": {"question": text}}
        rows.append(toy(f"a{number}", "heron", "good", **context, candidate=f"a {text}"))
        rows.append(toy(f"b{number}", "wren", "wrong", **context, candidate=text))
    folder = tmp_path / "formulas-nnd"
    convert(make_source(rows, expected=None), out=folder)
    return folder


def test_csv_says_what_a_spreadsheet_would_compute(formulas: Path, tmp_path: Path) -> None:
    exported = export(formulas, tmp_path / "pairs.csv", to="csv")

    found = pl.read_csv(tmp_path / "pairs.csv")["candidate_low"].to_list()
    assert sorted(found) == sorted(FORMULAS)
    (note,) = exported.notes
    assert note.startswith("texts that a spreadsheet would read as formulas: 8; --for-excel puts")


def test_csv_for_excel_has_no_formula(formulas: Path, tmp_path: Path) -> None:
    exported = export(formulas, tmp_path / "pairs.csv", to="csv", for_excel=True)

    found = pl.read_csv(tmp_path / "pairs.csv")
    assert sorted(found["candidate_low"]) == sorted(f"'{text}" for text in FORMULAS)
    assert sorted(found["candidate_high"]) == sorted(f"a {text}" for text in FORMULAS)
    assert exported.notes == (
        "texts that a spreadsheet would read as formulas: 8; each now has a quote ' before it",
    )


def test_csv_without_formulas_says_nothing(sample: Path, tmp_path: Path) -> None:
    plain = export(sample, tmp_path / "plain.csv", to="csv")
    quoted = export(sample, tmp_path / "quoted.csv", to="csv", for_excel=True)

    assert plain.notes == quoted.notes == ()
    assert (tmp_path / "plain.csv").read_bytes() == (tmp_path / "quoted.csv").read_bytes()


@pytest.mark.parametrize("target", ["trl", "lm-eval", "jsonl"])
def test_no_other_form_is_for_excel(target: Target, sample: Path, tmp_path: Path) -> None:
    with refusal("option.conflict"):
        export(sample, tmp_path / "out", to=target, for_excel=True)


@pytest.mark.parametrize("target", ["jsonl", "csv"])
def test_rows_keep_their_order(target: Target, sample: Path, tmp_path: Path) -> None:
    turned = shutil.copytree(sample, tmp_path / "in")
    pairs = read_parquet(sample / "pairs.parquet").reverse()
    store(turned, "pairs.parquet", pairs)
    export(turned, tmp_path / "out", to=target)
    found = pl.read_ndjson(tmp_path / "out") if target == "jsonl" else pl.read_csv(tmp_path / "out")
    assert found["pair_id"].to_list() == pairs["pair_id"].to_list()
