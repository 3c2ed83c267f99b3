"""One run of one contestant, in a process of its own: `python runs.py TOOL MODEL FOLDER WORKLOAD`.

A fresh process makes peak memory the tool's own, and no tool runs on a model or an allocator that
another has touched. Everything is on one thread. Weights are seeded, and their sum is part of
what a run returns, so that the caller can see that all tools had the same.
"""

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import bench_models
import torch
from bench_models import Request
from peak_memory import peak_memory
from peers import CONTESTANTS, NND, Contestant
from transformers import PreTrainedModel, PreTrainedTokenizerBase

TRUNK_ROWS = 2048  # `nnd.metric.likelihood.engine.memory`
HEAD_LOGITS = 2**22  # `nnd.metric.likelihood.engine.head`


@dataclass(frozen=True, slots=True)
class Run:
    """What one run of a contestant in a process of its own has shown.

    Attributes:
        seconds: Wall-clock time of the run; of our engine, of a second run: it has scored other
            pairs, and so proved its fast path, before.
        tokens: Positions that entered an embedding of tokens meanwhile, padding included.
        planning_seconds: Time before the first of them: tokenising and planning.
        warm_up_seconds: Time to make the contestant and for its first call: on two pairs, or of
            our engine on the workload's other pairs.
        warm_up_tokens: Positions of that first call.
        peak_bytes: Most memory resident in the process, from its start to its end.
        weight_bytes: Memory of the model's weights.
        checksum: Sum of the model's weights.
        values: Mean log-likelihood of each request.
        first_seconds: Time of our engine's first run, with the proof; None of peers.
        whole_seconds: Time of a first run that scores the baseline without contexts too.
    """

    seconds: float
    tokens: int
    planning_seconds: float
    warm_up_seconds: float
    warm_up_tokens: int
    peak_bytes: int
    weight_bytes: int
    checksum: float
    values: list[float]
    first_seconds: float | None = None
    whole_seconds: float | None = None


def run(tool: str, model_name: str, folder: Path, workload: str) -> Run:
    """Run one contestant on one workload in this process.

    Args:
        tool: One of CONTESTANTS.
        model_name: One of `bench_models.MODELS`.
        folder: Where `workloads.prepare` wrote.
        workload: Name of a workload there.
    """
    torch.set_num_threads(1)
    requests = read_requests(folder, workload)
    tokenizer = bench_models.load_tokenizer(model_name, folder)
    model = bench_models.build_model(model_name)
    checksum, weights = bench_models.checksum(model), bench_models.weight_bytes(model)
    entries = watch_embeddings(model)
    other = read_requests(folder, f"{workload}_other") if has_other(folder, workload) else []
    start = time.perf_counter()
    contestant = CONTESTANTS[tool](model, tokenizer)
    made = time.perf_counter() - start
    ours = other if tool == NND else []
    warm_up = clock(contestant, ours or two_longest(tokenizer, requests), entries)
    real = clock(contestant, requests, entries)
    peak = peak_memory()
    firsts = [
        clock(CONTESTANTS[tool](model, tokenizer), asked, entries).seconds
        for asked in ((requests, requests + without_contexts(requests)) if ours else ())
    ]
    first, whole = firsts or (None, None)
    return Run(
        seconds=real.seconds,
        tokens=real.tokens,
        planning_seconds=real.planning_seconds,
        warm_up_seconds=made + warm_up.seconds,
        warm_up_tokens=warm_up.tokens,
        peak_bytes=peak,
        weight_bytes=weights,
        checksum=checksum,
        values=_means(tool, tokenizer, requests, real.values),
        first_seconds=first,
        whole_seconds=whole,
    )


def has_other(folder: Path, workload: str) -> bool:
    """Whether a workload has other pairs, for a first run before it."""
    return (folder / f"{workload}_other.json").is_file()


def without_contexts(requests: Sequence[Request]) -> list[Request]:
    """Return what the baseline asks: every candidate without its context."""
    return [("", candidate) for _, candidate in requests]


class Entry(NamedTuple):
    """A call of a token embedding: when, and how many positions."""

    moment: float
    tokens: int


class Clocked(NamedTuple):
    """A call of a contestant: time, time before the first entry, positions, what it said."""

    seconds: float
    planning_seconds: float
    tokens: int
    values: list[float]


