"""A run on the embedded sample, which reports are made of."""

import shutil
from pathlib import Path

import polars as pl
import pytest
from support.report.page import Page
from support.report.runs import FAMILIES, MODELS, SYSTEMS, write_run
from support.stored_folders import rewrite, store

from nnd.converters.folder.conversion import convert
from nnd.metric.show.reports.page.report import report

CATEGORIES = ("disfluent", "off_topic", "wrong_fact")


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The embedded sample, converted."""
    out = tmp_path_factory.mktemp("data") / "sample"
    convert("sample", out=out)
    return out


@pytest.fixture(scope="session")
def small(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample's tests of three categories, with their human scores: fewer panels to draw."""
    out = tmp_path_factory.mktemp("small") / "sample"
    shutil.copytree(sample, out)
    pairs, scores = (pl.read_parquet(out / f"{name}.parquet") for name in ("pairs", "human_scores"))
    store(out, "pairs.parquet", pairs.filter(pl.col("error_category").is_in(CATEGORIES)))
    kept = scores.filter(pl.col("category").is_in(["overall", *CATEGORIES]))
    store(out, "human_scores.parquet", kept)
    return out


@pytest.fixture(scope="session")
def other(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another dataset: the small one with ids of its own."""
    out = tmp_path_factory.mktemp("other") / "other"
    shutil.copytree(small, out)
    rewrite(
        out, "pairs.parquet", (pl.lit("ffff") + pl.col("pair_id").str.slice(4)).alias("pair_id")
    )
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
def page_file(run: Path, sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its report."""
    out = tmp_path_factory.mktemp("page") / "report.html"
    report(run, out, data=sample, families=FAMILIES)
    return out


@pytest.fixture(scope="session")
def page(page_file: Path) -> Page:
    """What the report holds."""
    return Page(page_file)


@pytest.fixture(scope="session")
def small_run(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the same models on the small dataset."""
    return write_run(tmp_path_factory.mktemp("runs") / "run", small, MODELS, systems=SYSTEMS)


@pytest.fixture(scope="session")
def two(small_run: Path, other_run: Path, small: Path, other: Path) -> list[tuple[Path, Path]]:
    """Runs, each with its dataset."""
    return [(small_run, small), (other_run, other)]
