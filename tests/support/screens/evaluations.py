"""Evaluations of made-up models."""

import polars as pl

from nnd.metric.data import SCORED_SCHEMA
from nnd.metric.likelihood.engine.answers import NO_WORK
from nnd.metric.numbers import Agreement, caveats, pass_rates
from nnd.metric.run import Evaluation, ModelResult


def result(rows: pl.DataFrame) -> ModelResult:
    """What one model did, with what there is to say against it."""
    rates = pass_rates(rows.select(*SCORED_SCHEMA))
    return ModelResult(
        model=rows["model"][0],
        version="0" * 40,
        protocol="native",
        template="default",
        dtype="float32",
        device="cpu",
        parameters=1,
        rates=rates,
        notes=caveats(rates.overall),
        n_close=None,
        n_crossing=None,
        work=NO_WORK,
        signature=f"nnd|v:0.2.0|model:{rows['model'][0]}@0000000|sep:' '",
    )


def evaluation(
    *models: pl.DataFrame, data: str = "birds", agreement: Agreement | None = None
) -> Evaluation:
    """What several models did."""
    reason = None if agreement else "no people"
    return Evaluation(data, tuple(map(result, models)), pl.concat(models), agreement, reason)
