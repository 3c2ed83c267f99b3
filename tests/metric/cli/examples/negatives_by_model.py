"""Negatives written by an encoder-decoder model: mask_entity, hallucinate, low_confidence.

    nnd derive DATA --negatives preferred --op negatives_by_model.py:low_confidence

A function takes a text, a `random.Random` and the text's context, and returns a wrong text, or None
where there is none. Names are words with a capital letter; a tagger of entities does better.
"""

import os
import re
from functools import cache
from random import Random
from typing import Any

import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

MODEL = os.environ.get("NND_EXAMPLE_MODEL", "facebook/bart-large-cnn")

LOW_CONFIDENCE = 0.21
"""A summary is unsure where the least likely of its tokens has less (Cao and Wang 2021, CLIFF)."""


def mask_entity(text: str, random: Random, context: str) -> str | None:  # noqa: ARG001
    """Mask a name, and let the model write the text again without seeing the context."""
    found = _a_name(text, random)
    if found is None:
        return None
    tokenizer, _ = _loaded()
    masked = text[: found.start()] + tokenizer.mask_token + text[found.end() :]
    written, _ = _write(masked, random)
    return written or None


def hallucinate(text: str, random: Random, context: str) -> str | None:  # noqa: ARG001
    """Keep a text up to a name, and let the model go on from there without the context."""
    found = _a_name(text, random)
    if found is None:
        return None
    kept = text[: found.start()].rstrip()
    written, _ = _write(kept, random, prefix=kept)
    return written or None


def low_confidence(text: str, random: Random, context: str) -> str | None:
    """Let the model write of the context; what it writes counts as wrong where it is unsure."""
    written, least = _write(context, random)
    return written if written and written != text and least < LOW_CONFIDENCE else None


def _a_name(text: str, random: Random) -> re.Match[str] | None:
    """Draw a word with a capital letter that does not begin a sentence."""
    names = list(re.finditer(r"(?<=[a-z,] )[A-Z]\w+", text))
    return random.choice(names) if names else None


@cache
def _loaded() -> tuple[Any, Any]:
    return AutoTokenizer.from_pretrained(MODEL), AutoModelForSeq2SeqLM.from_pretrained(MODEL)


def _write(source: str, random: Random, prefix: str = "") -> tuple[str, float]:
    """Return what the model writes, drawn token by token, and the least probability of a token."""
    tokenizer, model = _loaded()
    inputs = tokenizer(source, truncation=True, return_tensors="pt")
    start = [model.config.decoder_start_token_id]
    before = start + tokenizer(prefix, add_special_tokens=False)["input_ids"] if prefix else start
    with torch.random.fork_rng(devices=[]), torch.inference_mode():
        torch.manual_seed(random.getrandbits(32))
        found = model.generate(
            inputs["input_ids"],
            attention_mask=inputs["attention_mask"],
            decoder_input_ids=torch.tensor([before]),
            do_sample=True,
            num_beams=1,
            top_k=0,
            max_new_tokens=40,
            return_dict_in_generate=True,
            output_scores=True,
        )
    chosen = model.compute_transition_scores(found.sequences, found.scores, normalize_logits=True)
    text = tokenizer.decode(found.sequences[0], skip_special_tokens=True).strip()
    return text, float(chosen.exp().min())
