"""A tokenizer that knows the control tokens of many chat templates, and a tiny model for it."""

# ruff: noqa: S106, RUF001 (an eos_token is no password; the wide bars are DeepSeek's)

import copy
from collections.abc import Callable
from typing import Any

import pytest
from support.tiny_models import SENTENCES, randomised, seeded
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from nnd.metric.likelihood import LoadedModel, wrap_model

CONTROL = (
    *("<s>", "</s>", "<|im_start|>", "<|im_end|>", "<start_of_turn>", "<end_of_turn>"),
    *("<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "[gMASK]", "<sop>"),
    *("<|system|>", "<|user|>", "<|assistant|>", "<|end|>", "<｜User｜>", "<｜Assistant｜>"),
    *("<｜end▁of▁sentence｜>", "<|start|>", "<|channel|>", "<|message|>", "<|return|>"),
)
NOT_SPECIAL = ("<think>", "</think>")  # as in Qwen3: added tokens, but not special ones
WINDOW = 2048


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    """Byte-level, without a chat template; leave it as it is."""
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trained.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=[*CONTROL],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    trained.train_from_iterator(SENTENCES, trainer)
    trained.add_tokens([*NOT_SPECIAL])
    return PreTrainedTokenizerFast(
        tokenizer_object=trained, bos_token="<s>", eos_token="</s>", model_max_length=WINDOW
    )


@pytest.fixture(scope="session")
def model(tokenizer: Any) -> Any:
    config = GPT2Config(
        vocab_size=len(tokenizer), n_positions=WINDOW, n_embd=16, n_layer=1, n_head=2
    )
    with seeded():
        return randomised(GPT2LMHeadModel(config))


@pytest.fixture(scope="session")
def chatty(model: Any, tokenizer: Any) -> Callable[..., LoadedModel]:
    """`chatty(template, name="chatty", window=2048)`: the tiny model with a chat template."""

    def wrap(
        template: str | None, *, name: str = "chatty", window: int = WINDOW, **special: Any
    ) -> LoadedModel:
        own = copy.deepcopy(tokenizer)
        own.chat_template = template
        own.model_max_length = window
        for token, text in special.items():
            setattr(own, token, text)
        return wrap_model(model, own, name=name)

    return wrap
