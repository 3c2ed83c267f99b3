"""Every JSON and Parquet file that nnd writes keeps its schema, as another validator reads it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import polars as pl
import pytest
from support.places import SOURCES
from support.second_validator import problems
from support.training.histories import entry, write

from nnd.converters.hub.release_folder import read_release, write_release
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.numbers import agree, compare
from nnd.metric.other_metrics.on_datasets import metrics
from nnd.metric.run import evaluate
from nnd.schemas import SchemaName, load_yaml, rows_of

FRAMES: dict[str, SchemaName] = {
    "pairs": "pair",
    "human_scores": "human_score",
    "annotations": "annotation",
}


@pytest.fixture(scope="module")
def stand_for(sample: Path) -> dict[str, str]:
    """Two models, and the systems of the sample that they stand for."""
    systems = pl.read_parquet(sample / "human_scores.parquet")["system"].unique().sort()
    return {"gpt2": systems[0], "bart": systems[1]}


@pytest.fixture(scope="module")
def run(
    sample: Path,
    loaded: Callable[[str], LoadedModel],
    stand_for: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    folder = tmp_path_factory.mktemp("run")
    evaluate([loaded(name) for name in stand_for], sample, systems=stand_for).write(folder)
    return folder


def read(path: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return told


def test_a_converted_folder(sample: Path) -> None:
    assert problems("manifest", [read(sample / "manifest.json")]) == []
    for name, schema in FRAMES.items():
        rows = pl.read_parquet(sample / f"{name}.parquet")
        assert rows.height
        assert problems(schema, rows_of(rows)) == []


def test_a_published_folder(sample: Path, tmp_path: Path) -> None:
    conversion = read_release(sample, permission="asked the owners", keep_contacts="none are there")
    written = write_release(conversion, tmp_path, "org/sample")

    assert problems("manifest", [read(written["manifest.json"])]) == []


@pytest.mark.parametrize("path", sorted(SOURCES.glob("*/source.yaml")), ids=lambda p: p.parent.name)
def test_a_source(path: Path) -> None:
    assert problems("source", [load_yaml(path.read_text(encoding="utf-8"))]) == []


def test_a_run(run: Path) -> None:
    told = read(run / "result.json")

    assert told["agreement"] is not None
    assert problems("result", [told]) == []


def test_an_agreement(run: Path, sample: Path, stand_for: dict[str, str]) -> None:
    assert problems("agreement", [agree(run, sample, systems=stand_for).to_dict()]) == []


def test_comparisons(run: Path) -> None:
    found = compare(run).to_dict()["comparisons"]

    assert found
    assert problems("comparison", found) == []


@pytest.mark.parametrize("over", ["shared", "all"])
def test_metrics(
    run: Path, sample: Path, stand_for: dict[str, str], over: Any, tmp_path: Path
) -> None:
    scorers = ["length", "overlap"]
    metrics(run, data=sample, scorers=scorers, systems=stand_for, over=over, out=tmp_path)

    told = read(tmp_path / "metrics.json")
    assert [row["kind"] for row in told["rows"]] == [*["scorer"] * 2, *["model"] * 2, "nnd"]
    assert problems("metrics", [told]) == []


def test_a_history(tmp_path: Path) -> None:
    entries = [entry(1, rude=0.25), entry(2, None, rude=None)]
    lines = write(tmp_path / "nnd_history.jsonl", entries).read_text(encoding="utf-8").splitlines()

    assert problems("history", map(json.loads, lines)) == []


@pytest.mark.parametrize("name", get_args(SchemaName))
def test_it_refuses_what_is_none(name: SchemaName) -> None:
    # Or a validator that finds nothing would pass all of the above.
    assert problems(name, [{"strange": 1}]) != []


@pytest.mark.parametrize("tag", ["en\n", "en ", "e", "", "en-"])
def test_both_validators_read_patterns_alike(tag: str, sample: Path) -> None:
    row = next(rows_of(pl.read_parquet(sample / "annotations.parquet")))

    (problem,) = problems("annotation", [row | {"language": tag}])
    assert problem.startswith("language: ")
