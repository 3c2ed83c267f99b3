"""The engine against the formula: whatever it batches, shares or sorts, the numbers stay.

`oracle.py` scores one candidate at a time in float64 and never imports the engine. The tests on
ids state what each family is fed; the tests on numbers run the engine beside the oracle.
"""

import copy
import itertools
import math
import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch
import transformers as hf
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from metric import oracle
from metric.tiny_models import BUILDERS, CAUSAL, ENCODER_DECODER, SENTENCES, Family

from nnd.metric.encoding import Encoded, encode
from nnd.metric.engine import Engine, Likelihoods
from nnd.metric.errors import ScoringError
from nnd.metric.models import LoadedModel, wrap_model
from nnd.metric.protocols import PROTOCOLS

Tiny = Callable[[str], Family]
Fresh = Callable[..., Family]
Loaded = Callable[[str], LoadedModel]
Requests = Sequence[tuple[str, str]]
Rendered = Sequence[tuple[str | tuple[str, ...], str]]

NATS = 1e-5  # float32 against float64, per mean log-likelihood

LONG = " ".join(SENTENCES[:2])  # 55 to 94 tokens, depending on the family
REQUESTS: list[tuple[str, str]] = [
    (LONG, "the"),
    (LONG, "The dog sat on the mat while nobody is looking."),
    (LONG, "The dog sat on the mat while nobody is looking?"),
    (LONG, "in"),
    ("Who wrote the book?", "the cat"),
    ("Who wrote the book?", "A fox, printed in London in 1884; the river and the hill."),
    ("Who wrote the book?", "the cat"),
    ("Crème brûlée: 東京 🍰", "naïve 東京"),
    ("No: <b>bold</b>, {x}", "yes/no"),
    ("the", "a\nb  c "),
    ("the", ""),
    ("pe covor in 1884", "pisica in 1884"),
]
EMPTY: list[tuple[str, str]] = [("", "the river"), ("", ""), ("", "naïve 東京"), ("the", "cat")]
SPECIAL: list[tuple[str, str]] = [
    ("stop </s> here <|endoftext|> <s> <pad> go", "yes"),
    ("stop </s> here <|endoftext|> <s> <pad> go", "no </s> x <|endoftext|></s>"),
    ("Who wrote the book?</s>", "<s>"),
]
CASES = [
    *itertools.product(CAUSAL, ("native", "laban2022")),
    *itertools.product(ENCODER_DECODER, ("native", "laban2022", "bartscore")),
]


def run(
    model: LoadedModel | Family, protocol: str, requests: Requests, **options: object
) -> Likelihoods:
    loaded = wrap_model(model.model, model.tokenizer) if isinstance(model, Family) else model
    return Engine(loaded, protocol=protocol, **options)(requests)  # type: ignore[arg-type]


def ids(family: Family, protocol: str, requests: Rendered, **options: object) -> list[Encoded]:
    loaded = wrap_model(family.model, family.tokenizer)
    return list(encode(loaded, PROTOCOLS[protocol], requests, **options))  # type: ignore[arg-type]


def assert_same(
    found: Likelihoods, expected: Sequence[oracle.Score], *, summed: bool = False
) -> None:
    """Tolerate `NATS` per mean; a sum of N terms may be N times as far away."""
    tokens = np.array([score.tokens for score in expected])
    exact = np.array([score.log_likelihood for score in expected])
    np.testing.assert_array_equal(found.tokens, tokens)
    np.testing.assert_array_equal(found.truncated, [score.truncated for score in expected])
    np.testing.assert_array_equal(np.isnan(found.log_likelihood), np.isnan(exact))
    allowed = NATS * (np.maximum(tokens, 1) if summed else np.ones_like(tokens))
    missing = np.isnan(exact)
    assert found.log_likelihood.dtype == np.float64
    distance = np.abs(found.log_likelihood - exact)
    assert (distance[~missing] <= allowed[~missing]).all(), distance


# --- the oracle and the models themselves ----------------------------------------------------


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


