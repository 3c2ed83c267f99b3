"""What processes of their own do with an engine: `python engine_processes.py WHAT MODEL PAIRS`.

They say what they did on standard output, a line for each thing done. `NND_CACHE` says which store
they use, as it does for anybody.
"""

import json
import sys
from collections.abc import Callable

import polars as pl
import torch
from support.engine.passes import watching
from transformers.utils.logging import disable_progress_bar

from nnd.metric.likelihood import Loading, Scoring
from nnd.metric.likelihood.models.load_model import load_model
from nnd.metric.run import evaluate as evaluate_models

BUDGET = 80  # positions at once: many small batches


def say(line: object) -> None:
    print(line, flush=True)  # noqa: T201


def evaluate(model: str, pairs: str, each: Callable[[], None] = lambda: None) -> None:
    """Evaluate a model; call `each` before each of its forward passes. Say its likelihoods."""
    loaded = load_model(model, Loading(device="cpu"))
    scoring = Scoring(token_budget=BUDGET)
    with watching(each):
        found = evaluate_models(loaded, pl.read_parquet(pairs), scoring=scoring)
    say(json.dumps(found.scored.select("ll_high", "ll_low").rows()))


def tell(model: str, pairs: str) -> None:
    """Say a line before every forward pass, and go on as fast as it can."""
    evaluate(model, pairs, lambda: say("forward"))


def together(model: str, pairs: str) -> None:
    """Wait until another one is ready too."""
    say("ready")
    sys.stdin.readline()
    evaluate(model, pairs)


def quietly(model: str, pairs: str) -> None:
    """Say only the likelihoods: what else appears is the engine's own doing."""
    evaluate(model, pairs)


if __name__ == "__main__":
    torch.set_num_threads(1)
    disable_progress_bar()  # type: ignore[no-untyped-call]
    {f.__name__: f for f in (tell, together, quietly)}[sys.argv[1]](*sys.argv[2:])
