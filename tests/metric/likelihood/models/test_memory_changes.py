"""A model changed in memory: right numbers, whatever the store has, and a word on it."""

import copy
import functools
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch
from support.models.adapted import adapted, lora
from support.tiny_models import Family
from torch.nn.utils import parametrize, prune
from transformers import AutoModelForCausalLM
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
from transformers.models.cohere import modeling_cohere
from transformers.models.llama import modeling_llama

from nnd.metric.likelihood import LoadedModel, Scoring, changed_libraries, replaced, wrap_model
from nnd.metric.likelihood.models.memory_changes import MemoryChanges
from nnd.metric.run import Evaluation, evaluate

Tiny = Callable[[str], Family]
Change = Callable[[Any], AbstractContextManager[None] | None]

PAIRS = [
    {"context": "Who wrote the book?", "candidate_high": "the cat", "candidate_low": "a dog"},
    {"context": "The river", "candidate_high": "is in London", "candidate_low": "ran over 1884"},
]


def numbers(found: Evaluation) -> list[float]:
    return [value for row in found.scored.select("ll_high", "ll_low").rows() for value in row]


def oracle(loaded: LoadedModel) -> list[float]:
    """One plain forward pass for each candidate, of the model as it is now."""
    found = []
    for pair in PAIRS:
        for side in ("candidate_high", "candidate_low"):
            context = loaded.tokenizer(pair["context"]).input_ids
            text = loaded.tokenizer(f" {pair[side]}", add_special_tokens=False).input_ids
            with torch.no_grad():
                logits = loaded.model(torch.tensor([context + text])).logits[0].double()
            chosen = logits.log_softmax(-1)[len(context) - 1 : -1]
            found.append(float(chosen[range(len(text)), text].mean()))
    return found


@pytest.fixture
def loaded(tiny: Tiny) -> LoadedModel:
    llama = tiny("llama")
    return wrap_model(copy.deepcopy(llama.model), llama.tokenizer, name="it")


# What runs code of one's own


def layer(model: Any) -> Any:
    return model.model.layers[0]


def halve(_: Any, __: Any, output: Any) -> Any:
    return output * 0.5


def add_hook(model: Any) -> None:
    layer(model).mlp.register_forward_hook(halve)


def add_pre_hook(model: Any) -> None:
    layer(model).mlp.register_forward_pre_hook(lambda _, given: (given[0] * 0.5,))


def add_hook_of_torch(model: Any) -> None:
    """A function in C, which only its arguments tell from another."""
    hook = functools.partial(torch.clamp, max=0.1)
    layer(model).mlp.register_forward_pre_hook(lambda _, given: hook(given[0]))


def replace_method(model: Any) -> None:
    mlp = layer(model).mlp
    mlp.forward = types.MethodType(lambda self, x: self.down_proj(self.up_proj(x)), mlp)


def borrow_method(model: Any) -> None:
    """A method of the library, but of another layer."""
    model.model.layers[1].mlp.forward = layer(model).mlp.forward


class Half:
    """An object that is called as a method is."""

    def __init__(self, forward: Any) -> None:
        self.forward = forward

    def __call__(self, *given: Any) -> Any:
        return self.forward(*given) * 0.5


def replace_by_object(model: Any) -> None:
    mlp = layer(model).mlp
    mlp.forward = Half(mlp.forward)


def hide_behind_a_decorator(model: Any) -> None:
    mlp = layer(model).mlp
    forward = mlp.forward
    mlp.forward = torch.no_grad()(lambda x: forward(x) * 0.5)


class Doubled(torch.nn.Linear):
    def forward(self, given: torch.Tensor) -> torch.Tensor:
        return 2 * super().forward(given)


def replace_class(model: Any) -> None:
    model.lm_head.__class__ = Doubled


class Small(torch.nn.Module):
    def forward(self, weights: torch.Tensor) -> torch.Tensor:
        return weights * 0.5


def parametrise(model: Any) -> None:
    parametrize.register_parametrization(model.lm_head, "weight", Small())


def half_mlp(self: Any, x: torch.Tensor) -> torch.Tensor:
    return self.down_proj(self.up_proj(x)) * 0.5


def patch_class(_: Any) -> AbstractContextManager[None]:
    return replaced(modeling_llama.LlamaMLP, forward=half_mlp)


