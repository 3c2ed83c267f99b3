"""Without the libraries of the extras: what needs none works, the rest says what to install."""

import subprocess
import sys
from pathlib import Path

import pytest
from support.metric_runs import write_pairs
from support.report.runs import MODELS, write_run

from nnd.converters.folder import convert

BLOCKED = ["matplotlib", "sacrebleu", "rouge_score", "bert_score", "peft", "ray"]
"""A module that is None in sys.modules cannot be imported, like one that is not installed."""


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("extras")
    (folder / "data").mkdir()
    write_run(folder / "run", write_pairs(folder / "data"), MODELS[:2])
    convert("sample", out=folder / "sample-nnd")
    return folder


def python(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    before = f"import sys; sys.modules.update(dict.fromkeys({BLOCKED}))\n"
    command = [sys.executable, "-c", before + program]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def nnd(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    program = f"sys.argv = {['nnd', *words]}\nfrom near_negative import main; main()"
    return python(folder, program)


@pytest.mark.parametrize(
    "command",
    [
        "convert sample --out converted",
        "check sample",
        "compare run",
        "slice run --data data --by error_category",
        "export sample-nnd --to trl --out preferences",
    ],
)
def test_converting_and_reading_results_need_no_extra(here: Path, command: str) -> None:
    done = nnd(here, *command.split())

    assert (done.returncode, "pip install" in done.stdout) == (0, False), done.stderr


@pytest.mark.parametrize(
    ("command", "needed", "extra"),
    [
        ("report run --data data --out page.html", "matplotlib", "report"),
        ("metrics --data sample-nnd --scorer bleu", "sacrebleu", "metrics"),
        ("metrics --data sample-nnd --scorer rouge1", "rouge-score", "metrics"),
        ("slice run --data data --by length:tokens", "sacrebleu", "metrics"),
        ("evaluate --model m --data data --ray --out ray", "ray", "ray"),
    ],
)
def test_what_needs_an_extra_names_it_and_writes_nothing(
    here: Path, command: str, needed: str, extra: str
) -> None:
    before = sorted(here.rglob("*"))

    done = nnd(here, *command.split())

    assert done.returncode == 2, done.stderr
    assert needed in done.stderr
    assert done.stderr.endswith(f"pip install 'near-negative[{extra}]'\n")
    assert len(done.stderr.splitlines()) == 1
    assert sorted(here.rglob("*")) == before


def test_a_notebook_shows_the_table_without_the_figure(here: Path) -> None:
    done = python(here, "import nnd; print(nnd.compare('run')._repr_html_())")

    assert "<table>" in done.stdout
    assert "<svg" not in done.stdout
