"""Likelihoods as scorers: what is asked of the engine, and BARTScore by the model's loss."""

import logging
from collections.abc import Callable, Sequence
from typing import get_args

import numpy as np
import pytest
import torch

from nnd.metric.encoding.requests import Request
from nnd.metric.encoding.templates import find_template
from nnd.metric.engine.answers import Likelihoods
from nnd.metric.engine.engine import Engine
from nnd.metric.models.load import LoadedModel
from nnd.metric.scorers.base import Text, score_texts
from nnd.metric.scorers.likelihood import DIRECTIONS, Direction, bartscore, prompted
from nnd.schemas import ScoringError

TEXTS = [
    Text("cand", "context", {"text": "context"}, ("ref", "other ref")),
    Text("", "context", {"text": "context"}, ("ref",)),
]


def spy(requests: Sequence[Request]) -> Likelihoods:
    """Say the length of the context in tens and that of the candidate in ones; none for no text."""
    values = [10 * len(context) + len(text) if text else np.nan for context, text in requests]
    return Likelihoods(
        np.array(values, dtype=np.float64),
        np.ones(len(values), dtype=np.int64),
        np.array([len(context) > 8 for context, _ in requests]),
    )


# context 7 letters, cand 4, ref 3, other ref 9. An empty candidate has no likelihood.
@pytest.mark.parametrize(
    ("direction", "expected"),
    [
        ("faithfulness", [74, None]),  # context → candidate
        ("precision", [94, None]),  # the better of ref → candidate, 34, and other ref → it, 94
        ("recall", [49, 3]),  # the better of candidate → ref, 43, and → other ref, 49
        ("f", [(94 + 49) / 2, None]),  # against one reference, (34 + 43) / 2 or (94 + 49) / 2
    ],
)
def test_directions(direction: Direction, expected: list[float | None]) -> None:
    assert score_texts(bartscore("it", spy, direction), TEXTS).to_list() == expected


def test_the_mean_over_references() -> None:
    found = score_texts(bartscore("it", spy, "f", "mean"), TEXTS[:1])
    assert found.to_list() == [((34 + 43) / 2 + (94 + 49) / 2) / 2]


def test_no_other_direction() -> None:
    assert get_args(Direction) == DIRECTIONS
    with pytest.raises(ScoringError, match=r'^BARTScore has no direction "up", only '):
        bartscore("it", spy, "up")  # type: ignore[arg-type]


def test_contexts_that_were_cut_are_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        score_texts(bartscore("it", spy, "precision"), TEXTS)
    # ref → cand, other ref → cand, ref → "": one of three has more than 8 letters
    assert caplog.messages == ["it: 1 of 3 contexts were cut to the window"]


def test_a_prompt_goes_around_the_context() -> None:
    asked: list[Request] = []

    def engine(requests: Sequence[Request]) -> Likelihoods:
        asked.extend(requests)
        return spy(requests)

    score_texts(prompted("it", engine, find_template("Read {text}, then sum up:")), TEXTS[:1])
    assert asked == [(("Read ", "context", ", then sum up:"), "cand")]


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_bartscore_is_minus_the_loss_of_the_model(
    direction: Direction, loaded: Callable[[str], LoadedModel]
) -> None:
    bart = loaded("bart")

    def minus_loss(source: str, target: str) -> float:
        """Yuan et al.'s score: the mean over all label tokens, which is what the loss averages."""
        read = bart.tokenizer(source, return_tensors="pt")
        labels = bart.tokenizer(text_target=target, return_tensors="pt")["input_ids"]
        with torch.no_grad():
            return -float(bart.model.eval()(**read, labels=labels).loss)

    context, reference, candidate = "The cat sat on the mat.", "A cat sat down.", "The dog ran."
    expected = {
        "faithfulness": minus_loss(context, candidate),
        "precision": minus_loss(reference, candidate),
        "recall": minus_loss(candidate, reference),
    }
    expected["f"] = (expected["precision"] + expected["recall"]) / 2
    engine = Engine(bart, protocol="bartscore")
    found = score_texts(
        bartscore("it", engine, direction), [Text(candidate, context, None, (reference,))]
    )
    assert found.to_list() == pytest.approx([expected[direction]], abs=1e-5)
