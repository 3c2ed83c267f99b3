"""Short trainings of tiny models on the sample, with dropout, for tests of what watches them."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import torch
from support.training.examples import (
    WINDOW,
    Family,
    batch,
    examples_of,
    texts_of,
    train_tokenizer,
)
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    Trainer,
    TrainingArguments,
)

from nnd.converters.folder.conversion import convert

WIDTH = 32


@functools.cache
def sample_pairs() -> pl.DataFrame:
    """The pairs of the sample: 72 in 14 contexts."""
    return convert("sample").pairs


def make_trainer(
    family: Family, folder: Path, *, trainer: Callable[..., Trainer] = Trainer, **arguments: Any
) -> Trainer:
    """Return a trainer that is to learn the better candidates of the sample.

    The same arguments make the same training, bit for bit.

    Args:
        family: bart or gpt2.
        folder: Its output_dir.
        trainer: Its class.
        **arguments: Of TrainingArguments, beside the short training's own.
    """
    texts = texts_of(sample_pairs())
    model, tokenizer = make_model(family)
    own: dict[str, Any] = {
        "max_steps": 6,
        "per_device_train_batch_size": 4,
        "learning_rate": 3e-3,
        "lr_scheduler_type": "constant",
        "logging_steps": 4,
        "save_strategy": "no",
        "report_to": [],
        "use_cpu": True,
        "seed": 7,
        "disable_tqdm": True,
        "remove_unused_columns": False,
    }
    return trainer(
        model=model,
        args=TrainingArguments(output_dir=str(folder), **own | arguments),
        train_dataset=examples_of(texts, tokenizer, family),
        data_collator=batch,
        processing_class=tokenizer,
    )


def make_model(family: Family) -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    """Return a tiny model with random weights, the same ones each time, and its tokenizer."""
    tokenizer = train_tokenizer(texts_of(sample_pairs()), family)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        return (_bart if family == "bart" else _gpt2)(len(tokenizer)), tokenizer


def bits(model: PreTrainedModel) -> dict[str, bytes]:
    """Every tensor of a model, byte for byte."""
    return {name: tensor.numpy().tobytes() for name, tensor in model.state_dict().items()}


# The tokenizer gives <s>, <pad> and </s> the first three ids.
_MARKS = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2}


def _bart(size: int) -> PreTrainedModel:
    config = BartConfig(
        vocab_size=size,
        **_MARKS,
        decoder_start_token_id=2,
        forced_eos_token_id=2,
        max_position_embeddings=WINDOW,
        d_model=WIDTH,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=4 * WIDTH,
        decoder_ffn_dim=4 * WIDTH,
        dropout=0.1,
        attention_dropout=0.1,
        activation_dropout=0.1,
        encoder_layerdrop=0.1,
    )
    return BartForConditionalGeneration(config)


def _gpt2(size: int) -> PreTrainedModel:
    config = GPT2Config(
        vocab_size=size, **_MARKS, n_positions=WINDOW, n_embd=WIDTH, n_layer=1, n_head=2
    )
    model = GPT2LMHeadModel(config)
    model.loss_type = "ForCausalLM"  # transformers cannot tell it from the name of the class
    return model
