"""Packed rows at their edges: long ones, windows, and the model afterwards."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import transformers as hf
from support import oracle
from support.engine.cases import LONG, REQUESTS, Fresh, assert_same, ids, run
from support.tiny_models import SENTENCES, Family

from nnd.metric.likelihood.engine.paths import paths_of
from nnd.metric.likelihood.models.load_model import wrap_model

WORDS = " ".join(SENTENCES).split()
# 60 candidates of 1 to 11 words: several times the 256 queries of a block, in each context.
MANY = [" ".join(WORDS[start : start + 1 + start % 11]) for start in range(60)]
SEVERAL = [LONG, "Who wrote the book?", "the"]


def packed(family: Family, requests: list[tuple[str, str]]) -> None:
    found = run(family, "native", requests, path="packed", token_budget=100_000)
    assert found.work.path == "packed"
    assert_same(found, oracle.scores(family, "native", requests))


def tokens(family: Family, texts: list[str]) -> int:
    return sum(len(family.target_ids(text)) for text in texts)


# A common beginning of all contexts


@pytest.mark.parametrize("name", ["gpt2", "llama", "mistral", "gemma2", "qwen2"])
def test_a_common_beginning_is_read_once(name: str, fresh: Fresh) -> None:
    family = fresh(name, window=700)
    prompt = " ".join(SENTENCES * 2)
    contexts = [f"{prompt} {text}" for text in (LONG, "Who wrote the book?", "the cat", "in")]
    requests = [(context, text) for context in contexts for text in ("the river", "a dog", LONG)]
    requests += [("", "the river"), ("the", "cat")]  # as the baseline
    found = run(family, "native", requests, token_budget=100_000)
    assert (found.work.path, found.work.switched_off) == ("packed", ())
    rows = ids(family, "native", requests)
    read = sum(len(row.inputs) for row in rows) + sum(map(len, {row.context for row in rows}))
    shared = (read - found.work.tokens) / 3  # by four contexts
    assert 64 < tokens(family, [prompt]) - 10 < shared < tokens(family, [prompt]) + 10
    assert_same(found, oracle.scores(family, "native", requests))


# Long rows


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["gpt2", "llama", "mistral", "opt", "t5", "bart", "marian"])
def test_more_candidates_than_a_block_has_queries(name: str, fresh: Fresh) -> None:
    family = fresh(name)
    assert tokens(family, MANY) > 2 * 256
    # Candidate by candidate, so that those of one context do not stand together as they come.
    packed(family, [(context, candidate) for candidate in MANY for context in SEVERAL])


@pytest.mark.parametrize("name", ["gpt2", "mistral", "bart"])
def test_a_candidate_longer_than_a_block(name: str, fresh: Fresh) -> None:
    family = fresh(name, window=700)
    longest = " ".join(SENTENCES[number % 5] for number in range(12))
    assert tokens(family, [longest]) > 256
    packed(family, [("the", longest), ("the", "cat"), (LONG, f"{longest} cat"), (LONG, "cat")])


def test_contexts_beyond_t5s_largest_distance(fresh: Fresh) -> None:
    family = fresh("t5")
    beyond = 128  # the largest distance of real T5s; the tiny one's is 20
    for stack in (family.model.config, family.model.encoder.config, family.model.decoder.config):
        stack.relative_attention_max_distance = beyond
    for module in family.model.modules():
        if hasattr(module, "relative_attention_max_distance"):
            module.relative_attention_max_distance = beyond
    long = " ".join(SENTENCES * 2)
    assert tokens(family, [long]) > 2 * beyond
    requests = [(long, " ".join(SENTENCES * 2)), (long, "the cat"), (LONG, "the cat"), ("the", "a")]
    packed(family, requests)


@pytest.mark.parametrize("sliding", [1, 2, 8, 30, 60])
def test_windows_shorter_than_contexts_and_candidates(sliding: int, fresh: Fresh) -> None:
    family = fresh("mistral")
    family.model.config.sliding_window = sliding
    assert tokens(family, [LONG]) >= 60
    longest = "A fox, printed in London in 1884; the river and the hill."
    packed(family, [(LONG, longest), (LONG, "the"), ("the", longest), ("the", "cat"), (LONG, "in")])


def test_a_window_is_seen_in_the_numbers(fresh: Fresh) -> None:
    """Else the test above would pass with a window that nothing reads."""
    family, whole = fresh("mistral"), fresh("mistral")
    whole.model.config.sliding_window = 10_000
    found = [
        run(each, "native", [(LONG, "the town")], path="packed").log_likelihood[0]
        for each in (family, whole)
    ]
    assert abs(found[0] - found[1]) > 0.01


@pytest.mark.parametrize("key_heads", [1, 2, 4])
@pytest.mark.parametrize("name", ["llama", "qwen2"])
def test_key_heads_shared_by_query_heads(name: str, key_heads: int, fresh: Fresh) -> None:
    family = fresh(name)
    config = family.model.config
    config.num_key_value_heads = key_heads
    with torch.random.fork_rng():
        torch.manual_seed(3)
        model = type(family.model)(config).eval()
        for weight in model.parameters():
            if weight.dim() > 1:
                torch.nn.init.normal_(weight, std=1.8 * weight.shape[-1] ** -0.5)
    object.__setattr__(family, "model", model)
    packed(family, REQUESTS)


# The model, handed back


def state(model: Any) -> list[object]:
    """Everything that a path may have changed about a model, module by module."""
    return [
        (
            name,
            module.training,
            module.__dict__.get("forward"),
            sorted(key for key in vars(module) if not key.startswith("__")),
            [len(hooks) for key, hooks in sorted(vars(module).items()) if key.endswith("_hooks")],
            getattr(getattr(module, "config", None), "_attn_implementation", None),
        )
        for name, module in model.named_modules()
    ]


def crash(model: Any, after: int) -> Callable[[], None]:
    """Let the last linear layer of a model's trunk fail once it was called `after` times."""
    calls: list[int] = []

    def hook(*_: object) -> None:
        calls.append(1)
        if len(calls) > after:
            message = "the third rail"
            raise ValueError(message)

    layers = [m for m in model.get_decoder().modules() if isinstance(m, torch.nn.LayerNorm)]
    return layers[-1].register_forward_hook(hook).remove


