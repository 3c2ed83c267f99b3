"""Definitions of suites of the sample."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml


@pytest.fixture
def define(tmp_path: Path) -> Callable[..., Path]:
    """`define({"op": "punctuation"}, …)`: a file that defines these sets of the sample."""

    def write(*sets: Any, **facts: Any) -> Path:
        path = tmp_path / "suite.yaml"
        found = {"source": "sample", "seed": 1, "sets": [*sets]} | facts
        path.write_text(yaml.safe_dump(found), encoding="utf-8")
        return path

    return write
