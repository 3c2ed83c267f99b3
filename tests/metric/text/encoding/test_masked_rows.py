"""Masked models: the rows of a request, and their numbers beside minicons and a literal loop."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from support.models.masked_models import (
    CANDIDATES,
    CONTEXT,
    FAMILIES,
    WINDOW,
    build_masked,
)
from support.refusals import refusal

from nnd.metric.likelihood import Engine, LoadedModel, Store, load_model, wrap_model
from nnd.metric.likelihood.engine.proof import score_alone
from nnd.metric.text import Encoded, PairContext, find_protocol
from nnd.metric.text.encoding.masked_rows import encode_masked
from nnd.schemas import CandidateError

GOLDEN = json.loads((Path(__file__).parents[2] / "likelihood" / "minicons.json").read_text())
REQUESTS = [(CONTEXT, candidate) for candidate in CANDIDATES]
NATS = 1e-5
PROTOCOLS = ("pll", "pll-original")


@cache
def masked(name: str) -> LoadedModel:
    return wrap_model(*build_masked(name), name=name)


def rows_of(name: str, protocol: str, context: Any, candidate: str) -> tuple[Encoded, ...]:
    (rows,) = encode_masked(masked(name), find_protocol(protocol), [(context, candidate)])
    return rows


@pytest.mark.sampled(3)
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", FAMILIES)
def test_every_token_has_the_number_of_minicons(name: str, protocol: str) -> None:
    golden = GOLDEN["log_probabilities"][name][protocol]
    rows = encode_masked(masked(name), find_protocol(protocol), REQUESTS)
    with torch.inference_mode():
        found = [[score_alone(masked(name), row) for row in own] for own in rows]
    assert [len(own) for own in found] == [len(own) for own in golden]
    assert np.concatenate(found) == pytest.approx(np.concatenate(golden), abs=NATS)
    result = Engine(masked(name), protocol=protocol)(REQUESTS)
    assert result.log_likelihood == pytest.approx([np.mean(own) for own in golden], abs=NATS)
    assert result.tokens.tolist() == [len(own) for own in golden]
    assert (result.work.path, result.work.switched_off) == ("plain", ())


def test_a_candidate_without_a_context_is_a_text_of_its_own() -> None:
    loaded = masked("roberta")
    (rows,) = encode_masked(loaded, find_protocol("pll-original"), [("", "in")])
    whole = tuple(loaded.tokenizer("in")["input_ids"])
    assert [(row.context + row.inputs, row.targets) for row in rows] == [
        ((*whole[:at], 4, *whole[at + 1 :]), whole[1:]) for at in range(1, len(whole) - 1)
    ]
    assert Engine(loaded, protocol="pll")([(None, "in")]).log_likelihood == pytest.approx(
        Engine(loaded, protocol="pll")([("", "in")]).log_likelihood, abs=0
    )


def looped(name: str, first: str, second: str, *, whole_word: bool) -> list[float]:
    """Return log P of each token of the second text of a pair: a pass for each masked copy."""
    model, tokenizer = masked(name).model, masked(name).tokenizer
    encoded = tokenizer(first, second, return_tensors="pt", return_token_type_ids=True)
    ids, segments = encoded["input_ids"][0], encoded["token_type_ids"]
    places = [at for at, text in enumerate(encoded.sequence_ids()) if text == 1]
    words = encoded.word_ids()
    values = []
    for at in places:
        copy = ids.clone()
        for later in places:
            if later == at or (whole_word and later > at and words[later] == words[at]):
                copy[later] = tokenizer.mask_token_id
        options = {"token_type_ids": segments} if segments.any() else {}
        with torch.inference_mode():
            logits = model(input_ids=copy[None], **options).logits[0, at]
        values.append(float(logits.log_softmax(-1)[ids[at]]))
    return values


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", FAMILIES)
def test_a_pair_has_the_numbers_of_a_loop_over_its_masked_copies(name: str, protocol: str) -> None:
    requests = [(PairContext(("", CONTEXT)), candidate) for candidate in CANDIDATES]
    found = Engine(masked(name), protocol=protocol)(requests)
    expected = [
        looped(name, CONTEXT, candidate, whole_word=protocol == "pll") for candidate in CANDIDATES
    ]
    assert found.tokens.tolist() == [len(own) for own in expected]
    assert found.log_likelihood == pytest.approx([np.mean(own) for own in expected], abs=NATS)


def test_segments_are_those_of_the_tokenizer() -> None:
    # [CLS] first [SEP] second [SEP]: BERT and ALBERT mark the second text, the others have no mark.
    marks = {name: rows_of(name, "pll", PairContext(("", "cat")), "dog")[0] for name in FAMILIES}
    read = {name: [*row.segments] for name, row in marks.items()}
    assert (read["roberta"], read["modernbert"]) == ([], [])
    for name in ("bert", "albert"):
        first, second = len(marks[name].context), len(marks[name].inputs)
        assert read[name] == [0] * first + [1] * second


def test_what_is_hidden() -> None:
    # "on unly": BERT reads on, un, ##ly; un is hidden with ##ly, and ##ly alone.
    tokenizer = masked("bert").tokenizer
    rows = rows_of("bert", "pll", "the cat", "on unly")
    assert [" ".join(tokenizer.convert_ids_to_tokens(row.inputs)) for row in rows] == [
        "[MASK] un ##ly [SEP]",
        "on [MASK] [MASK] [SEP]",
        "on un [MASK] [SEP]",
    ]
    assert {row.context for row in rows} == {tuple(tokenizer("the cat")["input_ids"][:-1])}
    assert [row.scored for row in rows] == [
        (True, False, False, False),
        (False, True, False, False),
        (False, False, True, False),
    ]
    original = rows_of("bert", "pll-original", "the cat", "on unly")[1]
    assert tokenizer.convert_ids_to_tokens(original.inputs) == ["on", "[MASK]", "##ly", "[SEP]"]


def test_batches_and_the_store_change_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path / "store", warn=print)
    small = Engine(masked("albert"), protocol="pll", token_budget=1)(REQUESTS)
    engine = Engine(masked("albert"), protocol="pll", store=store)
    first, again = engine(REQUESTS), engine(REQUESTS)
    assert small.log_likelihood == pytest.approx(first.log_likelihood, abs=NATS)
    assert again.log_likelihood.tolist() == first.log_likelihood.tolist()
    rows = {
        row
        for own in encode_masked(masked("albert"), find_protocol("pll"), REQUESTS)
        for row in own
    }
    assert (first.work.stored, again.work.stored) == (0, len(rows))
    # A pair is not the same text as one with its tokens in one segment.
    as_text = [((f"{CONTEXT}", "", "[SEP]"), "dog")]
    values = (
        engine(as_text).log_likelihood,
        engine([(PairContext(("", CONTEXT)), "dog")]).log_likelihood,
    )
    assert values[0] != values[1]


def test_a_long_context_loses_its_beginning() -> None:
    for name in FAMILIES:
        # RoBERTa's positions count from that of padding, so two of them are lost.
        window = masked(name).decoder_window
        assert window == (WINDOW - 2 if name == "roberta" else WINDOW)
        rows = rows_of(name, "pll", f"{CONTEXT} " * 9, "the river")
        assert {(row.truncated, row.length) for row in rows} == {(True, window)}
        assert Engine(masked(name), protocol="pll")([(f"{CONTEXT} " * 9, "the river")]).truncated
        with pytest.raises(CandidateError, match=rf'^{name}: the candidate ".*" takes'):
            rows_of(name, "pll", "a", "the river " * 99)


def test_a_masked_model_is_known_by_its_class(tmp_path: Path) -> None:
    for name in FAMILIES:
        masked(name).model.save_pretrained(tmp_path / name)
        masked(name).tokenizer.save_pretrained(tmp_path / name)
        read = load_model(tmp_path / name)
        assert read.is_masked
        found = Engine(read, protocol="pll")(REQUESTS).log_likelihood
        assert found == pytest.approx(Engine(masked(name), protocol="pll")(REQUESTS).log_likelihood)


def test_protocols_are_refused_by_models_of_another_kind(
    loaded: Callable[[str], LoadedModel],
) -> None:
    for name, protocol in ("bert", "native"), ("gpt2", "pll"), ("bart", "pll-original"):
        model = masked(name) if name in FAMILIES else loaded(name)
        with refusal("protocol.another-model", name):
            Engine(model, protocol=protocol)(REQUESTS)


def test_a_tokenizer_without_words_or_mask_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = masked("bert").tokenizer
    monkeypatch.setattr(type(tokenizer), "is_fast", property(lambda _: False))
    with refusal("model.tokenizer"):
        rows_of("bert", "pll", "the cat", "dog")
    monkeypatch.undo()
    monkeypatch.setattr(tokenizer, "_special_tokens_map", {})
    with refusal("model.tokenizer", "bert"):
        rows_of("bert", "pll", "the cat", "dog")