# --- numbers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_size", [1, 2, 7])
@pytest.mark.parametrize(("name", "protocol"), CASES)
def test_engine_equals_the_formula(
    name: str, protocol: str, batch_size: int, tiny: Tiny, loaded: Loaded
) -> None:
    found = run(loaded(name), protocol, REQUESTS, batch_size=batch_size)
    assert_same(found, oracle.scores(tiny(name), protocol, REQUESTS))


@pytest.mark.parametrize(("name", "protocol"), CASES)
def test_empty_contexts_score_like_the_formula(
    name: str, protocol: str, tiny: Tiny, loaded: Loaded
) -> None:
    found = run(loaded(name), protocol, EMPTY, batch_size=3)
    assert_same(found, oracle.scores(tiny(name), protocol, EMPTY))


@pytest.mark.parametrize("protocol", ["native", "laban2022"])
@pytest.mark.parametrize("name", BUILDERS)
def test_strings_that_look_like_special_tokens_score_as_text(
    name: str, protocol: str, tiny: Tiny, loaded: Loaded
) -> None:
    found = run(loaded(name), protocol, SPECIAL, batch_size=2)
    assert_same(found, oracle.scores(tiny(name), protocol, SPECIAL))


@pytest.mark.parametrize("name", BUILDERS)
def test_order_and_duplicates_do_not_matter(name: str, tiny: Tiny, loaded: Loaded) -> None:
    shuffled = [*REQUESTS, *REQUESTS[:6]]
    random.Random(7).shuffle(shuffled)  # noqa: S311
    found = run(loaded(name), "native", shuffled, batch_size=3)
    assert_same(found, oracle.scores(tiny(name), "native", shuffled))


@pytest.mark.parametrize("name", BUILDERS)
def test_sum_adds_what_native_averages(name: str, tiny: Tiny, loaded: Loaded) -> None:
    found = run(loaded(name), "sum", REQUESTS, batch_size=4)
    assert_same(found, oracle.scores(tiny(name), "sum", REQUESTS), summed=True)


@pytest.mark.parametrize("name", BUILDERS)
def test_bytes_divides_by_the_candidates_utf8_length(name: str, tiny: Tiny, loaded: Loaded) -> None:
    found = run(loaded(name), "bytes", REQUESTS, batch_size=4)
    assert_same(found, oracle.scores(tiny(name), "bytes", REQUESTS))


@pytest.mark.parametrize("separator", ["", " ", "\n", " \n", " Answer: "])
@pytest.mark.parametrize("name", ["gpt2", "llama", "opt"])
def test_separator_is_fed_and_what_spells_only_it_is_not_scored(
    name: str, separator: str, tiny: Tiny, loaded: Loaded
) -> None:
    family = tiny(name)
    requests = [*REQUESTS, ("the", "東"), ("the", " 東"), ("the", "  cat")]
    found = run(loaded(name), "native", requests, batch_size=4, separator=separator)
    assert_same(found, oracle.scores(family, "native", requests, separator=separator))


@pytest.mark.parametrize("name", ["gpt2", "llama", "opt", "bart", "pegasus", "mbart50"])
@pytest.mark.parametrize("protocol", ["native", "laban2022"])
@pytest.mark.parametrize("keep", ["beginning", "end"])
def test_cut_contexts_score_like_the_formula(
    name: str, protocol: str, keep: str, fresh: Fresh
) -> None:
    family = fresh(name, window=40)  # LONG has 55 tokens or more
    requests = [(LONG, "the"), (LONG, "in the town"), ("the", "the cat in the town"), (LONG, "in")]
    found = run(family, protocol, requests, batch_size=3, keep=keep)
    expected = oracle.scores(family, protocol, requests, keep=keep)
    assert [score.truncated for score in expected] == [True, True, False, True]
    assert_same(found, expected)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)


@pytest.mark.parametrize("name", ["gpt2", "bart"])
@given(
    contexts=st.lists(TEXT, min_size=1, max_size=3),
    picks=st.lists(st.tuples(st.integers(0, 2), TEXT), min_size=1, max_size=8),
    batch_size=st.integers(1, 5),
)
@settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_texts_in_any_grouping_score_like_the_formula(
    *,
    name: str,
    tiny: Tiny,
    loaded: Loaded,
    contexts: list[str],
    picks: list[tuple[int, str]],
    batch_size: int,
) -> None:
    requests = [(contexts[pick % len(contexts)], candidate) for pick, candidate in picks]
    found = run(loaded(name), "native", requests, batch_size=batch_size)
    assert_same(found, oracle.scores(tiny(name), "native", requests))


