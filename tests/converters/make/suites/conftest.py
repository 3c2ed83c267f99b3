"""The embedded sample, converted once, and definitions of suites of it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from nnd.converters.folder import convert


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("suites") / "sample"
    convert("sample", out=out)
    return out


@pytest.fixture
def define(tmp_path: Path) -> Callable[..., Path]:
    """`define({"op": "punctuation"}, …)`: a file that defines these sets of the sample."""

    def write(*sets: Any, **facts: Any) -> Path:
        path = tmp_path / "suite.yaml"
        found = {"source": "sample", "seed": 1, "sets": [*sets]} | facts
        path.write_text(yaml.safe_dump(found), encoding="utf-8")
        return path

    return write
