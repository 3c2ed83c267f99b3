"""Runs as `nnd evaluate` leaves them, of models that pass as many pairs as they are told to."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from support.stored_folders import write_sealed

from nnd.metric.data.pairs import PairSet, load_pairs
from nnd.metric.data.scored_schema import ALONE_SCHEMA, READING_SCHEMA, SCORED_SCHEMA
from nnd.metric.numbers.agreement.from_results import agree_scored
from nnd.metric.numbers.rates.caveats import caveats
from nnd.metric.numbers.rates.pass_rates import count_close, pass_rates
from nnd.metric.numbers.rates.surface_features import measure
from nnd.schemas import DISTINCT

DEVIATION = 1e-2


class Pretended(NamedTuple):
    """A model that never was.

    Attributes:
        name: Its name.
        rates: Error category → share of pairs passed; "" for all others.
        parameters: How many weights it claims.
    """

    name: str
    rates: Mapping[str, float]
    parameters: int = 1_000_000


MODELS = [
    Pretended("zoo/ant", {"": 0.4}, 10_000_000),
    Pretended("zoo/bee", {"": 0.6, "wrong_fact": 0.2}, 30_000_000),
    Pretended("zoo/cat", {"": 0.7}, 100_000_000),
    Pretended("zoo/dog", {"": 0.9}, 300_000_000),
    Pretended("zoo/eel", {"": 0.8}, 1_000_000_000),
]
"""Five, of which four stand for judged systems of the sample."""

SYSTEMS = {"zoo/ant": "dipper", "zoo/bee": "siskin", "zoo/cat": "plover", "zoo/dog": "wren"}

FAMILIES = {"zoo/ant": "pests", "zoo/bee": "pests"}


def pretend(pairs: PairSet, model: Pretended, seed: int) -> pl.DataFrame:
    """Score pairs as the model would, every fiftieth as a tie and every seventieth not at all."""
    rng = np.random.default_rng(seed)
    n = pairs.pairs.height
    otherwise = model.rates.get("", 0.5)
    rates = [model.rates.get(str(c), otherwise) for c in pairs.pairs["error_category"]]
    passed = rng.random(n) < np.array(rates)
    margins = np.abs(rng.normal(0, 0.4, n)) * np.where(passed, 1, -1)
    margins[::50] = 0
    high = rng.normal(-2.5, 0.6, n)
    low = [None if i % 70 == 69 else v for i, v in enumerate((high - margins).tolist())]
    alone = {name: rng.normal(-4, 1, n) for name in ALONE_SCHEMA}
    scores = pl.DataFrame({"ll_high": high, "ll_low": pl.Series(low, dtype=pl.Float64), **alone})
    verdict = scores.select(
        passed=(pl.col("ll_high") > pl.col("ll_low")).fill_null(value=False),
        tie=(pl.col("ll_high") == pl.col("ll_low")).fill_null(value=False),
    )
    lengths = {
        f"{name}_{side}": pl.lit(12, pl.Int64)
        for name in ("tokens", "divisor")
        for side in ("high", "low")
    }
    both = pl.concat([pairs.pairs, scores, verdict, measure(pairs.pairs)], how="horizontal")
    unknown = {name: pl.lit(0) for name in READING_SCHEMA if name != "same_tokens"}
    both = both.with_columns(
        **lengths,
        **unknown,
        same_tokens=pl.lit(value=False),
        distinct=pl.struct(DISTINCT).is_first_distinct(),
        end_tokens=pl.lit(0),
        truncated=pl.lit(value=False),
    )
    return both.select(pl.col(name).cast(dtype) for name, dtype in SCORED_SCHEMA.items())


def write_run(
    folder: Path,
    data: Path | pl.DataFrame,
    models: list[Pretended],
    *,
    systems: Mapping[str, str] | None = None,
) -> Path:
    """Write a folder like those of `nnd evaluate`."""
    pairs = load_pairs(data)
    frames, results = [], []
    for number, model in enumerate(models):
        scored = pretend(pairs, model, number)
        results.append(_result(model, pairs, scored))
        frames.append(scored.select(pl.lit(model.name).alias("model"), pl.all()))
    everything = pl.concat(frames)
    agreement, reason = agree_scored(everything, pairs.human_scores, systems=systems)
    told = None if agreement is None else agreement.to_dict()
    folder.mkdir(parents=True)
    everything.write_parquet(folder / "log_likelihoods.parquet")
    whole = {"results": results, "agreement": told, "agreement_reason": reason}
    write_sealed(folder / "result.json", whole)
    return folder


def _result(model: Pretended, pairs: PairSet, scored: pl.DataFrame) -> dict[str, Any]:
    rates = pass_rates(scored)
    data = f"{pairs.name}@{pairs.version[:6]}"
    return {
        "model": model.name,
        "version": "0" * 40,
        "protocol": "native",
        "template": "default",
        "dtype": "float32",
        "device": "cpu",
        "parameters": model.parameters,
        **rates.to_dict(),
        "notes": list(caveats(rates.overall)),
        "n_close": count_close(scored, DEVIATION),
        "n_crossing": 0,
        "engine": {
            "path": "packed",
            "switched_off": [],
            "deviation": DEVIATION,
        },
        "signature": f"nnd|v:0.2.0|model:{model.name}@0000000|data:{data}|protocol:native",
    }
