"""What each model family is fed and what is scored, as literal ids."""

import math

import pytest
from support import oracle
from support.engine.cases import (
    Fresh,
    Loaded,
    Tiny,
    ids,
    run,
)
from support.tiny_models import BUILDERS

from nnd.metric.text.encoding.requests import Encoded

CONTEXT, CANDIDATE = "Who wrote the book?", "the cat"


def test_bart_native_starts_as_in_training(tiny: Tiny) -> None:
    bart = tiny("bart")
    cand = tuple(bart.text_ids(CANDIDATE))
    (fed,) = ids(bart, "native", [(CONTEXT, CANDIDATE)])
    # </s> is 2, <s> is 0: the decoder sees </s> <s> cand; cand and </s> are scored, <s> is not.
    assert fed.context == (0, *bart.text_ids(CONTEXT), 2)
    assert fed.inputs == (2, 0, *cand)
    assert fed.targets == (0, *cand, 2)
    assert fed.scored == (False, *(True for _ in cand), True)
    assert not fed.truncated


def test_bart_laban2022_starts_with_bos(tiny: Tiny) -> None:
    bart = tiny("bart")
    cand = tuple(bart.text_ids(CANDIDATE))
    (fed,) = ids(bart, "laban2022", [(CONTEXT, CANDIDATE)])
    assert fed.context == (0, *bart.text_ids(CONTEXT), 2)
    assert (fed.inputs, fed.targets) == ((0, *cand), (*cand, 2))
    assert all(fed.scored)


def test_bartscore_scores_every_label(tiny: Tiny) -> None:
    bart = tiny("bart")
    cand = tuple(bart.text_ids(CANDIDATE))
    (fed,) = ids(bart, "bartscore", [(CONTEXT, CANDIDATE)])
    assert (fed.inputs, fed.targets) == ((2, 0, *cand), (0, *cand, 2))
    assert all(fed.scored)


@pytest.mark.parametrize(
    ("name", "start", "end"),
    # T5 and Pegasus: <pad> 0, </s> 1. Marian: <pad> is the last id, </s> 0.
    [("t5", 0, 1), ("pegasus", 0, 1), ("marian", None, 0)],
)
def test_native_starts_with_pad_and_scores_the_end(
    name: str, start: int | None, end: int, tiny: Tiny
) -> None:
    family = tiny(name)
    first = len(family.tokenizer) - 1 if start is None else start
    cand = tuple(family.target_ids(CANDIDATE))
    (fed,) = ids(family, "native", [(CONTEXT, CANDIDATE)])
    assert fed.context == (*family.text_ids(CONTEXT), end)
    assert (fed.inputs, fed.targets) == ((first, *cand), (*cand, end))
    assert fed.scored == (True,) * (len(cand) + 1)


def test_marian_reads_the_candidate_in_the_target_language(tiny: Tiny) -> None:
    marian = tiny("marian")
    romanian = "Pisica a stat pe covor"
    (fed,) = ids(marian, "native", [(CONTEXT, romanian)])
    assert marian.target_ids(romanian) != marian.text_ids(romanian)  # the two models differ
    assert fed.targets == (*marian.target_ids(romanian), 0)


def test_mbart25_native_starts_with_the_language_and_scores_up_to_the_end(tiny: Tiny) -> None:
    mbart = tiny("mbart")
    english, romanian = mbart.tokenizer.convert_tokens_to_ids(["en_XX", "ro_RO"])
    cand = tuple(mbart.text_ids(CANDIDATE))
    (fed,) = ids(mbart, "native", [(CONTEXT, CANDIDATE)])
    # The labels are `cand </s> ro_RO`; the shift brings ro_RO to the front.
    assert fed.context == (*mbart.text_ids(CONTEXT), 2, english)
    assert fed.inputs == (romanian, *cand, 2)
    assert fed.targets == (*cand, 2, romanian)
    assert fed.scored == (*(True for _ in cand), True, False)


