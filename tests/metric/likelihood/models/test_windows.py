"""Windows: whatever the architecture calls its own, and models that do not state one."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import transformers as hf
from huggingface_hub.errors import StrictDataclassError
from support.refusals import refusal
from support.tiny_models import Family
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
)

from nnd.metric.likelihood import Engine, LoadedModel, wrap_model

Tiny = Callable[[str], Family]
LONG = [("the cat sat on the mat " * 12, "the dog"), ("the river", "a dog in London")]

UNLIMITED = {
    "bloom",  # ALiBi, computed for any length
    *("cpmant", "funnel", "xlnet"),  # relative positions, computed for any length
    *("longt5", "mt5", "t5", "umt5", "switch_transformers"),  # relative positions in buckets
    *("falcon_mamba", "mamba", "mamba2", "recurrent_gemma", "xlstm"),  # a state
    "whisper",  # reads sound
}
"""Architectures without a window, and why."""


def mpt(tokenizer: Any) -> LoadedModel:
    config = hf.MptConfig(
        vocab_size=len(tokenizer), d_model=32, n_layers=2, n_heads=2, max_seq_len=64
    )
    with torch.random.fork_rng():
        torch.manual_seed(3)
        return wrap_model(hf.MptForCausalLM(config), tokenizer, name="mpt")


def test_every_architecture_says_its_window_by_a_known_name(tiny: Tiny) -> None:
    families = {
        *MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        *MODEL_FOR_MASKED_LM_MAPPING_NAMES,
        *MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
    }
    silent = set()
    template = wrap_model(tiny("gpt2").model, tiny("gpt2").tokenizer)
    for family in sorted(families):
        try:
            config = CONFIG_MAPPING[family]()
        except (ValueError, TypeError, StrictDataclassError):
            continue  # some need other parts; their text model is in the list too
        loaded = LoadedModel(_With(config), template.tokenizer, family)  # type: ignore[arg-type]
        if loaded.decoder_window is None and not _has_a_million(config):
            silent.add(family)
    assert silent == UNLIMITED


def _has_a_million(config: Any) -> bool:
    return (getattr(config, "max_position_embeddings", None) or 0) >= 1_000_000 or (
        getattr(config, "model_max_length", 0) >= 1_000_000
    )


class _With(torch.nn.Module):
    """A model that is only its configuration."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config


def test_a_context_is_cut_to_the_window_of_mpt(tiny: Tiny) -> None:
    loaded = mpt(tiny("gpt2").tokenizer)
    assert loaded.decoder_window == 64
    scored = Engine(loaded)(LONG)
    tokenizer: Any = tiny("gpt2").tokenizer
    target = tokenizer(" the dog")["input_ids"]
    ids = tokenizer(LONG[0][0])["input_ids"][-(64 - len(target)) :] + target
    with torch.no_grad():
        log = loaded.model.double()(torch.tensor([ids])).logits.log_softmax(-1)[0]
    expected = sum(float(log[at - 1, ids[at]]) for at in range(len(ids) - len(target), len(ids)))
    assert scored.log_likelihood[0] == pytest.approx(expected / len(target), abs=1e-5)


def custom(**settings: Any) -> Any:
    kind = type("OwnConfig", (hf.PretrainedConfig,), {"model_type": "own"})
    return kind(**settings)


@pytest.mark.parametrize(
    "name",
    ["n_positions", "n_ctx", "seq_length", "max_sequence_length", "max_seq_len", "context_length"],
)
def test_custom_code_may_call_it_otherwise(name: str, tiny: Tiny) -> None:
    model: Any = _With(custom(**{name: 48}))
    assert LoadedModel(model, tiny("gpt2").tokenizer, "own").decoder_window == 48


def test_a_field_left_over_is_no_window(tiny: Tiny) -> None:
    # The config of T5 on the Hub says n_positions: 512, and its positions are relative.
    model: Any = _With(hf.MT5Config(n_positions=512))
    assert LoadedModel(model, tiny("t5").tokenizer, "t5").decoder_window is None


@pytest.mark.parametrize("family", ["gpt2", "opt", "bart"])
def test_a_window_that_no_setting_states_is_an_error(
    family: str, fresh: Callable[..., Family]
) -> None:
    built = fresh(family, window=40)
    built.model.config.max_position_embeddings = 10**9
    built.tokenizer.model_max_length = int(1e30)
    loaded = wrap_model(built.model, built.tokenizer, name="mine")
    with refusal("model.window", "mine") as caught:
        Engine(loaded)(LONG)
    assert "tokens" in caught.value.what
    assert Engine(loaded)(LONG[1:]).log_likelihood[0] < 0


def test_a_fault_that_is_not_of_lengths_is_not_called_one(fresh: Callable[..., Family]) -> None:
    built = fresh("gpt2")

    def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("of its own")

    loaded = wrap_model(built.model, built.tokenizer)
    built.model.transformer.h[0].mlp.forward = broken
    with refusal("model.damaged", "GPT2LMHeadModel") as caught:
        Engine(loaded)(LONG[1:])
    assert "of its own" in caught.value.what
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
