"""Contexts that are cut to the window, and candidates that do not fit."""

import math

import pytest
from support import oracle
from support.engine.cases import (
    LONG,
    Fresh,
    Loaded,
    Tiny,
    assert_same,
    ids,
    run,
)
from support.refusals import refusal
from support.tiny_models import ENCODER_DECODER, SENTENCES, Family


def dots(family: Family, n: int) -> str:
    """Return a text of exactly n tokens (no merge of two dots was learnt)."""
    text = "." * n
    assert len(family.text_ids(text)) == n
    return text


def test_a_context_that_just_fits_is_left_alone(fresh: Fresh) -> None:
    gpt2 = fresh("gpt2", window=24)
    longest = len(gpt2.text_ids(" ..."))
    fits, cut = ids(
        gpt2,
        "native",
        [(dots(gpt2, 24 - longest), "..."), (dots(gpt2, 25 - longest), "...")],
    )
    assert (fits.truncated, cut.truncated) == (False, True)
    assert len(fits.context) + 1 == len(cut.context) + 1 == 24 - longest


def test_mbart25_keeps_both_trailing_special_tokens(fresh: Fresh) -> None:
    mbart = fresh("mbart", window=24)
    english = mbart.tokenizer.convert_tokens_to_ids("en_XX")
    (fed,) = ids(mbart, "native", [(LONG, ".")])
    assert fed.context == (*mbart.text_ids(LONG)[:22], 2, english)


@pytest.mark.parametrize(("positions", "limit"), [(64, 32), (32, 64)])
def test_window_is_the_smaller_of_model_and_tokenizer_limit(
    positions: int, limit: int, fresh: Fresh
) -> None:
    gpt2 = fresh("gpt2", window=positions)
    gpt2.tokenizer.model_max_length = limit
    (fed,) = ids(gpt2, "native", [(dots(gpt2, 70), "x")])
    assert len(fed.context) + 1 == 32 - len(gpt2.text_ids(" x"))


def test_a_model_without_positions_is_cut_by_its_tokenizers_limit(fresh: Fresh) -> None:
    t5 = fresh("t5")
    t5.tokenizer.model_max_length = 20
    (fed,) = ids(t5, "native", [(LONG, "the")])
    assert fed.context == (*t5.text_ids(LONG)[:19], 1)
    assert fed.truncated


@pytest.mark.parametrize("name", ["bloom", "mamba", "t5"])
def test_nothing_is_cut_where_nothing_limits(name: str, tiny: Tiny) -> None:
    family = tiny(name)
    long = " ".join(SENTENCES * 2)  # hundreds of tokens
    (fed,) = ids(family, "native", [(long, "x")])
    assert not fed.truncated
    assert len(fed.context) >= len(family.text_ids(long)) - 1


@pytest.mark.parametrize("name", ["gpt2", "llama", "bart", "pegasus"])
@pytest.mark.parametrize("protocol", ["native", "laban2022"])
def test_a_candidate_that_does_not_fit_is_named(name: str, protocol: str, fresh: Fresh) -> None:
    family = fresh(name, window=24)
    with refusal("candidate.too-long"):
        run(family, protocol, [("the", "ok"), ("the", "zebra " + "." * 40)])


@pytest.mark.parametrize("name", ["opt", "llama"])
def test_a_candidate_that_leaves_only_the_start_token_is_an_error(name: str, fresh: Fresh) -> None:
    family = fresh(name, window=24)
    zebra = "zebra" + "." * (23 - len(family.text_ids(" zebra")))
    assert len(family.text_ids(f" {zebra}")) == 23
    # The start token takes the last place; a likelihood without any context would mean nothing.
    with refusal("candidate.too-long"):
        ids(family, "native", [("the cat", zebra)])


@pytest.mark.parametrize("name", ENCODER_DECODER)
def test_a_full_window_can_be_scored(name: str, fresh: Fresh) -> None:
    family = fresh(name, window=24)
    before, after = family.target
    # ProphetNet looks a position further than it says, so two less.
    most = 22 if name == "prophetnet" else 24
    dotted = "x" + "." * (most - len(family.target_ids("x")) - len(before) - len(after))
    assert len(family.target_ids(dotted)) + len(before) + len(after) == most
    found = run(family, "native", [(LONG, dotted)])
    assert_same(found, oracle.scores(family, "native", [(LONG, dotted)]))


def test_a_decoder_takes_exactly_its_window(fresh: Fresh) -> None:
    bart = fresh("bart", window=24)
    # Decoder input: </s> <s> and the candidate, so 22 tokens fit and 23 do not.
    (fed,) = ids(bart, "native", [("the", dots(bart, 22))])
    assert len(fed.inputs) == 24
    with refusal("candidate.too-long"):
        ids(bart, "native", [("the", dots(bart, 23))])


def test_empty_context_without_bos_and_eos_is_an_error(fresh: Fresh) -> None:
    gpt2 = fresh("gpt2")
    gpt2.tokenizer.bos_token = gpt2.tokenizer.eos_token = None
    with refusal("model.tokenizer", "GPT2LMHeadModel"):
        run(gpt2, "native", [("", "the cat")])
    assert math.isfinite(run(gpt2, "native", [("the", "cat")]).log_likelihood[0])


def test_laban2022_without_an_end_token_is_an_error(fresh: Fresh) -> None:
    gpt2 = fresh("gpt2")
    gpt2.tokenizer.bos_token = gpt2.tokenizer.eos_token = None
    with refusal("protocol.another-model"):
        run(gpt2, "laban2022", [("the", "cat")])


def test_bartscore_is_for_encoder_decoders(loaded: Loaded) -> None:
    with refusal("protocol.another-model", "gpt2"):
        run(loaded("gpt2"), "bartscore", [("the", "cat")])


def test_unknown_protocol_lists_the_known_ones(loaded: Loaded) -> None:
    with refusal("option.unknown-value"):
        run(loaded("gpt2"), "nativ", [("the", "cat")])
