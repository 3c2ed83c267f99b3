"""Quality rules in words: each parameter is told."""

from typing import Any

import pytest

from nnd.cards.rule import rule_in_words


@pytest.mark.parametrize(
    ("quality", "words"),
    [
        ({"rule": "no_error", "no_error": "NoE"}, ["labelled `NoE` is better"]),
        ({"rule": "majority", "top": 5}, ["more than half", "gave it 5 or more"]),
        (
            {"rule": "credit", "high": [1], "low": [0, 0.2]},
            ["a credit of 1 is better", "a credit of 0 or 0.2"],
        ),
        ({"rule": "gap", "minimum": 2, "tolerance": 1e-6}, ["at least 2 higher"]),
        (
            {"rule": "order", "better": [["ok", "minor"], ["minor", "major"]]},
            ["`ok` is better than `minor`; `minor` is better than `major`"],
        ),
    ],
)
def test_a_rule_is_told_with_its_parameters(quality: dict[str, Any], words: list[str]) -> None:
    for part in words:
        assert part in rule_in_words(quality)
