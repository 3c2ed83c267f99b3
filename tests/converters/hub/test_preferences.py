"""Pairs as preferences in messages."""

from typing import Any

import polars as pl

from nnd.converters.hub.preferences import preferences
from nnd.schemas import polars_schema

ROW: dict[str, Any] = {
    "pair_id": "p1",
    "split": "test",
    "language": "en",
    "context_id": "c",
    "context": "Who sings? A bird.",
    "inputs": [{"key": "question", "value": "Who sings?"}],
    "candidate_high": "A wren.",
    "candidate_low": "A stone.",
    "high_id": "h",
    "low_id": "l",
    "error_category": "wrong",
}
WORDED = {"instruction": "Answer briefly: {question}", "instruction_from": "Written for a test."}


def made(rows: list[dict[str, Any]], **source: Any) -> list[dict[str, Any]]:
    return preferences(pl.DataFrame(rows, polars_schema("pair")), source).to_dicts()


def test_the_prompt_is_the_request_in_the_words_of_the_source() -> None:
    twice = [ROW, ROW | {"pair_id": "p2", "error_category": "rude"}]  # one test, two categories
    assert made(twice, **WORDED) == [
        {
            "prompt": [{"role": "user", "content": "Answer briefly: Who sings?"}],
            "chosen": [{"role": "assistant", "content": "A wren."}],
            "rejected": [{"role": "assistant", "content": "A stone."}],
            "pair_id": "p1",
            "split": "test",
        }
    ]


def test_an_instruction_without_a_place_for_the_context_is_the_systems() -> None:
    (row,) = made([ROW], **WORDED | {"instruction": "Answer briefly."})
    assert row["prompt"] == [
        {"role": "system", "content": "Answer briefly."},
        {"role": "user", "content": "Who sings? A bird."},
    ]


def test_without_an_instruction_the_context_is_the_request() -> None:
    (row,) = made([ROW])
    assert row["prompt"] == [{"role": "user", "content": "Who sings? A bird."}]
    assert made([]) == []