# --- ids -------------------------------------------------------------------------------------

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


def test_a_separator_that_is_a_token_of_its_own_is_fed_unscored(tiny: Tiny) -> None:
    gpt2 = tiny("gpt2")
    space, *rest = gpt2.text_ids(" 東")
    assert gpt2.tokenizer.convert_ids_to_tokens([space]) == ["Ġ"]
    (fed,) = ids(gpt2, "native", [("the", "東")])
    last = gpt2.text_ids("the")[-1]
    assert (fed.inputs, fed.targets) == ((last, space, *rest[:-1]), (space, *rest))
    assert fed.scored == (False, True, True, True)  # 東 is three bytes


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


def test_only_a_templates_literals_hold_special_tokens(tiny: Tiny) -> None:
    bart = tiny("bart")
    # A rendered template: literal, data, literal, data. <s> is 0, </s> is 2.
    context = ("Q: ", "who </s>", " </s> ", "the <s>")
    (fed,) = ids(bart, "native", [(context, "x")])
    before, after = bart.text_ids("Q: who </s> "), bart.text_ids(" the <s>")
    assert fed.context == (0, *before, 2, *after, 2)


def test_a_template_of_data_alone_reads_like_the_text(tiny: Tiny) -> None:
    gpt2 = tiny("gpt2")
    pieces, text = ids(gpt2, "native", [(("", "the", " ", "cat"), "x"), ("the cat", "x")])
    assert pieces == text  # no token boundary where the pieces meet


def test_prophetnets_template_separates_with_its_sep_token(tiny: Tiny) -> None:
    prophetnet = tiny("prophetnet")
    (fed,) = ids(prophetnet, "laban2022", [(("", "the cat", " [SEP] ", "the river"), "the dog")])
    the, cat, dog, river = prophetnet.tokenizer.convert_tokens_to_ids(
        ["the", "cat", "dog", "river"]
    )
    assert fed.context == (the, cat, 102, the, river, 102)
    assert (fed.inputs, fed.targets) == ((102, the, dog), (the, dog, 102))


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


# --- cutting the context ---------------------------------------------------------------------


def dots(family: Family, n: int) -> str:
    """Return a text of exactly n tokens (no merge of two dots was learnt)."""
    text = "." * n
    assert len(family.text_ids(text)) == n
    return text


def numbered(family: Family) -> tuple[str, tuple[int, ...]]:
    """Return a text whose tokens are all different, and their ids."""
    text = "bdfhjlnzxvtrp02468BDFHJLNPRTVXZ"
    found = tuple(family.text_ids(text))
    assert len(set(found)) == len(found) == len(text)
    return text, found


@pytest.mark.parametrize("protocol", ["native", "laban2022"])
def test_all_candidates_of_a_context_see_the_same_cut(protocol: str, fresh: Fresh) -> None:
    gpt2 = fresh("gpt2", window=24)
    text, tokens = numbered(gpt2)  # 31 tokens
    short, long = ids(gpt2, protocol, [(text, "."), (text, "." * 9)])
    if protocol == "native":
        # " ........." is 10 ids, so 24 - 10 = 14 stay: the last 14.
        assert (*short.context, short.inputs[0]) == (*long.context, long.inputs[0]) == tokens[-14:]
    else:
        # The start and 9 ids, so 24 - 10 = 14 here too.
        assert short.context == long.context == tokens[-14:]
    assert short.truncated
    assert long.truncated


def test_the_other_contexts_candidates_do_not_shorten_this_one(fresh: Fresh) -> None:
    gpt2 = fresh("gpt2", window=24)
    text, tokens = numbered(gpt2)
    cut, _ = ids(gpt2, "native", [(text, "."), ("x", "." * 9)])
    # " ." is two ids (or one), whatever stands in the other context.
    room = 24 - len(gpt2.text_ids(" ."))
    assert (*cut.context, cut.inputs[0]) == tokens[-room:]


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


