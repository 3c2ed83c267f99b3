"""Likelihoods as scorers: what is asked of the engine, and numbers by the model's own loss."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch
from support.refusals import refusal

from nnd.metric.likelihood.engine.answers import Likelihoods
from nnd.metric.likelihood.engine.engine import Engine
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.other_metrics.scorers.likelihood_scorers import DIRECTIONS, Direction, likelihood
from nnd.metric.other_metrics.scorers.scorer import Text, score_texts
from nnd.metric.text.encoding.requests import Request
from nnd.metric.text.encoding.templates import find_template

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
        ("f_harmonic", [2 * 94 * 49 / (94 + 49), None]),
    ],
)
def test_directions(direction: Direction, expected: list[float | None]) -> None:
    assert score_texts(likelihood("it", spy, direction), TEXTS).to_list() == expected


@pytest.mark.parametrize(
    ("direction", "ref", "other"),
    [
        ("f", (34 + 43) / 2, (94 + 49) / 2),
        ("f_harmonic", 2 * 34 * 43 / (34 + 43), 2 * 94 * 49 / (94 + 49)),
    ],
)
def test_several_references(direction: Direction, ref: float, other: float) -> None:
    # The second text has one reference, and counts as it is.
    texts = [TEXTS[0], TEXTS[0]._replace(references=("ref",))]
    for several, expected in (("max", other), ("mean", (ref + other) / 2), ("first", ref)):
        scorer = likelihood("it", spy, direction, several=several)  # type: ignore[arg-type]
        assert score_texts(scorer, texts).to_list() == pytest.approx([expected, ref])


def test_the_harmonic_mean_of_two_certain_texts_is_0() -> None:
    def certain(requests: Sequence[Request]) -> Likelihoods:
        return replace(spy(requests), log_likelihood=np.zeros(len(requests)))

    assert score_texts(likelihood("it", certain, "f_harmonic"), TEXTS[:1]).to_list() == [0]


def test_what_cannot_be_asked() -> None:
    with refusal("option.unknown-value"):
        likelihood("it", spy, "up")  # type: ignore[arg-type]
    with refusal("scorer.references"):
        score_texts(likelihood("it", spy, "f_harmonic"), [Text("cand", "context")])
    scorer = likelihood("it", spy, "recall", template=find_template("{text} TL;DR"))
    with refusal("template.placeholder", 'template "{text} TL;DR"'):  # a reference has no parts
        score_texts(scorer, TEXTS[:1])


def test_contexts_that_were_cut_are_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        score_texts(likelihood("it", spy, "precision"), TEXTS)
    # ref → cand, other ref → cand, ref → "": one of three has more than 8 letters
    assert caplog.messages == ["it: 1 of 3 contexts were cut to the window"]


@pytest.mark.parametrize(
    ("direction", "template", "asked"),
    [
        (
            "faithfulness",
            "Read {text}, then sum up:",
            [(("Read ", "context", ", then sum up:"), "In short, cand")],
        ),
        ("precision", "{context} That is,", [(("", "ref", " That is,"), "In short, cand")]),
        ("recall", "{context} That is,", [(("", "cand", " That is,"), "In short, ref")]),
    ],
)
def test_prompts_go_around_what_is_read_and_before_what_is_predicted(
    direction: Direction, template: str, asked: list[Request]
) -> None:
    seen: list[Request] = []

    def engine(requests: Sequence[Request]) -> Likelihoods:
        seen.extend(requests)
        return spy(requests)

    scorer = likelihood(
        "it", engine, direction, template=find_template(template), prefix="In short, "
    )
    score_texts(scorer, [TEXTS[0]._replace(references=("ref",))])
    assert seen == asked
    assert scorer.definition.startswith("log-likelihood")
    assert f'template "{template}"; "In short, " before what is predicted' in scorer.definition


CONTEXT, REFERENCE, CANDIDATE = "The cat sat on the mat.", "A cat sat down.", "The dog ran."


def expected_of(direction: Direction, minus_loss: Callable[[str, str], float]) -> float:
    """Yuan et al.'s score: the mean over all label tokens, which is what the loss averages."""
    if direction == "faithfulness":
        return minus_loss(CONTEXT, CANDIDATE)
    precision, recall = minus_loss(REFERENCE, CANDIDATE), minus_loss(CANDIDATE, REFERENCE)
    return {
        "precision": precision,
        "recall": recall,
        "f": (precision + recall) / 2,
        "f_harmonic": 2 / (1 / precision + 1 / recall),
    }[direction]


@pytest.mark.parametrize(
    ("family", "protocol"), [("bart", "bartscore"), ("t5", "native"), ("gpt2", "native")]
)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_score_is_minus_the_loss_of_the_model(
    direction: Direction, family: str, protocol: str, loaded: Callable[[str], LoadedModel]
) -> None:
    model = loaded(family)

    def minus_loss(source: str, target: str) -> float:
        prompt, target = f"Sum up: {source} In", f"short: {target}"
        with torch.no_grad():
            if family == "gpt2":  # the prompt is read, and masked in the loss
                ids = model.tokenizer(prompt, return_tensors="pt")["input_ids"]
                whole = model.tokenizer(f"{prompt} {target}", return_tensors="pt")["input_ids"]
                labels = whole.clone()
                labels[:, : ids.shape[1]] = -100
                return -float(model.model.eval()(whole, labels=labels).loss)
            read = model.tokenizer(prompt, return_tensors="pt")
            labels = model.tokenizer(text_target=target, return_tensors="pt")["input_ids"]
            return -float(model.model.eval()(**read, labels=labels).loss)

    scorer = likelihood(
        "it",
        Engine(model, protocol=protocol),
        direction,
        template=find_template("Sum up: {context} In"),
        prefix="short: ",
    )
    found = score_texts(scorer, [Text(CANDIDATE, CONTEXT, None, (REFERENCE,))])
    assert found.to_list() == pytest.approx([expected_of(direction, minus_loss)], abs=1e-5)
