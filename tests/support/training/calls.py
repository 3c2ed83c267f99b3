"""Made-up pairs that a tiny model can learn in a hundred steps, and the model: who calls whom.

The context is "Ann calls Bob at 7", the better candidate "Ann calls Bob", the worse one "Bob calls
Ann": only a model that reads the context can tell them apart.
"""

import random

import polars as pl
import torch
from support.training.examples import train_tokenizer
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

NAMES = ["Ann", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hal", "Ida", "Jon", "Kim", "Lea"]
VERBS = ["calls", "meets", "helps", "thanks"]
HOURS = range(60)


def call_pairs(n: int) -> pl.DataFrame:
    """Return n pairs, each in a context of its own."""
    rng = random.Random(0)
    events = [(a, v, b, h) for a in NAMES for v in VERBS for b in NAMES if a != b for h in HOURS]
    return pl.DataFrame(
        {
            "source": "calls",
            "context_id": f"c{number}",
            "context": f"{caller} {verb} {other} at {hour}",
            "candidate_high": f"{caller} {verb} {other}",
            "candidate_low": f"{other} {verb} {caller}",
            "error_category": "swap",
            "origin": "synthetic:swap",
        }
        for number, (caller, verb, other, hour) in enumerate(rng.sample(events, n))
    )


def call_model(pairs: pl.DataFrame, seed: int) -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    """Return a BART of one layer each way, with random weights, and its tokenizer."""
    texts = list(pairs.select("context", "candidate_high").iter_rows())
    tokenizer = train_tokenizer(texts, "bart")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        config = BartConfig(
            vocab_size=len(tokenizer),
            bos_token_id=0,
            pad_token_id=1,
            eos_token_id=2,
            decoder_start_token_id=2,
            forced_eos_token_id=2,
            max_position_embeddings=64,
            d_model=64,
            encoder_layers=1,
            decoder_layers=1,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            encoder_ffn_dim=128,
            decoder_ffn_dim=128,
            dropout=0.0,
        )
        return BartForConditionalGeneration(config), tokenizer
