"""RAGTruth, by its documented schema: quality, types of spans, and the join of its two files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nnd.converters.folder.conversion import convert

Write = Callable[..., Path]


def response(key: str, model: str, *kinds: str, **fields: Any) -> dict[str, Any]:
    """A response of source 7 with a span of each kind."""
    spans = [{"start": 0, "end": 1, "text": "T", "label_type": kind} for kind in kinds]
    return {
        "id": key,
        "source_id": "7",
        "model": model,
        "labels": spans,
        "split": "test",
        "quality": "good",
        "response": f"Text of {model}.",
    } | fields


SOURCE = {"source_id": "7", "task_type": "QA", "source": "MARCO", "prompt": "Who sings?"}
GOOD, BAD = response("1", "gpt-4-0613"), response("2", "llama-2-7b-chat", "Evident Conflict")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """`write(response, …, sources=[…])`: both files in a folder."""

    def make(*responses: dict[str, Any], sources: list[dict[str, Any]] | None = None) -> Path:
        files = {"response.jsonl": responses, "source_info.jsonl": sources or [SOURCE]}
        for name, rows in files.items():
            (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        return tmp_path

    return make


def test_a_pair_per_type_of_span(write: Write) -> None:
    twice = response(
        "3", "gpt-3.5-turbo-0613", "Subtle Conflict", "Evident Conflict", "Subtle Conflict"
    )

    pairs = convert("ragtruth", origin=write(GOOD, BAD, twice), accept_changed="a test").pairs

    assert pairs.select("high_id", "low_id", "error_category", "error_group").rows() == [
        ("1", "2", "Evident Conflict", "conflict"),
        ("1", "3", "Evident Conflict", "conflict"),
        ("1", "3", "Subtle Conflict", "conflict"),
    ]
    assert pairs["metadata"].to_list()[0] == [{"key": "source", "value": "MARCO"}]


@pytest.mark.parametrize("quality", ["truncated", "incorrect_refusal"])
def test_responses_that_are_not_good_are_left_out_and_counted(write: Write, quality: str) -> None:
    other = response("3", "llama-2-13b-chat", quality=quality)

    found = convert("ragtruth", origin=write(GOOD, BAD, other), accept_changed="a test")

    assert found.pairs["high_id"].to_list() == ["1"]
    assert found.manifest["oddities"] == ["response.jsonl: rows left out by `where`: 1"]


def test_another_model_is_let_in(write: Write) -> None:
    origin = write(GOOD, BAD, response("3", "heron-1b", "Subtle Conflict"))
    found = convert("ragtruth", origin=origin, accept_changed="a test")

    assert "heron-1b" in found.human_scores["system"].to_list()
