"""A run on the embedded sample, which reports are made of."""

from pathlib import Path

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
def run(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of five models on the sample, four of which stand for judged systems."""
    return write_run(tmp_path_factory.mktemp("runs") / "run", sample, MODELS, systems=SYSTEMS)