def patch_with_another(_: Any) -> AbstractContextManager[None]:
    """Both are methods of transformers; Cohere adds what attention and MLP say of one input."""
    other = modeling_cohere.CohereDecoderLayer.forward
    return replaced(modeling_llama.LlamaDecoderLayer, forward=other)


def patch_function(_: Any) -> AbstractContextManager[None]:
    def unturned(q: Any, k: Any, *_: Any, **__: Any) -> tuple[Any, Any]:
        return q, k

    return replaced(modeling_llama, apply_rotary_pos_emb=unturned)


@contextmanager
def _attention(forward: Any) -> Iterator[None]:
    before = ALL_ATTENTION_FUNCTIONS["sdpa"]
    ALL_ATTENTION_FUNCTIONS["sdpa"] = forward
    try:
        yield
    finally:
        ALL_ATTENTION_FUNCTIONS["sdpa"] = before


def patch_attention(_: Any) -> AbstractContextManager[None]:
    before = ALL_ATTENTION_FUNCTIONS["sdpa"]

    def flat(*given: Any, **options: Any) -> Any:
        return before(*given, **options | {"scaling": 0.01})

    return _attention(flat)


@contextmanager
def _handled(handle: Any) -> Iterator[None]:
    try:
        yield
    finally:
        handle.remove()


def hook_all(_: Any) -> AbstractContextManager[None]:
    def hook(module: Any, _: Any, output: Any) -> Any:
        return output * 0.5 if isinstance(module, modeling_llama.LlamaMLP) else None

    return _handled(torch.nn.modules.module.register_module_forward_hook(hook))


def autocast(_: Any) -> AbstractContextManager[Any]:
    return torch.autocast("cpu", torch.bfloat16)


class Rounding(torch.overrides.TorchFunctionMode):
    def __torch_function__(
        self, function: Any, _: Any, given: Any = (), options: Any = None
    ) -> Any:
        found = function(*given, **options or {})
        return found * 0.9 if function is torch.nn.functional.silu else found


def mode(_: Any) -> AbstractContextManager[Any]:
    return Rounding()


CODE: tuple[Change, ...] = (
    *(add_hook, add_pre_hook, add_hook_of_torch, replace_method, borrow_method),
    *(replace_by_object, hide_behind_a_decorator, replace_class, parametrise, patch_class),
    *(patch_with_another, patch_function, patch_attention, hook_all, autocast, mode),
)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("change", CODE)
def test_code_of_ones_own_is_neither_stored_nor_looked_up(
    change: Change, loaded: LoadedModel
) -> None:
    before = evaluate(loaded, PAIRS)
    with change(loaded.model) or nullcontext():
        found = [evaluate(loaded, PAIRS) for _ in range(2)]
        right = numbers(evaluate(loaded, PAIRS, scoring=Scoring(cache=False)))
        expected = oracle(loaded)
    for each in found:
        (result,) = each.results
        assert (
            numbers(each)
            == right
            == pytest.approx(expected, abs=0.05 if change is autocast else 1e-4)
        )
        assert numbers(each) != pytest.approx(numbers(before), abs=1e-4)
        assert result.work.stored == 0
        assert any("neither stored nor looked up" in note for note in result.notes)
        assert result.version != before.results[0].version


@pytest.mark.parametrize("change", [patch_class, patch_function, hook_all])
def test_a_stored_result_is_not_taken_where_libraries_are_changed(
    change: Change, saved: Callable[[str], Path]
) -> None:
    before = evaluate(str(saved("llama")), PAIRS)
    with change(None) or nullcontext():
        after = evaluate(str(saved("llama")), PAIRS)
    assert numbers(after) != pytest.approx(numbers(before), abs=1e-4)
    assert numbers(evaluate(str(saved("llama")), PAIRS)) == numbers(before)


# What can be described


def scale_attention(model: Any) -> None:
    layer(model).self_attn.scaling = 0.01


def turn_otherwise(model: Any) -> None:
    model.model.rotary_emb.inv_freq.mul_(0.5)


def round_frequencies(model: Any) -> None:
    """What `.bfloat16().float()` leaves: weights are hashed, buffers of no file are not."""
    rotary = model.model.rotary_emb
    rotary.inv_freq = rotary.inv_freq.mul(8).to(torch.bfloat16).float()


def another_head(model: Any) -> None:
    head = model.lm_head
    model.lm_head = torch.nn.Sequential(head, torch.nn.Tanh())


