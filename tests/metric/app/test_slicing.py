"""`nnd slice`: what it prints, and a slice as a dataset."""

import json
from pathlib import Path

from support.refusals import refusal
from typer.testing import CliRunner

import nnd
from nnd.converters.folder import validate
from nnd.metric.cli.command import app
from nnd.schemas import check_rows


def test_machines_get_json_that_keeps_the_schema(sample_run: Path, sample: Path) -> None:
    by = ["--by", "length:words=0,20,40,novelty", "--where", "length > 100", "--data", str(sample)]
    told = CliRunner().invoke(
        app, ["slice", str(sample_run), *by, "--json"], catch_exceptions=False
    )
    found = json.loads(told.stdout)
    assert [*check_rows("slices", [found])] == []
    assert found == nnd.slice(sample_run, sample, by=by[1], where=by[3]).to_dict()


def test_a_slice_is_written_as_a_dataset(sample_run: Path, sample: Path, tmp_path: Path) -> None:
    by = ["--by", "error_category", "--data", str(sample)]
    name = "error_category=wrong_fact"
    out = ["--slice", name, "--out", str(tmp_path / "slice")]
    told = CliRunner().invoke(app, ["slice", str(sample_run), *by, *out], catch_exceptions=False)
    assert told.stdout.endswith(f"written to {tmp_path / 'slice'}\n")
    assert validate(tmp_path / "slice").ok
    pairs = nnd.load_pairs(tmp_path / "slice").pairs
    assert pairs["error_category"].unique().to_list() == ["wrong_fact"]


def test_what_cannot_be_written_is_one_clear_error(
    sample_run: Path, sample: Path, tmp_path: Path
) -> None:
    out = tmp_path / "slice"
    with refusal("option.needs-another", "slice"):
        nnd.slice(sample_run, sample, by="error_category", out=out)
    with refusal("option.needs-another", "slice"):
        nnd.slice(sample_run, by="aspect", names="aspect=question", out=out)
    assert not out.exists()