def test_cutting_keeps_the_start_token(fresh: Fresh) -> None:
    opt = fresh("opt", window=24)
    text, tokens = numbered(opt)
    room = 24 - len(opt.text_ids(" .")) - 1  # </s> stays in front
    (end,) = ids(opt, "native", [(text, ".")])
    assert (*end.context, end.inputs[0]) == (2, *tokens[-room:])
    (beginning,) = ids(opt, "native", [(text, ".")], keep="beginning")
    assert (*beginning.context, beginning.inputs[0]) == (2, *tokens[:room])


def test_an_encoder_keeps_its_special_tokens_and_the_beginning(fresh: Fresh) -> None:
    bart = fresh("bart", window=24)
    text, tokens = numbered(bart)
    beginning, long = ids(bart, "native", [(text, "."), (text, "." * 9)])
    # 24 less <s> and </s>; the candidates have the decoder to themselves.
    assert beginning.context == long.context == (0, *tokens[:22], 2)
    assert beginning.truncated
    (end,) = ids(bart, "native", [(text, ".")], keep="end")
    assert end.context == (0, *tokens[-22:], 2)


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


# --- errors ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gpt2", "llama", "bart", "pegasus"])
@pytest.mark.parametrize("protocol", ["native", "laban2022"])
def test_a_candidate_that_does_not_fit_is_named(name: str, protocol: str, fresh: Fresh) -> None:
    family = fresh(name, window=24)
    with pytest.raises(ScoringError, match="zebra"):
        run(family, protocol, [("the", "ok"), ("the", "zebra " + "." * 40)])


@pytest.mark.parametrize("name", ["opt", "llama"])
def test_a_candidate_that_leaves_only_the_start_token_is_an_error(name: str, fresh: Fresh) -> None:
    family = fresh(name, window=24)
    zebra = "zebra" + "." * (23 - len(family.text_ids(" zebra")))
    assert len(family.text_ids(f" {zebra}")) == 23
    # The start token takes the last place; a likelihood without any context would mean nothing.
    with pytest.raises(ScoringError, match="zebra"):
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
    with pytest.raises(ScoringError):
        ids(bart, "native", [("the", dots(bart, 23))])


def test_empty_context_without_bos_and_eos_is_an_error(fresh: Fresh) -> None:
    gpt2 = fresh("gpt2")
    gpt2.tokenizer.bos_token = gpt2.tokenizer.eos_token = None
    with pytest.raises(ScoringError, match="context"):
        run(gpt2, "native", [("", "the cat")])
    assert math.isfinite(run(gpt2, "native", [("the", "cat")]).log_likelihood[0])


def test_laban2022_without_an_end_token_is_an_error(fresh: Fresh) -> None:
    gpt2 = fresh("gpt2")
    gpt2.tokenizer.bos_token = gpt2.tokenizer.eos_token = None
    with pytest.raises(ScoringError):
        run(gpt2, "laban2022", [("the", "cat")])


def test_bartscore_is_for_encoder_decoders(loaded: Loaded) -> None:
    with pytest.raises(ScoringError, match="bartscore"):
        run(loaded("gpt2"), "bartscore", [("the", "cat")])


def test_unknown_protocol_lists_the_known_ones(loaded: Loaded) -> None:
    with pytest.raises(ScoringError, match=r"native.*laban2022"):
        run(loaded("gpt2"), "nativ", [("the", "cat")])


# --- precision, mode, bookkeeping ------------------------------------------------------------


def test_bfloat16_logits_meet_the_softmax_in_float32(tiny: Tiny) -> None:
    gpt2 = tiny("gpt2")
    model = copy.deepcopy(gpt2.model).bfloat16()
    context = gpt2.text_ids(CONTEXT)
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
        wrap_model(model, gpt2.tokenizer), "native", [(CONTEXT, letter)], separator=""
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
        run(gpt2, "native", REQUESTS, batch_size=7), oracle.scores(gpt2, "native", REQUESTS)
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
