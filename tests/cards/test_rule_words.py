"""Quality rules in words: each parameter is told."""

from typing import Any

import pytest

from nnd.cards.rule_words import rules_in_words


@pytest.mark.parametrize(
    ("quality", "words"),
    [
        ({"rule": "no_error", "no_error": "NoE"}, ["labelled `NoE` is better"]),
        ({"rule": "majority", "top": 5}, ["more than half", "gave it 5 or more"]),
        (
            {"rule": "credit", "high": [1], "low": [0, 0.2]},
            ["a credit of 1 is better", "a credit of 0 or 0.2"],
        ),
        ({"rule": "gap", "minimum": 2, "tolerance": 1e-6}, ["its score is at least 2 higher"]),
        (
            {"rule": "majority", "top": 5, "ratings": "unanimity", "at_least": 3},
            ["all annotators gave 5 or more", "all gave less", "at least 3 ratings."],
        ),
        (
            {"rule": "credit", "high": [1], "low": [0], "ratings": "median"},
            ["a median rating of 1 is better than one with a median rating of 0"],
        ),
        (
            {"rule": "gap", "minimum": 0.5, "ratings": "mean", "standardise": "annotator"},
            ["its mean rating is at least 0.5 higher", "Ratings count as z-scores"],
        ),
        (
            {"rule": "gap", "minimum": 1, "ratings": "majority", "within": "annotator"}
            | {"at_least": 2},
            [
                "by the annotators who rated both",
                "where more than half of the differences are at least 1 in its favour",
                "There must be at least 2 annotators who rated both.",
            ],
        ),
        (
            {"rule": "order", "better": [["ok", "minor"], ["minor", "major"]]},
            ["`ok` is better than `minor`; `minor` is better than `major`"],
        ),
    ],
)
def test_a_rule_is_told_with_its_parameters(quality: dict[str, Any], words: list[str]) -> None:
    for part in words:
        assert part in rules_in_words(quality, ["answer"])


def test_each_rule_has_its_aspects() -> None:
    scores = {"rule": "gap", "minimum": 2}
    quality = {"default": {"rule": "majority", "top": 5}, "aspects": {"tone": scores}}

    first, second, _, last = rules_in_words(quality, ["answer", "tone", "size"]).splitlines()

    assert first.startswith("- `answer`, `size`: A candidate is good under an aspect where more")
    assert second.startswith("- `tone`: A candidate is better than another where its score is at")
    assert last == "Where a rule reads no label, the `error_category` of a pair is its aspect."