def drop_layer(model: Any) -> None:
    del model.model.layers[1]


def another_epsilon(model: Any) -> None:
    model.model.norm.variance_epsilon = 3.0


def another_activation(model: Any) -> None:
    layer(model).mlp.act_fn = torch.nn.ReLU()


def prune_head(model: Any) -> None:
    prune.l1_unstructured(model.lm_head, "weight", amount=0.5)


def edit_config(model: Any) -> None:
    """Read by no forward pass after loading, but nobody can know."""
    model.config.rms_norm_eps = 0.5


def own_config(model: Any) -> None:
    attention = layer(model).self_attn
    attention.config = copy.deepcopy(attention.config)
    attention.config.attention_bias = True


STATE: tuple[Change, ...] = (
    *(scale_attention, turn_otherwise, round_frequencies, another_head, drop_layer),
    *(another_epsilon, another_activation, prune_head, edit_config, own_config),
)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("change", STATE)
def test_what_can_be_described_is_a_model_of_its_own(change: Change, loaded: LoadedModel) -> None:
    before = evaluate(loaded, PAIRS)
    with torch.no_grad():
        change(loaded.model)
    first, second = (evaluate(loaded, PAIRS) for _ in range(2))
    assert numbers(first) == pytest.approx(oracle(loaded), abs=1e-4)
    (one,), (other,) = first.results, second.results
    assert one.work.stored == 0
    assert other.work.stored == one.work.requests
    assert numbers(second) == numbers(first)
    assert before.results[0].version != one.version == other.version
    assert any(note.startswith("the model was changed in memory: ") for note in one.notes)


def test_a_change_that_is_undone_leaves_the_model_it_was(loaded: LoadedModel) -> None:
    before = evaluate(loaded, PAIRS)
    handle = layer(loaded.model).mlp.register_forward_hook(halve)
    attention = layer(loaded.model).self_attn
    scaling, attention.scaling = attention.scaling, 0.01
    evaluate(loaded, PAIRS)
    handle.remove()
    attention.scaling = scaling
    after = evaluate(loaded, PAIRS)
    assert after.results[0].work.tokens == 0
    assert after.results[0].version == before.results[0].version


def test_the_sentence_names_the_first_change(loaded: LoadedModel) -> None:
    scale_attention(loaded.model)
    (sentence,) = loaded.changes().sentences()
    assert sentence.startswith(
        "the model was changed in memory: model.layers.0.self_attn.scaling is 0.01, and not 0."
    )


# What is a usual model


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize(
    "name",
    ["gpt2", "llama", "gemma2", "qwen2", "opt", "bloom", "mamba", "xglm", "t5", "bart", "mbart50"],
)
def test_models_of_transformers_are_unchanged(
    name: str, dtype: str, tiny: Tiny, saved: Callable[[str], Path]
) -> None:
    kind = type(tiny(name).model)
    assert not wrap_model(tiny(name).model, tiny(name).tokenizer).changes()
    model = kind.from_pretrained(saved(name), dtype=dtype)
    assert wrap_model(model, tiny(name).tokenizer).changes() == MemoryChanges()
    assert changed_libraries() == []


def compile_in_place(model: Any) -> Any:
    model.compile()
    return model


def spread(model: Any) -> Any:
    from accelerate import dispatch_model  # noqa: PLC0415

    return dispatch_model(model, {"": "cpu"}, force_hooks=True)


def adapt(model: Any) -> Any:
    return adapted(model, lora())


def merge(model: Any) -> Any:
    return adapted(model, lora()).merge_and_unload()


def train(model: Any) -> Any:
    model.train()
    model.gradient_checkpointing_enable()
    return model.eval()


@pytest.mark.parametrize("make", [compile_in_place, spread, adapt, merge, train])
def test_what_libraries_do_is_no_change(make: Callable[[Any], Any], loaded: LoadedModel) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make(loaded.model)
    assert wrap_model(model, loaded.tokenizer).changes() == MemoryChanges()


def test_a_model_from_a_folder_is_the_one_in_memory(
    loaded: LoadedModel, saved: Callable[[str], Path]
) -> None:
    first = evaluate(loaded, PAIRS)
    model = AutoModelForCausalLM.from_pretrained(saved("llama"))
    second = evaluate(wrap_model(model, loaded.tokenizer), PAIRS)
    assert second.results[0].work.stored == first.results[0].work.requests
