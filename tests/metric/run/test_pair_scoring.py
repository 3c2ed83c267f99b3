"""Scoring pairs: who passes, what a tie is, what the scorer is asked and what it may answer."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest
from support.refusals import refusal
from support.tiny_models import Family

from nnd.metric.data.completion import complete_pairs
from nnd.metric.data.pairs import PairSet, load_pairs
from nnd.metric.data.scored_schema import ALONE_SCHEMA, SCORED_SCHEMA
from nnd.metric.likelihood.engine.answers import Likelihoods
from nnd.metric.likelihood.engine.engine import Engine
from nnd.metric.likelihood.models.load_model import wrap_model
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.run.pair_scoring import SuiteScores, score_pairs, score_suite
from nnd.metric.text.encoding.requests import Request
from nnd.metric.text.encoding.templates import TEMPLATES, Template, find_template
from nnd.schemas import ScoringError

DEFAULT = TEMPLATES["default"]


def pairs(*rows: tuple[str, str, str], **columns: list[Any]) -> PairSet:
    """Pairs from (context, candidate_high, candidate_low), those of equal texts included."""
    texts = zip(*rows, strict=True)
    names = ("context", "candidate_high", "candidate_low")
    frame = pl.DataFrame(dict(zip(names, map(list, texts), strict=True)) | columns)
    return replace(load_pairs(frame.clear()), pairs=complete_pairs(frame, "frame").pairs)


def answers(value: Callable[[Request], float]) -> Callable[[Sequence[Request]], Likelihoods]:
    """A scorer that gives each request a number, and each as many tokens as it has words."""

    def scorer(requests: Sequence[Request]) -> Likelihoods:
        return Likelihoods(
            np.array([value(request) for request in requests]),
            np.array([len(candidate.split()) for _, candidate in requests]),
            np.array([context == "long" for context, _ in requests]),
        )

    return scorer


def named(**likelihoods: float) -> Callable[[Sequence[Request]], Likelihoods]:
    """A scorer that knows the likelihood of each candidate by its text."""
    return answers(lambda request: likelihoods[request[1]])


with_baseline = partial(score_suite, unconditional=True)


def alone(found: SuiteScores) -> list[tuple[float, float]]:
    """What was found of the candidates without their contexts."""
    return found.pairs.select(*ALONE_SCHEMA).rows()


def asked(
    data: PairSet, template: Template, score: Callable[..., object] = score_pairs
) -> list[Request]:
    """What a scorer is asked."""
    seen: list[Request] = []

    def scorer(requests: Sequence[Request]) -> Likelihoods:
        seen.extend(requests)
        return answers(lambda _: 0.0)(requests)

    score(data, scorer, template)
    return seen


# Who passes


NONE, NEVER = math.nan, -math.inf


@pytest.mark.parametrize(
    ("high", "low", "passed", "tie"),
    [
        (-1.0, -2.0, True, False),
        (-2.0, -1.0, False, False),
        (math.nextafter(-1.0, 0.0), -1.0, True, False),  # the smallest difference
        (-1.0, -1.0, False, True),
        (NONE, -1.0, False, False),
        (-1.0, NONE, False, False),
        (NONE, NONE, False, False),
        (-9.0, NEVER, True, False),
        (NEVER, -9.0, False, False),
        (NEVER, NEVER, False, True),
    ],
)
def test_the_likelier_good_candidate_passes(
    *, high: float, low: float, passed: bool, tie: bool
) -> None:
    (found,) = score_pairs(pairs(("c", "a", "b")), named(a=high, b=low), DEFAULT).to_dicts()
    assert (found["passed"], found["tie"]) == (passed, tie)
    stored = [None if math.isnan(value) else value for value in (high, low)]
    assert [found["ll_high"], found["ll_low"]] == stored


def test_an_empty_candidate_has_no_likelihood_in_a_decoder_only_model(
    loaded: Callable[[str], LoadedModel],
) -> None:
    found = score_pairs(pairs(("the", "cat", "")), Engine(loaded("gpt2")), DEFAULT)
    assert found["ll_low"].to_list() == [None]
    assert found["ll_high"].item() < 0
    assert (found["tokens_low"].item(), found["passed"].item()) == (0, False)


@pytest.mark.parametrize(
    ("name", "high", "low"),
    [("prophetnet", "the Cat", "The cat"), ("t5", "the cat", "the  cat")],
    ids=["letter case", "white space"],
)
@pytest.mark.parametrize("token_budget", [1, 30, 1_000])
def test_texts_that_are_one_to_the_tokenizer_tie_exactly(
    *, name: str, high: str, low: str, token_budget: int, loaded: Callable[[str], LoadedModel]
) -> None:
    # Other candidates of the same length stand between them, so batches would part them.
    data = pairs(("dog", high, "the dog"), ("dog", "in cat", "the in"), ("dog", high, low))
    found = score_pairs(data, Engine(loaded(name), token_budget=token_budget), DEFAULT)
    assert found["ll_high"][2] == found["ll_low"][2]
    assert (found["tie"][2], found["passed"][2]) == (True, False)


def test_no_tokens_are_scored_twice(loaded: Callable[[str], LoadedModel]) -> None:
    data = pairs(("dog", "the cat", "the  cat"), ("dog", "the cat", "in"))
    seen: list[int] = []
    hook = loaded("t5").model.register_forward_pre_hook(
        lambda _, __, given: seen.append(len(given["input_ids"])), with_kwargs=True
    )
    try:
        score_pairs(data, Engine(loaded("t5"), path="plain"), DEFAULT)
    finally:
        hook.remove()
    # Of four candidates, two of the same tokens: proven both ways, then scored; and both measured
    # in two precisions.
    assert sum(seen) == 2 + 2 + 2 + 2 * 2


# What comes out


def test_rows_stand_in_the_order_of_the_pairs() -> None:
    data = pairs(("c", "b", "a"), ("d", "a", "b"), ("c", "a", "b"), pair_id=["p3", "p1", "p2"])
    found = score_pairs(data, named(a=-1.0, b=-2.0), DEFAULT)
    assert found["pair_id"].to_list() == ["p3", "p1", "p2"]
    assert found["ll_high"].to_list() == [-2.0, -1.0, -1.0]
    assert found["ll_low"].to_list() == [-1.0, -2.0, -2.0]


def test_columns_are_the_stored_ones() -> None:
    data = pairs(("c", "a", "b"), margin=[0.5], error_category=["rude"])
    found = score_pairs(data, named(a=-1.0, b=-2.0), DEFAULT)
    assert found.schema == SCORED_SCHEMA  # nothing of the texts, and `margin` is not kept
    assert found["error_category"].to_list() == ["rude"]
    assert found["aspect"].to_list() == [None]


def test_tokens_and_cuts_are_those_of_the_scorer() -> None:
    data = pairs(("long", "one two three", "one"), ("c", "one", "one two"))
    found = score_pairs(data, answers(lambda _: 0.0), DEFAULT)
    assert found["tokens_high"].to_list() == [3, 1]
    assert found["tokens_low"].to_list() == [1, 2]
    assert found["truncated"].to_list() == [True, False]


def test_no_pairs_give_no_rows(loaded: Callable[[str], LoadedModel]) -> None:
    texts = pl.DataFrame(schema=dict.fromkeys(("context", "candidate_high", "candidate_low"), str))
    found = score_pairs(load_pairs(texts), Engine(loaded("gpt2")), DEFAULT)
    assert found.height == 0
    assert found.schema == SCORED_SCHEMA


# What the scorer is asked


def test_the_scorer_is_asked_for_both_candidates_of_each_context() -> None:
    found = asked(pairs(("c", "a", "b"), ("d", "x", "y")), DEFAULT)
    assert sorted(found) == [("c", "a"), ("c", "b"), ("d", "x"), ("d", "y")]


def test_a_templates_prefix_stands_before_every_candidate() -> None:
    data = pairs(("stored", "Yes", "No"), inputs=[{"question": "Why?"}])
    context = ("$answer$ ; $question$ = ", "Why?")
    assert asked(data, TEMPLATES["macaw"]) == [
        (context, "$answer$ = Yes"),
        (context, "$answer$ = No"),
    ]


def test_a_prefix_is_scored_with_its_candidate(tiny: Callable[[str], Family]) -> None:
    t5 = tiny("t5")
    data = pairs(("stored", "the cat", "a dog"), inputs=[{"question": "Who?"}])
    found = score_pairs(data, Engine(wrap_model(t5.model, t5.tokenizer)), TEMPLATES["macaw"])
    # All its tokens and the end's.
    assert found["tokens_high"].item() == len(t5.text_ids("$answer$ = the cat")) + 1


@pytest.mark.parametrize(
    "inputs",
    [{"question": "Why?"}, [{"key": "question", "value": "Why?"}]],
    ids=["an object", "entries, as stored"],
)
def test_parts_are_read_as_an_object_and_as_stored(inputs: Any) -> None:
    data = pairs(("stored", "Yes", "No"), inputs=[inputs])
    (context, _), *_ = asked(data, find_template("Q: {question}"))
    assert "".join(context) == "Q: Why?"


def test_a_part_that_is_null_is_no_part() -> None:
    # A table of objects gives each the keys of all; the second has no answer of its own.
    rows = [{"question": "Who?", "answer": "me"}, {"question": "Why?"}]
    data = pairs(("stored", "a", "b"), ("stored", "a", "b"), inputs=rows)
    assert data.pairs["inputs"].to_list()[1] == {"question": "Why?", "answer": None}
    with refusal("template.placeholder", 'template "{answer} {question}"'):
        asked(data, find_template("{answer} {question}"))


def test_pairs_without_inputs_have_their_context() -> None:
    (context, _), *_ = asked(pairs(("stored", "a", "b")), find_template("Read: {context}"))
    assert "".join(context) == "Read: stored"


# Any callable


def test_a_scorer_that_forgets_requests_is_told() -> None:
    def half(requests: Sequence[Request]) -> Likelihoods:
        return answers(lambda _: 0.0)(requests[: len(requests) // 2])

    with refusal("scorer.values"):
        score_pairs(pairs(("c", "a", "b"), ("d", "a", "b")), half, DEFAULT)


# The surface of the texts


def test_lengths_and_copied_shares_are_kept() -> None:
    data = pairs(("a cat sat", "a cat ran", "cat"), ("a cat sat", "sat a cat", "no dog 🍰"))
    found = score_pairs(data, answers(lambda _: 0.0), DEFAULT)
    assert found["characters_high"].to_list() == [9, 9]
    assert found["characters_low"].to_list() == [3, 8]
    assert found["copied_high"].to_list() == [0.5, 0.5]
    assert found["copied_low"].to_list() == [None, 0]
    assert found.select(*ALONE_SCHEMA).null_count().row(0) == (2, 2)


# Without contexts


def test_candidates_alone_are_asked_for_with_no_context() -> None:
    seen: list[Request] = []

    def scorer(requests: Sequence[Request]) -> Likelihoods:
        seen.extend(requests)
        return answers(lambda request: -float(len(request[1])))(requests)

    found = with_baseline(pairs(("c", "ab", "abc"), ("d", "x", "xyz")), scorer, DEFAULT)
    assert seen[4:] == [(None, "ab"), (None, "x"), (None, "abc"), (None, "xyz")]
    assert alone(found) == [(-2, -3), (-1, -3)]
    assert found.pairs.schema == SCORED_SCHEMA
    assert found.no_baseline is None


def test_what_stands_before_candidates_stays() -> None:
    data = pairs(("stored", "Yes", "No"), inputs=[{"question": "Why?"}])
    found = asked(data, TEMPLATES["macaw"], with_baseline)
    assert found[2:] == [(None, "$answer$ = Yes"), (None, "$answer$ = No")]


def test_alone_an_undefined_likelihood_is_null() -> None:
    found = with_baseline(pairs(("c", "a", "b")), named(a=math.nan, b=-1.0), DEFAULT)
    assert alone(found) == [(None, -1)]


@pytest.mark.parametrize("name", ["gpt2", "llama", "bart", "t5"])
def test_a_model_scores_candidates_alone(name: str, loaded: Callable[[str], LoadedModel]) -> None:
    engine = Engine(loaded(name))
    with_contexts = pairs(("the river", "the cat", "a dog"), ("London", "the cat", "in Paris"))
    without = pairs(("", "the cat", "a dog"), ("", "the cat", "in Paris"))
    found = with_baseline(with_contexts, engine, DEFAULT).pairs
    expected = score_pairs(without, engine, DEFAULT)
    assert found["ll_alone_high"].to_list() == pytest.approx(expected["ll_high"].to_list())
    assert found["ll_alone_low"].to_list() == pytest.approx(expected["ll_low"].to_list())
    assert found["ll_alone_high"][0] == found["ll_alone_high"][1]  # whatever the context was


def test_a_scorer_that_needs_a_context_leaves_nulls_and_a_reason() -> None:
    error = ScoringError("model.tokenizer", "a context is empty", "mine")

    def needy(requests: Sequence[Request]) -> Likelihoods:
        if any(context is None for context, _ in requests):
            raise error
        return answers(lambda _: 0.0)(requests)

    found = with_baseline(pairs(("c", "a", "b"), ("c", "a", "d")), needy, DEFAULT)
    assert alone(found) == [(None, None)] * 2
    assert found.pairs["ll_high"].to_list() == [0, 0]
    assert found.no_baseline == str(error)


# Errors name the pair


@pytest.mark.parametrize("side", ["high", "low"])
@pytest.mark.parametrize("name", ["gpt2", "bart"])
def test_a_candidate_longer_than_the_window_is_found_by_its_pair(
    name: str, side: str, fresh: Callable[..., Family]
) -> None:
    family = fresh(name, window=24)
    zebra = "zebra " + "." * 40
    candidates = {"high": ("x", zebra, "ok"), "low": ("x", "ok", zebra)}[side]
    data = pairs(("x", "a", "b"), candidates, ("y", "a", "b"), pair_id=["p0", "p1", "p2"])
    engine = Engine(wrap_model(family.model, family.tokenizer, name="mine"))
    # A zebra, a space, 40 dots and what the family puts around it.
    with refusal("candidate.too-long", "pair p1: mine"):
        score_pairs(data, engine, DEFAULT)


def test_a_very_long_candidate_is_shown_in_part(fresh: Callable[..., Family]) -> None:
    family = fresh("gpt2", window=24)
    data = pairs(("x", "zebra " * 500, "ok"))
    with refusal("candidate.too-long") as caught:
        score_pairs(data, Engine(wrap_model(family.model, family.tokenizer)), DEFAULT)
    assert f'"{("zebra " * 500)[:60]}…"' in caught.value.what
    assert len(str(caught.value)) < 300


def test_a_prefixed_candidate_is_found_by_its_pair_too(fresh: Callable[..., Family]) -> None:
    family = fresh("gpt2", window=40)
    rows = [{"question": "Who?"}, {"question": "Why?"}]
    data = pairs(("x", "a", "b"), ("x", "a", "." * 50), inputs=rows, pair_id=["p0", "p1"])
    engine = Engine(wrap_model(family.model, family.tokenizer))
    with refusal("candidate.too-long", "pair p1: GPT2LMHeadModel"):
        score_pairs(data, engine, TEMPLATES["macaw"])
