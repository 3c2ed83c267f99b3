"""Negatives written by an encoder-decoder model.

    nnd derive DATA --negatives preferred --op negatives_by_model.py:mask_entity

maskent and hallu are those of ED-FAITH; mask_entity, hallucinate and low_confidence those of CLIFF
(Cao and Wang 2021).

Each function takes a right text and a `random.Random`, and the text's context if it has a parameter
of that name. It returns a wrong text, or None to refuse; `derive` counts refusals, and drops a text
that comes back unchanged. The environment variable NND_EXAMPLE_MODEL names another model.

What a model writes is not wrong for certain: read some pairs before you use them (`nnd show
DATA-suite/sets/mask_entity.parquet`). A name is a capitalised word inside a sentence here; a tagger
finds entities better.
"""

import os
import re
from functools import cache
from random import Random
from typing import Any

import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

FILLER = os.environ.get("NND_EXAMPLE_MODEL", "facebook/bart-large")
"""Replaces a mask by words that fit."""

OTHER_SUMMARISER = os.environ.get("NND_EXAMPLE_MODEL", "facebook/bart-large-xsum")
"""Summarises in the manner of another dataset."""

SUMMARISER = os.environ.get("NND_EXAMPLE_MODEL", "facebook/bart-large-cnn")

LOW_CONFIDENCE = 0.21
"""A summary with a less likely token is unsure (Cao and Wang 2021, CLIFF)."""

MOST_TOKENS = 142

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


ENTITIES = {
    "speaker": r"(?m)^([A-Z][\w-]*):",
    "name": r"(?<=[a-z,] )[A-Z]\w+",
    "number": r"\b\d[\d.,:]*\b",
}
"""Type of an entity → its pattern: that of speakers is of the context, the others of the text."""


def maskent(text: str, random: Random, context: str) -> str | None:
    """Mask one entity of each type, and let a model that does not see the context fill the gaps."""
    spans = sorted(random.choice(found) for found in _entities(text, context).values() if found)
    if not spans:
        return None
    masked = text
    for start, end in reversed(spans):
        masked = f"{masked[:start]}{_mask()}{masked[end:]}"
    written, _ = _write(FILLER, masked)
    return written or None


def hallu(text: str, random: Random, context: str) -> str | None:  # noqa: ARG001
    """Let a model of other summaries summarise the context; each token is drawn (top p of 1)."""
    written, _ = _write(OTHER_SUMMARISER, context, random)
    return written or None


def _entities(text: str, context: str) -> dict[str, list[tuple[int, int]]]:
    """Return the type of an entity → where the text has such; no place is of two types."""
    speakers = {re.escape(found[1]) for found in re.finditer(ENTITIES["speaker"], context)}
    patterns = {**ENTITIES, "speaker": rf"\b(?:{'|'.join(sorted(speakers))})\b"}
    if not speakers:
        del patterns["speaker"]
    found: dict[str, list[tuple[int, int]]] = {}
    taken = set[int]()
    for kind, pattern in patterns.items():
        spans = [match.span() for match in re.finditer(pattern, text)]
        found[kind] = [span for span in spans if span[0] not in taken]
        taken |= {start for start, _ in spans}
    return found


def mask_entity(text: str, random: Random) -> str | None:
    """Mask a name, and let a model that does not see the context fill the gap."""
    name = _draw_name(text, random)
    if name is None:
        return None
    masked = f"{text[: name.start()]}{_mask()}{text[name.end() :]}"
    written, _ = _write(FILLER, masked, random)
    return written or None


def hallucinate(text: str, random: Random) -> str | None:
    """Keep a text up to a name, and let a model that does not see the context go on from there."""
    name = _draw_name(text, random)
    if name is None:
        return None
    kept = text[: name.start()].rstrip()
    written, _ = _write(FILLER, f"{kept} {_mask()}", random, prefix=kept)
    return written or None


def low_confidence(text: str, random: Random, context: str) -> str | None:  # noqa: ARG001
    """Let a model summarise the context, and take the summary if the model is unsure of a token."""
    written, least = _write(SUMMARISER, context)
    return written if written and least < LOW_CONFIDENCE else None


def _draw_name(text: str, random: Random) -> re.Match[str] | None:
    names = list(re.finditer(r"(?<=[a-z,] )[A-Z]\w+", text))
    return random.choice(names) if names else None


def _mask() -> str:
    tokenizer, _ = _load(FILLER)
    if tokenizer.mask_token is None:
        raise ValueError(f"{FILLER} has no mask token; set NND_EXAMPLE_MODEL to a model with one")
    return str(tokenizer.mask_token)


@cache
def _load(name: str) -> tuple[Any, Any]:
    model = AutoModelForSeq2SeqLM.from_pretrained(name)
    return AutoTokenizer.from_pretrained(name), model.to(DEVICE)


def _write(
    name: str, source: str, random: Random | None = None, prefix: str = ""
) -> tuple[str, float]:
    """Return what a model writes, and the probability of its least likely token.

    Tokens are drawn; without a source of randomness each is the likeliest one.
    """
    tokenizer, model = _load(name)
    inputs = tokenizer(source, truncation=True, return_tensors="pt").to(DEVICE)
    begin = tokenizer(prefix, add_special_tokens=False)["input_ids"] if prefix else []
    with torch.random.fork_rng(devices=[]), torch.inference_mode():
        if random is not None:
            torch.manual_seed(random.getrandbits(32))
        found = model.generate(
            inputs["input_ids"],
            attention_mask=inputs["attention_mask"],
            decoder_input_ids=torch.tensor(
                [[model.config.decoder_start_token_id, *begin]], device=DEVICE
            ),
            do_sample=random is not None,
            num_beams=1,
            top_k=None if random is None else 0,
            max_new_tokens=MOST_TOKENS,
            return_dict_in_generate=True,
            output_scores=True,
        )
    chosen = model.compute_transition_scores(found.sequences, found.scores, normalize_logits=True)
    text = tokenizer.decode(found.sequences[0], skip_special_tokens=True).strip()
    return text, float(chosen.exp().min())
