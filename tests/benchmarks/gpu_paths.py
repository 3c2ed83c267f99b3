"""How fast each path, precision and cut of a small model is on a device, against the default."""

import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import bench_models
import polars as pl
from bench_models import Request
from gpu_speed import clock, first_contexts
from runs import read_requests
from transformers import PreTrainedModel

from nnd.metric.likelihood import Scoring
from nnd.metric.likelihood.engine import proof
from nnd.metric.likelihood.engine.engine import Engine
from nnd.metric.likelihood.engine.paths import paths_of
from nnd.metric.likelihood.models.load_model import wrap_model
from nnd.metric.run import evaluate

CONTEXTS = 200


@dataclass(frozen=True, slots=True)
class PathSpeed:
    """How long one way of scoring takes.

    Attributes:
        what: The way.
        seconds: The second call.
        proof: Share of the first call in which requests were read alone.
    """

    what: str
    seconds: float
    proof: float | None = None


def measure_paths(
    model: PreTrainedModel, folder: Path, workload: str, contexts: int = CONTEXTS
) -> Iterator[PathSpeed]:
    """Score some contexts of a workload in every way that the device has.

    The model is in half precision; at the end it is in float32.
    """
    tokenizer = bench_models.load_tokenizer("gpt2", folder)
    requests = read_requests(folder, workload)
    requests = first_contexts(requests, contexts / len({context for context, _ in requests}))
    loaded = wrap_model(model, tokenizer, name="small")
    half = loaded.dtype
    for path in paths_of(loaded):
        yield _measure(f"{half}, {path.name}", Engine(loaded, path=path.name), requests)
    pairs = _pairs(requests)
    scoring = Scoring(unconditional=False, cache=False)
    yield PathSpeed(
        f"{half}, pairs at once",
        clock(loaded.device, lambda: evaluate(loaded, pairs, scoring=scoring)),
    )
    with tempfile.TemporaryDirectory() as out:
        call = lambda: evaluate(loaded, pairs, out=out, worker=(1, 1), scoring=scoring)  # noqa: E731
        yield PathSpeed(f"{half}, pairs in parts", clock(loaded.device, call))
    exact = wrap_model(model.float(), tokenizer, name="small")
    yield _measure("float32, packed", Engine(exact, path="packed"), requests)
    if exact.device.type == "cuda":
        fast = Engine(exact, path="packed", matmul="high")
        yield _measure("float32, packed, --matmul high", fast, requests)


def _measure(what: str, engine: Engine, requests: Sequence[Request]) -> PathSpeed:
    alone, score_alone = [0.0], proof.score_alone

    def timed(*given: object) -> float:
        start = time.perf_counter()
        found = score_alone(*given)  # type: ignore[arg-type]
        alone[0] += time.perf_counter() - start
        return found

    proof.score_alone = timed
    try:
        first = clock(engine.loaded.device, lambda: engine(requests))
        share = alone[0] / first
        return PathSpeed(what, clock(engine.loaded.device, lambda: engine(requests)), share)
    finally:
        proof.score_alone = score_alone


def _pairs(requests: Sequence[Request]) -> pl.DataFrame:
    """Return pairs of a workload, whose requests are high, low, high, low."""
    rows = [
        (high[0], high[1], low[1]) for high, low in zip(requests[::2], requests[1::2], strict=True)
    ]
    columns = ["context", "candidate_high", "candidate_low"]
    return pl.DataFrame(rows, columns, orient="row")