def test_mbart50_native_feeds_the_language_unscored(tiny: Tiny) -> None:
    mbart = tiny("mbart50")
    english, romanian = mbart.tokenizer.convert_tokens_to_ids(["en_XX", "ro_RO"])
    cand = tuple(mbart.text_ids(CANDIDATE))
    (fed,) = ids(mbart, "native", [(CONTEXT, CANDIDATE)])
    assert fed.context == (english, *mbart.text_ids(CONTEXT), 2)
    assert fed.inputs == (2, romanian, *cand)
    assert fed.targets == (romanian, *cand, 2)
    assert fed.scored == (False, *(True for _ in cand), True)


@pytest.mark.parametrize(
    ("name", "start", "end"),
    # By model type: prophetnet, fsmt, t5. Without a bos: pegasus, marian. By bos and eos: mbart.
    [
        ("prophetnet", 102, 102),
        ("fsmt", 2, 2),
        ("t5", 0, 1),
        ("pegasus", 0, 1),
        ("marian", 0, 0),
        ("mbart", 0, 2),
    ],
)
def test_laban2022_start_and_end_of_encoder_decoders(
    name: str, start: int, end: int, tiny: Tiny
) -> None:
    family = tiny(name)
    cand = tuple(family.text_ids(CANDIDATE))
    (fed,) = ids(family, "laban2022", [(CONTEXT, CANDIDATE)])
    before, after = family.source
    assert fed.context == (*before, *family.text_ids(CONTEXT), *after)
    assert (fed.inputs, fed.targets) == ((start, *cand), (*cand, end))
    assert all(fed.scored)


@pytest.mark.parametrize(
    ("name", "start", "end"),
    # GPT-2: one token for both, 0. Llama: <s> 1, </s> 2. Qwen2: no bos, so 0; the end is 1.
    [("gpt2", 0, 0), ("llama", 1, 2), ("qwen2", 0, 1), ("opt", 2, 2), ("bloom", 1, 2)],
)
def test_laban2022_puts_the_start_between_context_and_candidate(
    name: str, start: int, end: int, tiny: Tiny
) -> None:
    family = tiny(name)
    bos = {"llama": (1,), "opt": (2,)}.get(name, ())  # these two tokenizers add one themselves
    cand = tuple(family.text_ids(CANDIDATE))  # no separator: the reference has none
    (fed,) = ids(family, "laban2022", [(CONTEXT, CANDIDATE)])
    assert fed.context == (*bos, *family.text_ids(CONTEXT))
    assert (fed.inputs, fed.targets) == ((start, *cand), (*cand, end))
    assert all(fed.scored)


@pytest.mark.parametrize(
    ("name", "bos"),
    [("gpt2", ()), ("qwen2", ()), ("bloom", ()), ("llama", (1,)), ("opt", (2,))],
)
def test_native_decoder_only_predicts_the_candidate_from_the_last_context_token(
    name: str, bos: tuple[int, ...], tiny: Tiny
) -> None:
    family = tiny(name)
    prefix = (*bos, *family.text_ids(CONTEXT))
    cand = tuple(family.text_ids(" " + CANDIDATE))
    (fed,) = ids(family, "native", [(CONTEXT, CANDIDATE)])
    assert fed.context == prefix[:-1]
    assert (fed.inputs, fed.targets) == ((prefix[-1], *cand[:-1]), cand)
    assert all(fed.scored)  # the space is part of the first token, and no end token follows


def test_native_drops_an_end_token_the_tokenizer_adds(fresh: Fresh) -> None:
    llama = fresh("llama")
    llama.tokenizer.add_eos_token = True
    assert llama.tokenizer("the")["input_ids"][-1] == 2
    prefix = (1, *llama.text_ids(CONTEXT))
    (native,) = ids(llama, "native", [(CONTEXT, CANDIDATE)])
    assert (*native.context, native.inputs[0]) == prefix
    # The paper's code takes what the tokenizer gives.
    (laban,) = ids(llama, "laban2022", [(CONTEXT, CANDIDATE)])
    assert laban.context == (*prefix, 2)


