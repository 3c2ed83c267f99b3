"""Precision, training mode, padding: what must not show in the numbers."""

import copy

import numpy as np
import pytest
import torch
import transformers as hf
from support import oracle
from support.engine.cases import (
    LONG,
    REQUESTS,
    Fresh,
    Loaded,
    Tiny,
    assert_same,
    ids,
    run,
)
from tokenizers.processors import TemplateProcessing

from nnd.metric.likelihood.models.load_model import wrap_model


def test_bfloat16_logits_meet_the_softmax_in_float32(tiny: Tiny) -> None:
    gpt2 = tiny("gpt2")
    model = copy.deepcopy(gpt2.model).bfloat16()
    context = gpt2.text_ids("Who wrote the book?")
    with torch.no_grad():
        logits = model(torch.tensor([context])).logits[0, -1]
    assert logits.dtype == torch.bfloat16
    right, wrong = logits.float().log_softmax(-1), logits.log_softmax(-1).float()
    single = [letter for letter in "bdfhjlnprtvxz" if len(gpt2.text_ids(letter)) == 1]
    token = {letter: gpt2.text_ids(letter)[0] for letter in single}
    letter = max(single, key=lambda x: float((right - wrong)[token[x]].abs()))
    # bfloat16 has 8 bits: between 8 and 16 nats its steps are 1/16.
    assert abs(right - wrong)[token[letter]] > 0.01
    (found,) = run(
        wrap_model(model, gpt2.tokenizer),
        "native",
        [("Who wrote the book?", letter)],
        separator="",
        path="plain",
    ).log_likelihood
    assert found == pytest.approx(float(right[token[letter]]), abs=1e-3)


@pytest.mark.parametrize("name", ["gpt2", "bart"])
def test_a_model_in_training_is_scored_without_dropout_and_handed_back(
    name: str, fresh: Fresh
) -> None:
    family = fresh(name)
    expected = oracle.scores(family, "native", REQUESTS[:8])
    family.model.train()
    assert_same(run(family, "native", REQUESTS[:8]), expected)
    assert family.model.training


def test_scoring_leaves_weights_and_tokenizer_as_they_were(fresh: Fresh) -> None:
    mbart = fresh("mbart")
    before = {name: weight.clone() for name, weight in mbart.model.named_parameters()}
    encoded = mbart.tokenizer("the </s> cat")["input_ids"]
    sizes = (mbart.tokenizer.padding_side, mbart.tokenizer.pad_token, len(mbart.tokenizer))
    run(mbart, "native", REQUESTS)
    assert all(torch.equal(before[name], w) for name, w in mbart.model.named_parameters())
    assert all(weight.grad is None for weight in mbart.model.parameters())
    assert mbart.tokenizer("the </s> cat")["input_ids"] == encoded
    assert (mbart.tokenizer.padding_side, mbart.tokenizer.pad_token, len(mbart.tokenizer)) == sizes


@pytest.mark.parametrize("name", ["gpt2", "bart"])
def test_no_requests_give_empty_arrays(name: str, loaded: Loaded) -> None:
    found = run(loaded(name), "native", [])
    assert found.log_likelihood.shape == found.tokens.shape == found.truncated.shape == (0,)


def test_a_tokenizer_without_pad_token_can_be_batched(loaded: Loaded, tiny: Tiny) -> None:
    assert tiny("gpt2").tokenizer.pad_token is None
    found = run(loaded("gpt2"), "native", [("the", "cat"), (LONG, "a dog in London")])
    assert np.isfinite(found.log_likelihood).all()


def test_a_left_padding_tokenizer_scores_the_same(fresh: Fresh) -> None:
    gpt2 = fresh("gpt2")
    gpt2.tokenizer.padding_side = gpt2.tokenizer.truncation_side = "left"
    gpt2.tokenizer.pad_token = gpt2.tokenizer.eos_token
    assert_same(
        run(gpt2, "native", REQUESTS, token_budget=150), oracle.scores(gpt2, "native", REQUESTS)
    )


def test_a_tokenizer_that_truncates_by_itself_cuts_nothing(fresh: Fresh) -> None:
    bart = fresh("bart")
    bart.tokenizer(LONG, truncation=True, max_length=8, padding="max_length")  # leaves its mark
    assert_same(run(bart, "native", REQUESTS), oracle.scores(bart, "native", REQUESTS))


def test_float64_models_keep_their_precision(tiny: Tiny) -> None:
    gpt2 = tiny("gpt2")
    model = copy.deepcopy(gpt2.model).double()
    found = run(wrap_model(model, gpt2.tokenizer), "native", REQUESTS[:8])
    exact = [score.log_likelihood for score in oracle.scores(gpt2, "native", REQUESTS[:8])]
    np.testing.assert_allclose(found.log_likelihood, exact, atol=1e-9, rtol=0)


def test_tokens_beyond_the_tokenizers_own_count_are_no_surprise(fresh: Fresh) -> None:
    bart = fresh("bart")
    # Real checkpoints often have more rows than the tokenizer has tokens (padded vocabularies).
    bart.model.resize_token_embeddings(len(bart.tokenizer) + 24, mean_resizing=False)
    assert isinstance(bart.model, hf.BartForConditionalGeneration)
    assert_same(run(bart, "native", REQUESTS[:8]), oracle.scores(bart, "native", REQUESTS[:8]))


@pytest.mark.parametrize("protocol", ["native", "laban2022", "bartscore"])
@pytest.mark.parametrize("name", ["bart", "t5"])
def test_an_encoder_whose_tokenizer_adds_nothing_reads_a_stand_in_for_no_context(
    name: str, protocol: str, fresh: Fresh
) -> None:
    family = fresh(name)
    family.tokenizer.backend_tokenizer.post_processor = TemplateProcessing(single="$A")
    assert family.tokenizer("")["input_ids"] == []
    (without, with_one) = ids(family, protocol, [("", "the cat"), ("the", "the cat")])
    tokenizer = family.tokenizer
    stand_in = tokenizer.eos_token_id if tokenizer.bos_token is None else tokenizer.bos_token_id
    assert without.context == (stand_in,)
    assert with_one.context == tuple(family.text_ids("the"))
    found = run(family, protocol, [("", "the cat"), ("", "a river"), ("the", "the cat")])
    assert np.isfinite(found.log_likelihood).all()
