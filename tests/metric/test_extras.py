"""Without the libraries of the extras: what needs none works, the rest says what to install."""

import subprocess
import sys
from pathlib import Path

import pytest
from support.metric_runs import write_pairs
from support.report.runs import MODELS, write_run
from support.screens.commands import RanApart, run_apart

BLOCKED = ["matplotlib", "sacrebleu", "rouge_score", "bert_score", "peft", "ray"]

ENOUGH = [
    "convert sample --out converted",
    "check sample",
    "compare run",
    "slice run --data data --by error_category",
    "export SAMPLE --to trl --out preferences",
]
# Command, what it needs, the extra that has it.
LACKING = [
    ("report run --data data --out page.html", "matplotlib", "report"),
    ("metrics --data SAMPLE --scorer bleu", "sacrebleu", "metrics"),
    ("metrics --data SAMPLE --scorer rouge1", "rouge-score", "metrics"),
    ("slice run --data data --by length:tokens", "sacrebleu", "metrics"),
    ("evaluate --model m --data data --ray --out ray", "ray", "ray"),
]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("extras")
    (folder / "data").mkdir()
    write_run(folder / "run", write_pairs(folder / "data"), MODELS[:2])
    return folder


@pytest.fixture(scope="module")
def runs(here: Path, sample: Path) -> dict[str, RanApart]:
    """What became of each of those commands; of those that lack something nothing is left."""
    lines = [*(line for line, *_ in LACKING), *ENOUGH]
    commands = [line.replace("SAMPLE", str(sample)).split() for line in lines]
    before = sorted(here.rglob("*"))
    found = run_apart(*commands[: len(LACKING)], folder=here, missing=BLOCKED)
    assert sorted(here.rglob("*")) == before
    found += run_apart(*commands[len(LACKING) :], folder=here, missing=BLOCKED)
    return dict(zip(lines, found, strict=True))


@pytest.mark.parametrize("line", ENOUGH)
def test_converting_and_reading_results_need_no_extra(runs: dict[str, RanApart], line: str) -> None:
    assert (runs[line].code, "pip install" in runs[line].out) == (0, False), runs[line].err


@pytest.mark.parametrize(("line", "needed", "extra"), LACKING)
def test_what_needs_an_extra_names_it_and_writes_nothing(
    runs: dict[str, RanApart], line: str, needed: str, extra: str
) -> None:
    code, _, err, _ = runs[line]
    assert (code, len(err.splitlines())) == (2, 1), err
    assert needed in err
    assert err.endswith(f"pip install 'near-negative[{extra}]'\n")


def test_a_notebook_shows_the_table_without_the_figure(here: Path) -> None:
    program = f"import sys; sys.modules.update(dict.fromkeys({BLOCKED}))\n"
    program += "import nnd; print(nnd.compare('run')._repr_html_())"
    shown = subprocess.run(
        [sys.executable, "-c", program], cwd=here, capture_output=True, text=True, check=True
    ).stdout

    assert "<table>" in shown
    assert "<svg" not in shown
