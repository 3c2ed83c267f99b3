"""The log-likelihoods of the tokens of scored pairs, as they are stored."""

import polars as pl

from nnd.metric.data import TOKENS, PairSet, contexts_of
from nnd.metric.likelihood import Engine, token_likelihoods
from nnd.metric.run.pair_scoring import requests_of
from nnd.metric.text import Template, render


def token_rows(data: PairSet, engine: Engine, template: Template) -> pl.DataFrame:
    """Return a row per pair and side, all good candidates first, with the columns of TOKENS.

    Places are in the candidate as stored: what a template puts before it has none.
    """
    prompts = render(template, contexts_of(data.pairs))
    found = token_likelihoods(engine, requests_of(data.pairs, prompts))
    before = [len(prompt.candidate_prefix) for prompt in prompts] * 2
    start, end = (
        [
            [None if place is None or place[0] < skipped else place[at] - skipped for place in own]
            for own, skipped in zip((each.places for each in found), before, strict=True)
        ]
        for at in (0, 1)
    )
    n = data.pairs.height
    columns = {
        "model": [engine.loaded.name] * 2 * n,
        "pair_id": [*data.pairs["pair_id"]] * 2,
        "side": ["high"] * n + ["low"] * n,
        "start": start,
        "end": end,
        "log_likelihood": [each.log_likelihood.tolist() for each in found],
    }
    return pl.DataFrame(columns, TOKENS)
