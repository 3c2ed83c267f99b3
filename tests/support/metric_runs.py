"""What the tests of the `evaluate` module and of its installation share: data and processes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl

from nnd.schemas import polars_schema

LOADER = Path(__file__).with_name("load_metric.py")

NOT_INSTALLED = (
    "the metric needs the package near-negative, which is not installed here: "
    "pip install near-negative (from a clone: pip install .)"
)

CONTEXTS = ["The cat sat on the mat.", "Tesla moved to New York.", "Who wrote the book?", "Paris"]
TEXTS = [  # context, better candidate, worse candidate, error category
    (0, "Who sat on the mat?", "Where is the river?", "off_target"),
    (0, "Who sat on the mat?", "the the the", "disfluent"),
    (0, "Where did the cat sit?", "Where is the river?", "off_target"),
    (1, "When did he move?", "he he he when", "disfluent"),
    (1, "Who moved to New York?", "What is the capital of France?", "off_target"),
    (2, "Nobody in the town.", "The dog ran over the hill.", "off_target"),
    (2, "Nobody in the town.", "in in town", "disfluent"),
    (3, "What is the capital of France?", "capital what the is", "disfluent"),
]
SYSTEMS = ["left", "right"]


def pair_rows() -> pl.DataFrame:
    """Eight pairs with every column of the contract, as `nnd convert` writes them."""
    rows = [
        {
            "pair_id": f"{number:016x}",
            "source": "made_up",
            "split": "test",
            "language": "en",
            "context_id": str(context),
            "context": CONTEXTS[context],
            "inputs": [{"key": "paragraph", "value": CONTEXTS[context]}],
            "category": ["animals", "people"][context % 2],
            "aspect": "question",
            "candidate_high": high,
            "candidate_low": low,
            "high_id": f"{context}/{high}",
            "low_id": f"{context}/{low}",
            "system_high": "left",
            "system_low": "right",
            "label_high": "No error",
            "error_category": error,
            "origin": "human",
        }
        for number, (context, high, low, error) in enumerate(TEXTS)
    ]
    return pl.DataFrame(rows, polars_schema("pair"))


def many_pairs(copies: int) -> pl.DataFrame:
    """The pairs several times, each time with other contexts: four in eight pairs."""
    columns = ("pair_id", "context_id", "context")
    return pl.concat(
        pair_rows().with_columns(pl.concat_str(column, pl.lit(f" {number}")) for column in columns)
        for number in range(copies)
    )


def human_scores() -> pl.DataFrame:
    """Scores of two systems, overall and per error category."""
    rows = [
        {
            "source": "made_up",
            "system": system,
            "aspect": "question",
            "category": category,
            "score": score,
            "n": 8,
            "definition": "invented",
        }
        for category, scores in {
            "overall": (0.25, 0.75),
            "off_target": (0.75, 0.5),
            "disfluent": (0.5, 1.0),
        }.items()
        for system, score in zip(SYSTEMS, scores, strict=True)
    ]
    return pl.DataFrame(rows, polars_schema("human_score"))


def write_pairs(folder: Path, rows: pl.DataFrame | None = None) -> Path:
    """Write what the metric reads of a converted folder, by default with the eight pairs."""
    folder.mkdir(exist_ok=True)
    rows = pair_rows() if rows is None else rows
    rows.write_parquet(folder / "pairs.parquet", row_group_size=7)
    human_scores().write_parquet(folder / "human_scores.parquet")
    return folder


def save_model(name: str, folder: Path) -> str:
    """Save a tiny model with its tokenizer; return its folder, as a user names it."""
    from support.tiny_models import build  # noqa: PLC0415 - loads torch

    target = folder / name
    family = build(name, folder)
    family.model.save_pretrained(target)
    family.tokenizer.save_pretrained(target)
    return str(target)


def load_plan(
    path: str | Path,
    calls: list[dict[str, Any]],
    *,
    folder: Path,
    first: Path | None = None,
    without_package: bool = False,
) -> dict[str, Any]:
    """Say what `load_metric.py` loads and computes.

    Args:
        path: What to load.
        calls: Arguments of each call of compute.
        folder: Where the process runs.
        first: Folder whose modules go before those that are installed.
        without_package: Whether the package nnd is hidden from it.
    """
    return {
        "path": str(path),
        "calls": calls,
        "folder": str(folder),
        "first": None if first is None else str(first),
        "without_package": without_package,
    }


def load_in_processes(plans: list[dict[str, Any]], *, home: Path) -> list[dict[str, Any]]:
    """Run evaluate.load and compute offline, each plan in a process of its own.

    Args:
        plans: What `load_plan` returns.
        home: The HF_HOME of all.

    Returns:
        What `load_metric.py` prints.
    """
    printed = run_python([str(LOADER)], folder=home.parent, home=home, text=json.dumps(plans))
    found: list[dict[str, Any]] = json.loads(printed)
    return found


def run_python(arguments: list[str], *, folder: Path, home: Path, text: str = "") -> str:
    """Run Python offline with an HF_HOME and nothing else of Hugging Face's set; return stdout.

    The store of likelihoods is a new one, too.
    """
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    offline = {"HF_EVALUATE_OFFLINE": "1", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    finished = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**inherited, **offline, "HF_HOME": str(home), "NND_CACHE": str(home / "nnd")},
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout
