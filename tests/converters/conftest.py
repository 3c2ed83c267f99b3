"""Small sources and annotation frames for the tests of this room."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from support.card_folders import CODE, PLAIN, ROWS, row
from support.hub.fixtures import ask, hub, publisher, served

from nnd.converters.folder.conversion import Conversion, convert
from nnd.schemas import polars_schema

__all__ = ["ask", "hub", "publisher", "served"]

TOY_FACTS: dict[str, Any] = PLAIN | {
    "name": "toy",
    "pretty_name": "Toy",
    "citation": "@misc{toy}",
    "homepage": None,
    "files": [{"name": "toy.jsonl", "url": None, "sha256": None, "bytes": None}],
    "expected": {
        "annotations": 3,
        "contexts": 1,
        "systems": 3,
        "pairs": 2,
        "by_error_category": {"rude": 1, "wrong": 1},
    },
}

# Every line of the toy file is one annotation, spelled out, so that a test can write any.
TOY_CODE = CODE.replace("birds.jsonl", "toy.jsonl")


@pytest.fixture
def toy() -> Callable[..., dict[str, Any]]:
    """`toy("a", "heron", "good", score=1)`: a line of the toy file, of the context `c1`."""
    return row


@pytest.fixture
def make_source(tmp_path: Path) -> Callable[..., Path]:
    """`make_source(rows, code=…, **facts)`: a source folder; by default three rows, two pairs.

    With `declared` its file is the one that source.yaml declares.
    """

    def make(
        rows: Iterable[Mapping[str, Any]] | None = None,
        *,
        code: str = TOY_CODE,
        folder: str = "toy_source",
        declared: bool = False,
        **facts: Any,
    ) -> Path:
        made = tmp_path / folder
        made.mkdir()
        (made / "convert.py").write_text(code, encoding="utf-8")
        lines = "".join(json.dumps(each) + "\n" for each in (ROWS if rows is None else rows))
        (made / "toy.jsonl").write_text(lines, encoding="utf-8")
        if declared:
            raw = lines.encode()
            digest = hashlib.sha256(raw).hexdigest()
            file = {"name": "toy.jsonl", "url": None, "sha256": digest, "bytes": len(raw)}
            facts = {"files": [file], **facts}
        (made / "source.yaml").write_text(yaml.safe_dump(TOY_FACTS | facts), encoding="utf-8")
        return made

    return make


@pytest.fixture
def annotated() -> Callable[..., pl.DataFrame]:
    """`annotated("label", ("a", "good"), ("b", "wrong"), aspect=…)`: an annotation frame."""

    def make(column: str, *marks: tuple[str, Any], **common: Any) -> pl.DataFrame:
        rows = [
            {
                "source": "toy",
                "split": "test",
                "language": "en",
                "context_id": "c1",
                "context": "Who sings?",
                "inputs": [{"key": "question", "value": "Who sings?"}],
                "category": None,
                "candidate_id": name,
                "candidate": f"text of {name}",
                "system": "heron",
                "aspect": "answer",
                "label": None,
                "score": None,
                "ratings": None,
                "group": None,
                "metadata": [],
            }
            | common
            | {column: value}
            for name, value in marks
        ]
        return pl.DataFrame(rows, polars_schema("annotation"), orient="row")

    return make


@pytest.fixture(scope="session")
def quiz_design(nnd_data: Path) -> Conversion:
    """Quiz Design, converted once for all tests: leave it as it is."""
    return convert("quiz_design", origin=nnd_data / "quiz_design")


@pytest.fixture(scope="session")
def challenge300(nnd_data: Path) -> Conversion:
    """Challenge 300 (the newest file), converted once for all tests: leave it as it is."""
    return convert("challenge300", origin=nnd_data / "challenge300")
