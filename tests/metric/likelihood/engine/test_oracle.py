"""The oracle against the models' own loss: the judge of the engine is judged first."""

import copy

import pytest
import torch
from support import oracle
from support.engine.cases import (
    NATS,
    REQUESTS,
    Tiny,
)
from support.tiny_models import BUILDERS, CAUSAL, ENCODER_DECODER


@pytest.mark.parametrize("name", ENCODER_DECODER)
def test_oracle_gives_the_loss_an_encoder_decoder_computes_itself(name: str, tiny: Tiny) -> None:
    family = tiny(name)
    model = copy.deepcopy(family.model).to(family.exact)
    context, candidate = REQUESTS[1]
    source = family.tokenizer(context, return_tensors="pt")["input_ids"]
    labels = family.tokenizer(text_target=candidate, return_tensors="pt")["input_ids"]
    shifted = model.prepare_decoder_input_ids_from_labels(labels.clone())
    with torch.no_grad():
        loss = float(model(source, decoder_input_ids=shifted, labels=labels).loss)
    (score,) = oracle.scores(family, "bartscore", [(context, candidate)])
    # The loss is the mean over all labels, special tokens included: BARTScore's reading.
    assert score.log_likelihood == pytest.approx(-loss, abs=1e-6)


@pytest.mark.parametrize("name", CAUSAL)
def test_oracle_gives_the_loss_a_decoder_only_model_computes_itself(name: str, tiny: Tiny) -> None:
    family = tiny(name)
    model = copy.deepcopy(family.model).to(family.exact)
    prefix = family.tokenizer("Who wrote the book?")["input_ids"]
    candidate = family.tokenizer(" the cat", add_special_tokens=False)["input_ids"]
    labels = torch.tensor([[-100] * len(prefix) + candidate])  # -100: not part of the loss
    with torch.no_grad():
        loss = float(model(torch.tensor([prefix + candidate]), labels=labels).loss)
    (score,) = oracle.scores(family, "native", [("Who wrote the book?", "the cat")])
    assert score.log_likelihood == pytest.approx(-loss, abs=1e-6)


@pytest.mark.parametrize("name", BUILDERS)
def test_models_are_sharp_enough_to_show_one_wrong_token(name: str, tiny: Tiny) -> None:
    family = tiny(name)
    pair = [("the cat in 1884", "the river"), ("the cat in 1885", "the river")]
    one, other = (score.log_likelihood for score in oracle.scores(family, "native", pair))
    # One character of the context moves the mean a hundred times as far as `NATS` at the least.
    assert abs(one - other) > 100 * NATS
