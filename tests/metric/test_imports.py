"""What a part of the metric does not need is not imported for it."""

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.metric_runs import write_pairs
from support.report.runs import MODELS, write_run

from nnd.metric.run import evaluate

if TYPE_CHECKING:
    from collections.abc import Callable

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
    ("names", "unneeded"),
    [
        (["show.report", "train.curve"], SLOW),
        (
            [
                "numbers.agree",
                "numbers.compare",
                "data.load_pairs",
                "run.score_pairs",
                "numbers.slice_names",
                "numbers.slice_runs",
            ],
            SLOW | {"matplotlib"},
        ),
        (
            ["likelihood.Scoring", "text.find_template", "text.render"],
            SLOW | {"matplotlib", "polars"},
        ),
        pytest.param(
            ["evaluate"],
            # transformers imports scipy and huggingface_hub, whoever asks for a model.
            SLOW - MODEL_LIBRARIES - {"scipy"} | {"matplotlib"},
            marks=pytest.mark.full,
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_what_is_not_needed_is_not_imported(names: list[str], unneeded: set[str]) -> None:
    places = [f"nnd.metric.{name}".rpartition(".") for name in names]
    program = "\n".join(f"from {module} import {name}" for module, _, name in places)
    assert sorted(loaded_by(program) & unneeded) == []


def test_stored_runs_are_judged_without_the_libraries_of_models(tmp_path: Path) -> None:
    data = write_pairs(tmp_path)
    run = write_run(tmp_path / "run", data, MODELS[:2])
    program = """
import sys
from nnd.metric.numbers import compare
from nnd.metric.show import report
from nnd.metric.numbers import slice_runs
_, run, data, page = sys.argv
compare(run)
slice_runs(run, data, find=True)
report(run, page, data=data)
"""

    found = loaded_by(program, run, data, tmp_path / "page.html")

    assert (tmp_path / "page.html").is_file()
    assert sorted(found & (MODEL_LIBRARIES | {"pandas"})) == []


def test_parts_are_merged_and_a_stored_run_is_told_again_without_the_libraries_of_models(
    saved: "Callable[[str], Path]", tmp_path: Path
) -> None:
    model, data = saved("gpt2"), write_pairs(tmp_path)
    evaluate(model, data)
    evaluate(model, data, out=tmp_path / "parts", worker=(1, 1))
    program = """
import contextlib, sys
from nnd.metric.cli.command import main
from nnd.metric.run import merge
merge(sys.argv.pop())
with contextlib.suppress(SystemExit):
    main()
"""

    asked = ["evaluate", "--model", model, "--data", data, "--out", tmp_path / "run", "--details"]
    found = loaded_by(program, *asked, tmp_path / "parts")

    assert (tmp_path / "parts" / "result.json").is_file()
    assert (tmp_path / "run" / "result.json").is_file()
    assert sorted(found & (SLOW - {"scipy"})) == []
