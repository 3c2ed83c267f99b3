"""A model tuned on chats passes more tests by its template than without."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch
from support.chat.rendered import CHATML, chosen, encoded, whole
from torch.nn.functional import cross_entropy
from transformers import GPT2Config, GPT2LMHeadModel

from nnd.metric.likelihood import LoadedModel, Scoring, wrap_model
from nnd.metric.run import evaluate
from nnd.metric.text import Chat, find_protocol
from nnd.metric.text.encoding.assembly import encode

STEPS, BATCH = 40, 16


def train(model: Any, texts: list[tuple[torch.Tensor, int]]) -> None:
    """Learn of each text what follows the context, whose length it comes with."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for _ in range(STEPS):
        loss = torch.zeros(())
        for number in torch.randint(len(texts), (BATCH,)).tolist():
            ids, start = texts[number]
            logits = model(ids[None, :-1]).logits[0, start - 1 :]
            loss = loss + cross_entropy(logits, ids[start:]) / BATCH
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@pytest.mark.full
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_template_finds_what_was_tuned(
    seed: int, chatty: Callable[..., LoadedModel], sample: Path
) -> None:
    """As plain text it reads good and bad candidates alike, in chats the good ones only."""
    pairs = pl.read_parquet(sample / "pairs.parquet")
    tokenizer: Any = chatty(CHATML).tokenizer
    config = GPT2Config(vocab_size=len(tokenizer), n_positions=512, n_embd=64, n_layer=2, n_head=2)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        model = GPT2LMHeadModel(config)
        loaded = wrap_model(model, tokenizer, name="tuned")
        good = pairs.select("context", "candidate_high").unique().sort(pl.all()).rows()
        bad = pairs.select("context", "candidate_low").unique().sort(pl.all()).rows()
        rows = encoded(loaded, chosen(loaded), good)
        rows += encode(loaded, find_protocol("native"), good + bad)
        train(model, [(torch.tensor(whole(row)), len(row.context) + 1) for row in rows])

    def rate(template: str) -> float:
        scoring = Scoring(cache=False, unconditional=False, chat=Chat(template))
        (result,) = evaluate(loaded, pairs, scoring=scoring).results
        found = result.rates.overall.pass_rate
        assert found is not None
        return found

    assert rate("auto") > rate("none") + 0.05
