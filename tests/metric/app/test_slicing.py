"""`nnd slice`: what it prints, and a slice as a dataset."""

import json
from pathlib import Path

import pytest
from support.refusals import refusal
from support.report.runs import MODELS, write_run
from typer.testing import CliRunner

import nnd
from nnd.converters.folder import convert, validate
from nnd.metric.cli.command import app
from nnd.schemas import check_rows


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "sample"
    convert("sample", out=folder)
    return folder


@pytest.fixture(scope="module")
def run(data: Path) -> Path:
    return write_run(data.parent / "run", data, MODELS[:2])


def test_machines_get_json_that_keeps_the_schema(run: Path, data: Path) -> None:
    by = ["--by", "length:words=0,20,40,novelty", "--where", "length > 100", "--data", str(data)]
    told = CliRunner().invoke(app, ["slice", str(run), *by, "--json"], catch_exceptions=False)
    found = json.loads(told.stdout)
    assert [*check_rows("slices", [found])] == []
    assert found == nnd.slice(run, data, by=by[1], where=by[3]).to_dict()


def test_a_slice_is_written_as_a_dataset(run: Path, data: Path, tmp_path: Path) -> None:
    by = ["--by", "error_category", "--data", str(data)]
    name = "error_category=wrong_fact"
    out = ["--slice", name, "--out", str(tmp_path / "slice")]
    told = CliRunner().invoke(app, ["slice", str(run), *by, *out], catch_exceptions=False)
    assert told.stdout.endswith(f"written to {tmp_path / 'slice'}\n")
    assert validate(tmp_path / "slice").ok
    pairs = nnd.load_pairs(tmp_path / "slice").pairs
    assert pairs["error_category"].unique().to_list() == ["wrong_fact"]


def test_what_cannot_be_written_is_one_clear_error(run: Path, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "slice"
    with refusal("option.needs-another", "slice"):
        nnd.slice(run, data, by="error_category", out=out)
    with refusal("option.needs-another", "slice"):
        nnd.slice(run, by="aspect", names="aspect=question", out=out)
    assert not out.exists()
