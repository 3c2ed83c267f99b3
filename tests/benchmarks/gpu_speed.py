"""How fast the engine reads a workload on a device, and how much faster than its peers."""

import importlib.util
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bench_models
import torch
import transformers as hf
from bench_models import Request
from peers import BATCH, CONTESTANTS
from runs import read_requests
from torch.nn.functional import cross_entropy
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from nnd.metric.likelihood.engine.engine import Engine
from nnd.metric.likelihood.models.load_model import wrap_model

SECONDS = 8.0
DTYPE = torch.bfloat16


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast one model reads one workload.

    Attributes:
        model: Its size and heads, queries' and keys'.
        workload: Its name.
        requests: Distinct requests that were scored.
        tokens: Unique tokens (`bench_models`).
        first_seconds: The first call of the engine, proof included.
        seconds: The second call.
        of_matmul: Needed FLOPs per second of it, as a share of the measured matmul rate.
        host: Share of a further call's time in which the device had nothing to do; None on a CPU.
        peak_bytes: Most memory that torch held on the device, weights included; None on a CPU.
        padded: How many times as long the loop over padded batches takes.
        lm_eval: The same of lm-evaluation-harness; None where it is not installed.
    """

    model: str
    workload: str
    requests: int
    tokens: int
    first_seconds: float
    seconds: float
    of_matmul: float
    host: float | None
    peak_bytes: int | None
    padded: float
    lm_eval: float | None


def matmul_rate(device: torch.device, size: int) -> float:
    """Return FLOP/s of square matrices in bfloat16, the best of several."""
    left, right = (torch.randn(size, size, device=device).to(DTYPE) for _ in range(2))
    return 2 * size**3 / min(clock(device, lambda: left @ right) for _ in range(10))


def build_model(config: hf.LlamaConfig, device: torch.device) -> PreTrainedModel:
    """Build a model with random weights where it will be."""
    with device:
        model: PreTrainedModel = hf.AutoModelForCausalLM.from_config(config, dtype=DTYPE)
    return model.eval()


def measure(label: str, workload: str, model: PreTrainedModel, folder: Path, rate: float) -> Speed:
    """Let the engine, then its peers, score a workload, or as much of it as there is time for."""
    device, tokenizer = model.device, bench_models.load_tokenizer("gpt2", folder)
    requests = read_requests(folder, workload)

    def flops(some: Sequence[Request]) -> int:
        work = bench_models.lengths(tokenizer, "gpt2", some)
        return bench_models.needed_flops(model, work)

    requests = first_contexts(requests, SECONDS * rate / flops(requests))
    distinct = len(set(requests))
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    engine = Engine(wrap_model(model, tokenizer, name=label))
    first = clock(device, lambda: engine(requests))
    seconds = clock(device, lambda: engine(requests))
    host = peak = None
    if device.type == "cuda":
        peak = torch.cuda.max_memory_allocated(device)
        host = 1 - device_share(lambda: engine(requests))
    padded = padded_rate(model, tokenizer, requests)
    lm_eval = None
    if importlib.util.find_spec("lm_eval"):
        some = first_contexts(requests, padded * SECONDS / distinct)
        contestant = CONTESTANTS["lm-eval"](model, tokenizer)
        lm_eval = len(set(some)) / clock(device, lambda: contestant(some))
    return Speed(
        label,
        workload,
        distinct,
        bench_models.unique_tokens(bench_models.lengths(tokenizer, "gpt2", requests)),
        first,
        seconds,
        flops(requests) / seconds / rate,
        host,
        peak,
        distinct / seconds / padded,
        None if lm_eval is None else distinct / seconds / lm_eval,
    )


def first_contexts(requests: Sequence[Request], share: float) -> list[Request]:
    """Return the requests of the first contexts: of a share of them, and of one at least."""
    contexts = list(dict.fromkeys(context for context, _ in requests))
    kept = set(contexts[: max(1, int(min(share, 1) * len(contexts)))])
    return [request for request in requests if request[0] in kept]


@torch.inference_mode()
def padded_rate(
    model: Any, tokenizer: PreTrainedTokenizerBase, requests: Sequence[Request]
) -> float:
    """Return distinct requests per second of a loop over padded batches, for some of them."""
    ids = [
        (tokenizer(context).input_ids, bench_models.candidate_ids(tokenizer, "gpt2", candidate))
        for context, candidate in dict.fromkeys(requests)
    ]
    ids.sort(key=lambda row: sum(map(len, row)))
    batches = [ids[start : start + BATCH] for start in range(0, len(ids), BATCH)]
    random.Random(bench_models.SEED).shuffle(batches)
    _padded_batch(model, batches[0])  # loads what the first call loads
    start, scored = time.perf_counter(), 0
    for batch in batches:
        _padded_batch(model, batch)
        scored += len(batch)
        if time.perf_counter() - start > SECONDS:
            break
    return scored / (time.perf_counter() - start)


def _padded_batch(model: Any, batch: Sequence[tuple[list[int], list[int]]]) -> list[float]:
    rows = [torch.tensor(context + candidate) for context, candidate in batch]
    ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True).to(model.device)
    mask = torch.nn.utils.rnn.pad_sequence([torch.ones_like(row) for row in rows], batch_first=True)
    logits = model(ids, attention_mask=mask.to(model.device), use_cache=False).logits[:, :-1]
    losses = cross_entropy(logits.transpose(1, 2).float(), ids[:, 1:], reduction="none").cpu()
    return [
        -float(losses[at, len(context) - 1 : len(context) + len(candidate) - 1].sum())
        for at, (context, candidate) in enumerate(batch)
    ]


def device_share(call: Callable[[], object]) -> float:
    """Return for which share of a call's time a GPU's kernels run."""
    activity = torch.profiler.ProfilerActivity.CUDA
    with torch.profiler.profile(activities=[activity]) as profile:
        seconds = clock(torch.device("cuda"), call)
    busy = sum(event.self_device_time_total for event in profile.key_averages())
    return float(busy) / 1e6 / seconds


def lacking_memory(config: hf.LlamaConfig, device: torch.device) -> str | None:
    """Say what a GPU lacks to hold a model, with a tenth more for what it computes."""
    if device.type != "cuda":
        return None
    with torch.device("meta"):
        model = hf.AutoModelForCausalLM.from_config(config, dtype=DTYPE)
    needed, free = 1.1 * bench_models.weight_bytes(model), torch.cuda.mem_get_info(device)[0]
    return None if needed < free else f"it needs {needed / 1e9:.0f} GB, {free / 1e9:.0f} are free"


def clock(device: torch.device, call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter() - start
