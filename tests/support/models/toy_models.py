"""Three toy models of clearly different quality, trained in seconds, for trying the metric.

They learn the very texts they are then tested on (context → candidate_high), with a tokenizer that
was trained on those texts too. Their pass rates show that everything works, from data to report;
they say nothing about language models or about the data.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from torch.nn.utils.rnn import pad_sequence
from tqdm import tqdm
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from nnd.schemas import ScoringError

Family = Literal["gpt2", "bart"]
Texts = list[tuple[str, str]]  # context and candidate

VOCABULARY = 800
WINDOW = 512
LONGEST = 128  # most tokens of a context, and of a candidate, used in training
WIDTH = 64
LAYERS = 2
HEADS = 4
BATCH = 16
LEARNING_RATE = 1e-3
UNSCORED = -100  # the losses of transformers ignore this label
START, PAD, END = "<s>", "<pad>", "</s>"


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one toy model is made.

    Attributes:
        name: Name of its folder.
        family: Decoder-only (gpt2) or encoder-decoder (bart).
        steps: Training steps of `BATCH` texts; the more, the better the model predicts its training
            texts.
    """

    name: str
    family: Family
    steps: int


RECIPES = (
    Recipe("toy-untrained", "gpt2", 0),
    Recipe("toy-brief", "gpt2", 4),
    Recipe("toy-trained", "bart", 200),
)


@dataclass(frozen=True, slots=True)
class Example:
    """One text to learn: the input, and the tokens to predict (`UNSCORED`: not predicted)."""

    input_ids: torch.Tensor
    labels: torch.Tensor


def train_toy_models(
    pairs: pl.DataFrame, out: Path, *, seed: int = 0, recipes: Sequence[Recipe] = RECIPES
) -> list[Path]:
    """Train the toy models on the better candidates of `pairs`; save each with its tokenizer.

    The order of the rows does not matter. The same texts and seed give the same weights bit for bit
    on one machine; the caller's random state and number of threads are left as they were.

    Args:
        pairs: Frame with `context` and `candidate_high`; other columns are ignored.
        out: Folder that gets one folder per recipe, loadable by transformers' `Auto` classes.
        seed: Seed of the initial weights and of the order of the texts.
        recipes: The toys to make.

    Returns:
        The models' folders, in the order of `recipes`.

    Raises:
        ScoringError: If a column or any text to learn from is missing.
    """
    texts = _texts(pairs)
    folders = [out / recipe.name for recipe in recipes]
    for recipe, folder in zip(recipes, folders, strict=True):
        tokenizer = _train_tokenizer(texts, recipe.family)
        with _reproducible(seed):
            model = _new_model(tokenizer, recipe.family)
            _train(model, _examples(texts, tokenizer, recipe.family), recipe)
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        (folder / "README.md").write_text(_describe(recipe, model, len(texts)), encoding="utf-8")
    return folders


@contextmanager
def _reproducible(seed: int) -> Iterator[None]:
    """Seed the CPU's generator and compute on one thread; restore both at the end.

    The last bits of a sum depend on the number of threads, and such small models gain little from a
    second one.
    """
    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)


def _texts(pairs: pl.DataFrame) -> Texts:
    if missing := [name for name in ("context", "candidate_high") if name not in pairs.columns]:
        raise ScoringError("data.convert-again", f"the pairs have no column {', '.join(missing)}")
    learnt = pl.col("candidate_high") != ""
    texts = pairs.select("context", "candidate_high").filter(learnt).unique().sort(pl.all())
    if texts.is_empty():
        raise ScoringError("train.no-texts", "the pairs have no candidate to train a toy model on")
    return list(texts.iter_rows())


def _train_tokenizer(texts: Texts, family: Family) -> PreTrainedTokenizerFast:
    """Train a byte-level BPE; as in the real families, BART's puts <s> and </s> around a text."""
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trained.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
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


def _new_model(tokenizer: PreTrainedTokenizerFast, family: Family) -> PreTrainedModel:
    """Return a tiny model with random weights, and no dropout: it should learn by heart."""
    marks: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "bos_token_id": tokenizer.bos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
        "eos_token_id": tokenizer.eos_token_id,
    }
    if family == "gpt2":
        marks |= dict.fromkeys(("embd_pdrop", "resid_pdrop", "attn_pdrop"), 0.0)
        gpt2 = GPT2LMHeadModel(
            GPT2Config(
                **marks,
                n_positions=WINDOW,
                n_embd=WIDTH,
                n_layer=LAYERS,
                n_head=HEADS,
            )
        )
        gpt2.loss_type = "ForCausalLM"  # transformers cannot derive it from the name of the class
        return gpt2
    return BartForConditionalGeneration(
        BartConfig(
            **marks,
            decoder_start_token_id=tokenizer.eos_token_id,
            forced_eos_token_id=tokenizer.eos_token_id,
            max_position_embeddings=WINDOW,
            d_model=WIDTH,
            encoder_layers=LAYERS,
            decoder_layers=LAYERS,
            encoder_attention_heads=HEADS,
            decoder_attention_heads=HEADS,
            encoder_ffn_dim=4 * WIDTH,
            decoder_ffn_dim=4 * WIDTH,
            dropout=0.0,
        )
    )


def _examples(texts: Texts, tokenizer: PreTrainedTokenizerFast, family: Family) -> list[Example]:
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
    before = tokenizer(context, verbose=False).input_ids[-LONGEST:] or [tokenizer.bos_token_id]
    after = tokenizer(f" {candidate}", verbose=False).input_ids[:LONGEST]
    ids = torch.tensor([*before, *after, tokenizer.eos_token_id])
    labels = ids.clone()
    labels[: len(before)] = UNSCORED
    return Example(ids, labels)


def _train(model: PreTrainedModel, examples: list[Example], recipe: Recipe) -> None:
    """Take `recipe.steps` steps of AdamW, each on `BATCH` examples drawn with replacement."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
    for _ in tqdm(range(recipe.steps), desc=recipe.name, disable=None):
        drawn = torch.randint(len(examples), (BATCH,)).tolist()
        loss = model(**_batch([examples[index] for index in drawn])).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def _batch(examples: list[Example]) -> dict[str, torch.Tensor]:
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


def _describe(recipe: Recipe, model: PreTrainedModel, texts: int) -> str:
    done = f"{recipe.steps} steps on the {texts} texts it is then tested on"
    return (
        f"{recipe.name}: a toy {recipe.family} with {model.num_parameters():,} parameters, "
        f"{done if recipe.steps else 'random, not trained at all'}. Its numbers show that "
        "everything works; they say nothing about language models.\n"
    )
