"""A run on the embedded sample, which reports are made of."""

import shutil
from pathlib import Path

import polars as pl
import pytest
from support.report.runs import MODELS, SYSTEMS, write_run

from nnd.converters.folder.conversion import convert


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The embedded sample, converted."""
    out = tmp_path_factory.mktemp("data") / "sample"
    convert("sample", out=out)
    return out


@pytest.fixture(scope="session")
def other(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another dataset: the sample with ids of its own."""
    out = tmp_path_factory.mktemp("other") / "other"
    shutil.copytree(sample, out)
    pairs = pl.read_parquet(out / "pairs.parquet")
    own = pairs.with_columns(pair_id="f" * 4 + pl.col("pair_id").str.slice(4))
    own.write_parquet(out / "pairs.parquet")
    return out


@pytest.fixture(scope="session")
def other_run(other: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on it of all models but the first."""
    systems = {model: system for model, system in SYSTEMS.items() if model != "zoo/ant"}
    out = tmp_path_factory.mktemp("runs") / "other_run"
    return write_run(out, other, MODELS[1:], systems=systems)


@pytest.fixture(scope="session")
def run(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of five models on the sample, four of which stand for judged systems."""
    return write_run(tmp_path_factory.mktemp("runs") / "run", sample, MODELS, systems=SYSTEMS)


@pytest.fixture(scope="session")
def two(run: Path, other_run: Path, sample: Path, other: Path) -> list[tuple[Path, Path]]:
    """Runs, each with its dataset."""
    return [(run, sample), (other_run, other)]
