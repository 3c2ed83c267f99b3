"""Whether a device gives the numbers of a float64 loop on the CPU: kernels, then whole models."""

import random
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

sys.path.append(str(Path(__file__).resolve().parents[1]))  # where `support` is

from support import oracle
from support.engine.cases import REQUESTS
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
        }.items():
            there = Layout(contexts, candidates, device=device)
            query, key, value = (each.to(device) for each in given)
            moved = asked._replace(bias=None if asked.bias is None else asked.bias.to(device))
            kernels = {"blocks": attend_blocks, "FlexAttention": attend_flexibly}
            if takes_varlen(query, value, moved):
                kernels["varlen_attn"] = attend_varlen
            exact = asked._replace(bias=None if asked.bias is None else asked.bias.double())
            expected = attend_blocks(*(each.double() for each in given), layout, exact)
            for name, kernel in kernels.items():
                found = kernel(query, key, value, there, moved).cpu().double()
                gap = float((found - expected).abs().max())
                yield Equality(f"{name}{asks}", dtype, "", gap, _OF_KERNELS[dtype])


def compare_families(
    names: Iterable[str], device: torch.device, folder: Path
) -> Iterator[Equality]:
    """Hold families of the test suite against the formula, computed in float64 on the CPU."""
    for name in names:
        for dtype, kind in DTYPES.items():
            family = build(name, folder)
            family = replace(family, model=family.model.to(kind))  # the oracle's weights as well
            scores = oracle.scores(family, "native", REQUESTS)
            exact = np.array([score.log_likelihood for score in scores])
            engine = Engine(wrap_model(family.model.to(device), family.tokenizer, name=name))
            found = engine(REQUESTS)
            apart = np.abs(found.log_likelihood - exact)[~np.isnan(exact)]
            precision = PRECISIONS[dtype]
            allowed = precision.bound + precision.rounding
            path = " < ".join([found.work.path, *reversed(found.work.switched_off)])
            yield Equality(name, dtype, path, float(apart.mean()), allowed)