def clock(contestant: Contestant, requests: Sequence[Request], entries: list[Entry]) -> Clocked:
    """Call a contestant; `entries` is the list of `watch_embeddings` for its model."""
    entries.clear()
    start = time.perf_counter()
    values = contestant(requests)
    seconds = time.perf_counter() - start
    tokens = sum(entry.tokens for entry in entries)
    return Clocked(seconds, entries[0].moment - start, tokens, values)


def two_longest(tokenizer: PreTrainedTokenizerBase, requests: Sequence[Request]) -> list[Request]:
    """Return the pairs that hold the two longest requests, to warm up with.

    Our engine trusts a proof up to the length it was made with, and would make another later.
    """
    sizes = [len(tokenizer(f"{context} {candidate}").input_ids) for context, candidate in requests]
    pairs = sorted(range(0, len(requests), 2), key=lambda at: max(sizes[at : at + 2]))
    return [request for at in pairs[-2:] for request in requests[at : at + 2]]


def _means(
    tool: str,
    tokenizer: PreTrainedTokenizerBase,
    requests: Sequence[Request],
    values: list[float],
) -> list[float]:
    """Turn the sums of lm-eval into means: it knows no normalisation by tokens."""
    if not tool.startswith("lm-eval"):
        return values
    ids = tokenizer([f" {text}" for _, text in requests], add_special_tokens=False).input_ids
    return [total / len(row) for total, row in zip(values, ids, strict=True)]


def read_requests(folder: Path, workload: str) -> list[Request]:
    """Return a workload that `workloads.prepare` wrote."""
    rows = json.loads((folder / f"{workload}.json").read_text(encoding="utf-8"))
    return [(context, candidate) for context, candidate in rows]


def watch_embeddings(model: PreTrainedModel) -> list[Entry]:
    """Return a list to which every call of a token embedding adds."""
    entries: list[Entry] = []

    def note(_: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
        entries.append(Entry(time.perf_counter(), inputs[0].numel()))

    for module in model.modules():
        if getattr(module, "num_embeddings", None) == model.config.vocab_size:
            module.register_forward_pre_hook(note)
    return entries


def run_alone(tool: str, model: str, folder: Path, workload: str) -> Run:
    """Run one contestant in a process of its own, on one thread."""
    command = [sys.executable, __file__, tool, model, str(folder), workload]
    alone = {"TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | alone
    )
    if done.returncode:
        sys.exit(f"{tool} on {workload}-{model} failed (pip install '.[bench]'?)\n{done.stderr}")
    found = Run(**json.loads(done.stdout.splitlines()[-1]))
    print(f"  {workload}-{model} {tool}: {found.seconds:.1f} s", file=sys.stderr, flush=True)
    return found


def matmul_peak() -> float:
    """Return FLOP/s of [2048, 768] x [768, 3072] in float32 on one thread, the best of several."""
    return matmul_rate(TRUNK_ROWS, 768, 3072)


def matmul_rate(rows: int, size: int, columns: int) -> float:
    """Return FLOP/s of [rows, size] x [size, columns] in float32, the best of several."""
    left, right = torch.randn(rows, size), torch.randn(size, columns)
    best = math.inf
    for _ in range(10):
        start = time.perf_counter()
        torch.mm(left, right)
        best = min(best, time.perf_counter() - start)
    return 2 * rows * size * columns / best


def own_rate(model: PreTrainedModel, flops: int, head_flops: int) -> float:
    """Return the FLOP/s of needed work where it is done as the model's own products alone.

    Every matrix of a layer is multiplied with as many rows as our engine holds at once on a CPU,
    the head with as many as it makes logits of; attention counts as the layers' matrices do.

    Args:
        model: The model; shapes are enough.
        flops: Needed in all.
        head_flops: Of these, the head's.
    """
    head = model.get_output_embeddings().weight.shape
    layers = [*bench_models.layer_matrices(model)]
    rate_of = {shape: matmul_rate(TRUNK_ROWS, *shape) for shape in dict.fromkeys(layers)}
    weights = sum(size * columns for size, columns in layers)
    trunk = weights / sum(size * columns / rate_of[size, columns] for size, columns in layers)
    in_head = matmul_rate(HEAD_LOGITS // head[0], head[1], head[0])
    return flops / ((flops - head_flops) / trunk + head_flops / in_head)


if __name__ == "__main__":
    tool_name, model_name, place, workload_name = sys.argv[1:]
    found = run(tool_name, model_name, Path(place), workload_name)
    print(json.dumps(asdict(found)))