@pytest.mark.sampled(2)
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("name", ["gpt2", "opt", "t5", "bart", "bloom", "xglm", "prophetnet"])
def test_a_model_is_handed_back_exactly(*, name: str, training: bool, fresh: Fresh) -> None:
    family = fresh(name)
    family.model.train(training)
    next(family.model.children()).train(not training)  # users freeze parts
    before = state(family.model)
    run(family, "native", REQUESTS)
    assert state(family.model) == before


@pytest.mark.parametrize("after", [0, 1, 4])  # at once, in the proof, in the run
@pytest.mark.parametrize("name", ["gpt2", "bart"])
def test_a_model_is_handed_back_exactly_after_a_failure(
    name: str, after: int, fresh: Fresh
) -> None:
    family = fresh(name)
    remove = crash(family.model, after)
    family.model.train()
    before = state(family.model)
    with pytest.raises(ValueError, match=r"third rail"):
        run(family, "native", REQUESTS, token_budget=150)
    assert state(family.model) == before
    remove()
    assert_same(run(family, "native", REQUESTS), oracle.scores(family, "native", REQUESTS))


def test_a_forward_of_the_users_own_is_handed_back(fresh: Fresh) -> None:
    """accelerate puts one on every module that it moves between devices."""
    family = fresh("gpt2")
    activation = family.model.transformer.h[0].mlp.act
    assert type(activation).__name__ == "NewGELUActivation"
    own = type(activation).forward.__get__(activation)
    activation.forward = own
    run(family, "native", REQUESTS)
    assert activation.__dict__.get("forward") == own


@pytest.mark.sampled(2)
@pytest.mark.parametrize("implementation", ["eager", "sdpa"])
@pytest.mark.parametrize("name", ["gpt2", "mistral", "t5", "bart"])
def test_the_users_own_attention_is_handed_back(
    name: str, implementation: str, fresh: Fresh
) -> None:
    family = fresh(name)
    family.model.set_attn_implementation(implementation)
    packed(family, REQUESTS)
    parts = [part for part in family.model.modules() if isinstance(part, hf.PreTrainedModel)]
    assert {part.config._attn_implementation for part in parts} == {implementation}
    assert_same(
        run(family, "native", REQUESTS, path="plain"), oracle.scores(family, "native", REQUESTS)
    )


@pytest.mark.parametrize("name", ["gpt2", "bart"])
def test_interrupted_between_two_batches_a_model_is_handed_back(name: str, fresh: Fresh) -> None:
    family = fresh(name)
    loaded = wrap_model(family.model, family.tokenizer, name=name)
    before = state(family.model)
    opened = paths_of(loaded)[0].open(loaded)
    opened.__enter__()
    assert state(family.model) != before
    assert not opened.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert state(family.model) == before
