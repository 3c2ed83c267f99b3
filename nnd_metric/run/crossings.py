"""Tests whose tokens are not those of context and candidate encoded as one text."""

import polars as pl

from nnd.metric.data import PairSet, contexts_of
from nnd.metric.likelihood import Engine
from nnd.metric.numbers import distinct_tests
from nnd.metric.run.pair_scoring import requests_of
from nnd.metric.text import Template, find_crossings, find_protocol, render


def count_crossings(data: PairSet, engine: Engine, template: Template) -> int | None:
    """Count the tests whose tokens are not those of context and candidate encoded together.

    The count is None if context and candidate are never one text: for encoder-decoders, as a pair
    of a masked model, and under `laban2022`, which puts a start token between them.
    """
    loaded, tokens = engine.loaded, find_protocol(engine.protocol).tokens
    if loaded.is_encoder_decoder or template.as_pair or tokens not in {"native", "masked"}:
        return None
    pairs = data.pairs
    prompts = render(template, contexts_of(pairs))
    requests = engine.encoder.as_read(requests_of(pairs, prompts))
    crosses = find_crossings(loaded.tokenizer, requests, engine.separator, known=engine.tokenised)
    sides = {"high": crosses[: pairs.height], "low": crosses[pairs.height :]}
    either = pl.DataFrame(sides).select(crosses=pl.any_horizontal(pl.all()))
    return int(distinct_tests(pl.concat([pairs, either], how="horizontal"))["crosses"].sum())
