"""`nnd report`: a thin shell, whose words are those of the function it calls."""

import json
from pathlib import Path

import pytest
from support.refusals import refusal
from support.report.page import Page
from support.report.runs import Pretended, write_run
from typer.testing import CliRunner

from nnd.converters.folder.conversion import convert
from nnd.metric.cli.command import app


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A converted sample, and a run of two sizes on it."""
    folder = tmp_path_factory.mktemp("report")
    convert("sample", out=folder / "sample")
    models = [Pretended("small", {"": 0.5}, 10**7), Pretended("large", {"": 0.8}, 10**8)]
    write_run(folder / "run", folder / "sample", models)
    return folder


def test_every_option_reaches_the_page(folder: Path) -> None:
    done = CliRunner().invoke(
        app,
        [
            *("report", str(folder / "run"), "--out", str(folder / "a.html"), "--json"),
            *("--data", str(folder / "sample"), "--figures", str(folder / "figures")),
            *("--system", "small=dipper", "--system", "large=heron"),
            *("--family", "small=cats", "--family", "large=cats"),
        ],
        catch_exceptions=False,
    )
    told = json.loads(done.stdout)
    assert told["page"] == str(folder / "a.html")
    assert told["bytes"] == (folder / "a.html").stat().st_size
    assert sorted(told["figures"]) == sorted(str(each) for each in (folder / "figures").iterdir())
    page = Page(folder / "a.html")
    assert page.pairs["texts"]
    assert {row["family"] for row in page.numbers["scaling"]} == {"cats"}
    assert {row["model"] for row in page.numbers["agreement"]} == {"small", "large"}


def test_people_are_told_what_was_written(folder: Path) -> None:
    out = folder / "b.html"
    done = CliRunner().invoke(app, ["report", str(folder / "run"), "--out", str(out)])
    size = f"{out.stat().st_size / 1e6:.1f} MB"
    assert done.stdout == f"The report of large, small is in {out} ({size}).\n"


def test_a_family_without_a_name(folder: Path) -> None:
    with refusal("option.bad-value", '--family "small"'):
        CliRunner().invoke(
            app, ["report", str(folder / "run"), "--family", "small"], catch_exceptions=False
        )
