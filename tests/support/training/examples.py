"""What a tiny model is to learn: texts, a tokenizer trained on them, and a Trainer's examples."""

from dataclasses import dataclass
from typing import Literal

import polars as pl
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from torch.nn.utils.rnn import pad_sequence
from transformers import PreTrainedTokenizerFast

Family = Literal["gpt2", "bart"]
Texts = list[tuple[str, str]]  # context and candidate

WINDOW = 512
LONGEST = 128  # most tokens of a context, and of a candidate
UNSCORED = -100  # the losses of transformers ignore this label
START, PAD, END = "<s>", "<pad>", "</s>"


@dataclass(frozen=True, slots=True)
class Example:
    """One text to learn: the input, and the tokens to predict (`UNSCORED`: not predicted)."""

    input_ids: torch.Tensor
    labels: torch.Tensor


def texts_of(pairs: pl.DataFrame) -> Texts:
    """Return contexts and better candidates, each once, whatever the order of the rows."""
    return list(pairs.select("context", "candidate_high").unique().sort(pl.all()).iter_rows())


def train_tokenizer(texts: Texts, family: Family) -> PreTrainedTokenizerFast:
    """Train a byte-level BPE; as in the real families, BART's puts <s> and </s> around a text."""
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trained.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=800,
        special_tokens=[START, PAD, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    trained.train_from_iterator([part for text in texts for part in text], trainer)
    if family == "bart":
        trained.post_processor = processors.TemplateProcessing(
            single=f"{START} $A {END}",
            special_tokens=[(mark, trained.token_to_id(mark)) for mark in (START, END)],
        )
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=trained,
        bos_token=START,
        pad_token=PAD,
        eos_token=END,
        model_max_length=WINDOW,
        split_special_tokens=True,  # a "</s>" in a text is text
    )


def examples_of(texts: Texts, tokenizer: PreTrainedTokenizerFast, family: Family) -> list[Example]:
    """Encode (context, candidate) as protocol `native` does, and add an end token to learn."""
    if family == "gpt2":
        return [_continuation(context, candidate, tokenizer) for context, candidate in texts]
    cut = {"truncation": True, "max_length": LONGEST, "return_tensors": "pt"}
    return [
        Example(
            tokenizer(context, **cut).input_ids[0],
            tokenizer(text_target=candidate, **cut).input_ids[0],
        )
        for context, candidate in texts
    ]


def _continuation(context: str, candidate: str, tokenizer: PreTrainedTokenizerFast) -> Example:
    """Join context, a space, candidate and end token; only what follows the context is learnt."""
    before = tokenizer(context, verbose=False).input_ids[-LONGEST:]
    after = tokenizer(f" {candidate}", verbose=False).input_ids[:LONGEST]
    ids = torch.tensor([*before, *after, tokenizer.eos_token_id])
    labels = ids.clone()
    labels[: len(before)] = UNSCORED
    return Example(ids, labels)


def batch(examples: list[Example]) -> dict[str, torch.Tensor]:
    """Return input_ids, attention_mask and labels, each [examples, longest in batch]."""
    # The id of a padded position does not matter: it is masked and never a label.
    ids = [example.input_ids for example in examples]
    return {
        "input_ids": pad_sequence(ids, batch_first=True),
        "attention_mask": pad_sequence([torch.ones_like(row) for row in ids], batch_first=True),
        "labels": pad_sequence(
            [example.labels for example in examples], batch_first=True, padding_value=UNSCORED
        ),
    }