def test_a_separator_that_is_a_token_of_its_own_is_scored(tiny: Tiny) -> None:
    gpt2 = tiny("gpt2")
    space, *rest = gpt2.text_ids(" 東")
    assert gpt2.tokenizer.convert_ids_to_tokens([space]) == ["Ġ"]
    (fed,) = ids(gpt2, "native", [("the", "東")])
    last = gpt2.text_ids("the")[-1]
    assert (fed.inputs, fed.targets) == ((last, space, *rest[:-1]), (space, *rest))
    assert fed.scored == (True,) * 4  # the blank, and the three bytes of 東


@pytest.mark.parametrize(
    ("name", "start"),
    # GPT-2 has a bos it does not add, Llama adds it, Qwen2 has only an eos, XGLM adds its eos.
    [("gpt2", 0), ("llama", 1), ("qwen2", 1), ("xglm", 2)],
)
def test_empty_context_starts_from_bos_else_eos(name: str, start: int, tiny: Tiny) -> None:
    family = tiny(name)
    cand = tuple(family.text_ids(" " + CANDIDATE))
    (fed,) = ids(family, "native", [("", CANDIDATE)])
    assert (fed.context, fed.inputs, fed.targets) == ((), (start, *cand[:-1]), cand)


@pytest.mark.parametrize("protocol", ["native", "laban2022"])
@pytest.mark.parametrize("name", [name for name in BUILDERS if name != "prophetnet"])
def test_strings_that_look_like_special_tokens_stay_text(
    name: str, protocol: str, tiny: Tiny
) -> None:
    family = tiny(name)
    look = "a </s> b <s> c <|endoftext|> <pad>"
    special = set(family.tokenizer.all_special_ids) - {family.tokenizer.unk_token_id}
    (fed,) = ids(family, protocol, [(look, look)])
    (twin,) = ids(family, protocol, [(CONTEXT, CANDIDATE)])

    def count(found: Encoded) -> tuple[int, int, int]:
        parts = (found.context, found.inputs, found.targets)
        return tuple(sum(i in special for i in part) for part in parts)  # type: ignore[return-value]

    # Only the special tokens that any text gets.
    assert count(fed) == count(twin)
    assert fed.targets == oracle.feed(family, protocol, [(look, look)])[0].targets


@pytest.mark.parametrize("name", ["t5", "pegasus", "mbart50"])
def test_an_end_token_in_a_text_is_spelt_out(name: str, tiny: Tiny) -> None:
    family = tiny(name)
    (fed,) = ids(family, "native", [("a</s>", "</s>")])
    # These vocabularies hold "</s>" as a piece, which `split_special_tokens` does not stop.
    pieces = family.tokenizer.convert_ids_to_tokens([i for i in fed.targets if i != 2])
    assert family.tokenizer.convert_tokens_to_ids("</s>") in {1, 2}
    assert [piece for piece in pieces if len(piece) == 1] == ["▁", "<", "/", "s", ">"]


def test_empty_candidate_scores_nothing_in_a_decoder_only_model(loaded: Loaded) -> None:
    for protocol in ("native", "sum", "bytes"):
        found = run(loaded("gpt2"), protocol, [("the", ""), ("the", "cat")])
        assert math.isnan(found.log_likelihood[0])
        assert found.tokens[0] == 0
        assert math.isfinite(found.log_likelihood[1])


def test_empty_candidate_scores_the_end_token_where_the_protocol_counts_it(tiny: Tiny) -> None:
    (native,) = ids(tiny("bart"), "native", [("the", "")])
    assert (native.inputs, native.targets, native.scored) == ((2, 0), (0, 2), (False, True))
    (laban,) = ids(tiny("gpt2"), "laban2022", [("the", "")])
    assert (laban.inputs, laban.targets, laban.scored) == ((0,), (0,), (True,))


def test_no_bytes_means_no_likelihood_though_an_end_token_is_scored(loaded: Loaded) -> None:
    found = run(loaded("bart"), "bytes", [("the", "")])
    assert math.isnan(found.log_likelihood[0])
