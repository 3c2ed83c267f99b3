"""Whether a device gives the numbers of a float64 loop on the CPU: kernels, then whole models."""

import random
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

sys.path.append(str(Path(__file__).resolve().parents[1]))  # where `support` is

from support import oracle
from support.engine.cases import REQUESTS
from support.engine.fake_devices import KIND, fake_devices
from support.engine.two_devices import spread
from support.models.odd_models import gpt_oss
from support.tiny_models import build

from nnd.metric.likelihood.engine.attention.blocks import attend_blocks
from nnd.metric.likelihood.engine.attention.flexible import attend_flexibly
from nnd.metric.likelihood.engine.attention.kernel import LayerNeeds
from nnd.metric.likelihood.engine.attention.row_layout import Layout
from nnd.metric.likelihood.engine.attention.varlen import attend_varlen, takes_varlen
from nnd.metric.likelihood.engine.engine import Engine
from nnd.metric.likelihood.engine.precision import PRECISIONS
from nnd.metric.likelihood.models.load_model import wrap_model

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
SPREAD = ("llama", "t5")
_HEADS, _KEY_HEADS, _SIZE = 8, 2, 64
_OF_KERNELS = {"float32": 1e-4, "bfloat16": 3e-2}  # of values with a deviation of 1


@dataclass(frozen=True, slots=True)
class Equality:
    """How far a device is from the float64 loop on the CPU.

    Attributes:
        what: A kernel, or a family of the test suite.
        dtype: What it computes in.
        path: The path that the engine took, and why it took no faster one; "" of a kernel.
        gap: Largest difference of a kernel's value; mean difference of a family's log-likelihoods.
        bound: What is allowed.
    """

    what: str
    dtype: str
    path: str
    gap: float
    bound: float

    @property
    def holds(self) -> bool:
        """Whether the difference is allowed."""
        return self.gap <= self.bound


def compare_kernels(device: torch.device, longest: int) -> Iterator[Equality]:
    """Hold every kernel that the device has against blocks on the CPU, in float64.

    Args:
        device: The device.
        longest: Tokens of the longest context.
    """
    lengths = random.Random(3)
    contexts = [lengths.randint(1, longest) for _ in range(5)]
    candidates = [[lengths.randint(1, 1 + longest // 8) for _ in range(9)] for _ in contexts]
    rows = sum(contexts) + sum(map(sum, candidates))
    layout = Layout(contexts, candidates)
    bias = torch.randn((1, _HEADS, 1, 2 * layout.reach - 1))
    for dtype, kind in DTYPES.items():
        shapes = [(1, heads, rows, _SIZE) for heads in (_HEADS, _KEY_HEADS, _KEY_HEADS)]
        given = [torch.randn(shape).to(kind) for shape in shapes]
        for asks, asked in {
            "": LayerNeeds(),
            " in a window": LayerNeeds(window=50),
            " with a bias": LayerNeeds(bias=bias.to(kind)),
            " with a cap": LayerNeeds(cap=1.0),
            " with sinks": LayerNeeds(sinks=torch.linspace(-1, 3, _HEADS).to(kind)),
        }.items():
            there = Layout(contexts, candidates, device=device)
            query, key, value = (each.to(device) for each in given)
            moved = _mapped(asked, lambda each: each.to(device))
            kernels = {"blocks": attend_blocks, "FlexAttention": attend_flexibly}
            if takes_varlen(query, value, moved):
                kernels["varlen_attn"] = attend_varlen
            exact = _mapped(asked, torch.Tensor.double)
            expected = attend_blocks(*(each.double() for each in given), layout, exact)
            for name, kernel in kernels.items():
                found = kernel(query, key, value, there, moved).cpu().double()
                gap = float((found - expected).abs().max())
                yield Equality(f"{name}{asks}", dtype, "", gap, _OF_KERNELS[dtype])


def _mapped(needs: LayerNeeds, change: Callable[[torch.Tensor], torch.Tensor]) -> LayerNeeds:
    """Change the tensors among a layer's needs."""
    return LayerNeeds(*(change(each) if isinstance(each, torch.Tensor) else each for each in needs))


def compare_spread(folder: Path) -> Iterator[Equality]:
    """Hold models on two GPUs, or on two invented devices, against the formula in float64."""
    real = torch.cuda.device_count() > 1
    for name in SPREAD:
        family = build(name, folder)
        scores = oracle.scores(family, "native", REQUESTS)
        with nullcontext() if real else fake_devices():
            spread(family, "cuda" if real else KIND)
            engine = Engine(wrap_model(family.model, family.tokenizer, name=name))
            what = f"{name} on two {'GPUs' if real else 'invented devices'}"
            yield _compare(what, "float32", engine, scores)


def _compare(what: str, dtype: str, engine: Engine, scores: Sequence[oracle.Score]) -> Equality:
    exact = np.array([score.log_likelihood for score in scores])
    found = engine(REQUESTS)
    apart = np.abs(found.log_likelihood - exact)[~np.isnan(exact)]
    precision = PRECISIONS[dtype]
    path = " < ".join([found.work.path, *reversed(found.work.switched_off)])
    allowed = precision.bound + precision.rounding
    return Equality(what, dtype, path, float(apart.mean()), allowed)


def compare_families(
    names: Iterable[str], device: torch.device, folder: Path
) -> Iterator[Equality]:
    """Hold families of the test suite against the formula, computed in float64 on the CPU."""
    for name in names:
        for dtype, kind in DTYPES.items():
            family = gpt_oss() if name == "gpt_oss" else build(name, folder)
            family = replace(family, model=family.model.to(kind))  # the oracle's weights as well
            scores = oracle.scores(family, "native", REQUESTS)
            engine = Engine(wrap_model(family.model.to(device), family.tokenizer, name=name))
            yield _compare(name, dtype, engine, scores)
