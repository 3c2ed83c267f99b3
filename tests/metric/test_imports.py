"""What a part of the metric does not need is not imported for it."""

import subprocess
import sys
from pathlib import Path

import pytest
from support.metric_runs import write_pairs
from support.report.runs import MODELS, write_run

MODEL_LIBRARIES = {"torch", "transformers", "datasets", "evaluate", "huggingface_hub"}
SLOW = MODEL_LIBRARIES | {"jsonschema", "nltk", "pandas", "sacrebleu", "scipy"}


def loaded_by(program: str, *arguments: object) -> set[str]:
    """Return the names of all modules that are loaded when a program has run."""
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys; print('\\n', *sys.modules)", *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    ("program", "unneeded"),
    [
        ("from nnd.metric.report import report", SLOW),
        ("from nnd.metric.training import curve", SLOW),
        ("from nnd.metric.agreement import agree", SLOW | {"matplotlib"}),
        ("from nnd.metric.comparison import compare", SLOW | {"matplotlib"}),
        ("from nnd.metric.slices import slice_names, slice_runs", SLOW | {"matplotlib"}),
        ("from nnd.metric.data import load_pairs", SLOW | {"matplotlib"}),
        ("from nnd.metric.results import score_pairs", SLOW | {"matplotlib"}),
        ("from nnd.metric.engine import Scoring", SLOW | {"matplotlib", "polars"}),
        ("from nnd.metric.encoding import find_template, render", SLOW | {"matplotlib", "polars"}),
        # transformers imports scipy and huggingface_hub, whoever asks for a model.
        ("from nnd.metric import evaluate", SLOW - MODEL_LIBRARIES - {"scipy"} | {"matplotlib"}),
    ],
    ids=lambda value: value.split()[-1] if isinstance(value, str) else None,
)
def test_what_is_not_needed_is_not_imported(program: str, unneeded: set[str]) -> None:
    assert sorted(loaded_by(program) & unneeded) == []


def test_stored_runs_are_judged_without_the_libraries_of_models(tmp_path: Path) -> None:
    data = write_pairs(tmp_path)
    run = write_run(tmp_path / "run", data, MODELS[:2])
    program = """
import sys
from nnd.metric.comparison import compare
from nnd.metric.report import report
from nnd.metric.slices import slice_runs
_, run, data, page = sys.argv
compare(run)
slice_runs(run, data, find=True)
report(run, page, data=data)
"""

    found = loaded_by(program, run, data, tmp_path / "page.html")

    assert (tmp_path / "page.html").is_file()
    assert sorted(found & (MODEL_LIBRARIES | {"pandas"})) == []
