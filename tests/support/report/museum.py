"""What many tests read: made once by each worker and left as it is. Copy before you write."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest
from support.report.runs import MODELS, SYSTEMS, write_run
from support.stored_folders import rewrite, store

from nnd.converters.folder.conversion import convert


@contextmanager
def on_display(folder: Path) -> Iterator[Path]:
    """Yield a folder, and check that it is unchanged in the end."""
    before = _state(folder)
    yield folder
    assert _state(folder) == before, f"a test has written to {folder}"


def _state(folder: Path) -> dict[Path, tuple[int, int]]:
    found = {path: path.stat() for path in folder.rglob("*")}
    return {path: (status.st_mtime_ns, status.st_size) for path, status in found.items()}


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The sample, converted: 72 pairs of 14 contexts, and 5 systems."""
    folder = tmp_path_factory.mktemp("museum") / "sample-nnd"
    convert("sample", out=folder)
    with on_display(folder):
        yield folder


def _run_on(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("museum") / "run"
    with on_display(write_run(folder, data, MODELS, systems=SYSTEMS)):
        yield folder


@pytest.fixture(scope="session")
def sample_run(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A run on it of five models that never were, four of which stand for its systems."""
    yield from _run_on(sample, tmp_path_factory)


CATEGORIES = ("disfluent", "off_topic", "wrong_fact")


@pytest.fixture(scope="session")
def small(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The sample's tests of three categories, with their human scores: fewer panels to draw."""
    folder = tmp_path_factory.mktemp("museum") / "sample"
    shutil.copytree(sample, folder)
    of_categories = pl.col("error_category").is_in(CATEGORIES)
    store(folder, "pairs.parquet", pl.read_parquet(folder / "pairs.parquet").filter(of_categories))
    scores = pl.read_parquet(folder / "human_scores.parquet")
    kept = scores.filter(pl.col("category").is_in(["overall", *CATEGORIES]))
    store(folder, "human_scores.parquet", kept)
    with on_display(folder):
        yield folder


@pytest.fixture(scope="session")
def small_run(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A run of the same models on the small dataset."""
    yield from _run_on(small, tmp_path_factory)


@pytest.fixture(scope="session")
def other(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Another dataset: the small one with ids of its own."""
    folder = tmp_path_factory.mktemp("museum") / "other"
    shutil.copytree(small, folder)
    own = (pl.lit("ffff") + pl.col("pair_id").str.slice(4)).alias("pair_id")
    rewrite(folder, "pairs.parquet", own)
    with on_display(folder):
        yield folder


@pytest.fixture(scope="session")
def other_run(other: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A run on it of all models but the first."""
    systems = {model: system for model, system in SYSTEMS.items() if model != "zoo/ant"}
    folder = tmp_path_factory.mktemp("museum") / "other_run"
    with on_display(write_run(folder, other, MODELS[1:], systems=systems)):
        yield folder
