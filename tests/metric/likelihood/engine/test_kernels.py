"""Which kernel a layer takes, whole models through each, and what happens when one fails.

What runs on GPUs only is `varlen_attn` itself, and compiled kernels: `loop_varlen` and uncompiled
FlexAttention take their places.
"""

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from support import oracle
from support.engine.cases import EMPTY, REQUESTS, Fresh, Loaded, assert_same, run
from support.engine.varlen import loop_varlen
from support.models.odd_models import gpt_oss
from torch.nn.attention import flex_attention

from nnd.metric.likelihood.engine import path_choice as choice
from nnd.metric.likelihood.engine.attention import varlen
from nnd.metric.likelihood.engine.attention.blocks import attend_blocks
from nnd.metric.likelihood.engine.attention.flexible import attend_flexibly
from nnd.metric.likelihood.engine.attention.kernel import Kernel, LayerNeeds
from nnd.metric.likelihood.engine.attention.kernel_choice import choose_fastest
from nnd.metric.likelihood.engine.attention.row_layout import Layout
from nnd.metric.likelihood.engine.attention.varlen import attend_varlen, varlen_kernel
from nnd.metric.likelihood.engine.packed_path import open_blocks, open_packed
from nnd.metric.likelihood.engine.paths import Path, paths_of
from nnd.metric.likelihood.models.loaded_model import LoadedModel

VARLEN = varlen_kernel(loop_varlen)


@pytest.fixture(autouse=True)
def uncompiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run FlexAttention as Python: even on a CPU it would be traced first, which takes seconds."""
    monkeypatch.setattr(flex_attention, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True)


def layer(dtype: torch.dtype, size: int = 64, heads: int = 8, **differs: Any) -> Any:
    """What the choice looks at of queries or values, as if they were on a GPU."""
    facts = {"is_cuda": True, "device": torch.device("cuda"), "dtype": dtype}
    return SimpleNamespace(**facts | {"shape": (1, heads, 10, size)} | differs)


SHORT = Layout([5], [[1]])
BIAS = torch.zeros(1)
HUGE = Layout([16_384], [[4]])  # whose masks would have 2 ** 28 elements for each head


@pytest.mark.parametrize(
    ("query", "value", "layout", "needs", "kernel"),
    [
        (layer(torch.bfloat16), layer(torch.bfloat16), SHORT, LayerNeeds(), attend_varlen),
        (
            layer(torch.float16),
            layer(torch.float16),
            HUGE,
            LayerNeeds(crossing=True),
            attend_varlen,
        ),
        (layer(torch.float32), layer(torch.float32), HUGE, LayerNeeds(), attend_blocks),
        (layer(torch.bfloat16, 20), layer(torch.bfloat16, 20), SHORT, LayerNeeds(), attend_blocks),
        (layer(torch.bfloat16, 512), layer(torch.bfloat16, 512), HUGE, LayerNeeds(), attend_blocks),
        (layer(torch.bfloat16), layer(torch.bfloat16, 32), SHORT, LayerNeeds(), attend_blocks),
        (layer(torch.bfloat16), layer(torch.bfloat16), SHORT, LayerNeeds(window=9), attend_blocks),
        (layer(torch.bfloat16), layer(torch.bfloat16), HUGE, LayerNeeds(window=9), attend_flexibly),
        (layer(torch.float32), layer(torch.float32), HUGE, LayerNeeds(bias=BIAS), attend_flexibly),
        (layer(torch.bfloat16), layer(torch.bfloat16), HUGE, LayerNeeds(cap=50.0), attend_flexibly),
        (layer(torch.bfloat16), layer(torch.bfloat16), SHORT, LayerNeeds(cap=50.0), attend_blocks),
        (layer(torch.bfloat16), layer(torch.bfloat16), HUGE, LayerNeeds(sinks=BIAS), attend_varlen),
        (
            *(layer(torch.bfloat16), layer(torch.bfloat16), HUGE),
            *(LayerNeeds(sinks=BIAS, window=9), attend_flexibly),
        ),
        (layer(torch.float32), layer(torch.float32), SHORT, LayerNeeds(bias=BIAS), attend_blocks),
        (
            *(layer(torch.bfloat16, is_cuda=False), layer(torch.bfloat16)),
            *(HUGE, LayerNeeds(window=9), attend_blocks),
        ),
    ],
)
def test_the_kernel_is_what_the_device_and_the_layer_allow(
    *, query: Any, value: Any, layout: Layout, needs: LayerNeeds, kernel: Kernel, monkeypatch: Any
) -> None:
    monkeypatch.setattr(varlen, "_is_ampere", lambda _device: True)
    assert choose_fastest(query, value, value, layout, needs) is kernel
    monkeypatch.setattr(varlen, "_is_ampere", lambda _device: False)
    assert choose_fastest(query, value, value, layout, needs) is not attend_varlen
    # A torch that has no such kernel.
    monkeypatch.setattr(varlen, "_is_ampere", lambda _device: True)
    monkeypatch.setitem(sys.modules, varlen.__name__, None)
    assert choose_fastest(query, value, value, layout, needs) is not attend_varlen


def paths_with(kernel: Kernel) -> Callable[[LoadedModel], tuple[Path, ...]]:
    """Return what gives the paths of a GPU with one kernel, and blocks where it cannot be used."""

    def choose(*given: Any) -> Kernel:
        needs = given[-1]
        beyond = needs.crossing if kernel is attend_flexibly else needs.window is not None
        return attend_blocks if beyond else kernel

    def paths(loaded: LoadedModel) -> tuple[Path, ...]:
        first, *others = paths_of(loaded)
        blocks = Path("blocks", first.plan, open_blocks, pads=False)
        return replace(first, open=partial(open_packed, choose=choose)), blocks, *others

    return paths


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        *((name, VARLEN) for name in ("gpt2", "llama", "qwen2", "bart", "marian")),
        *((name, attend_flexibly) for name in ("mistral", "t5", "gemma2")),  # window, biases, cap
    ],
)
def test_models_read_through_either_kernel(
    name: str, kernel: Kernel, fresh: Fresh, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice, "paths_of", paths_with(kernel))
    found = run(fresh(name), "native", [*REQUESTS, *EMPTY])
    assert found.work.path == "packed"
    assert_same(found, oracle.scores(fresh(name), "native", [*REQUESTS, *EMPTY]))


@pytest.mark.parametrize("kernel", [attend_blocks, VARLEN, attend_flexibly])
def test_sinks_are_read_through_every_kernel(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice, "paths_of", paths_with(kernel))
    family = gpt_oss()
    found = run(family, "native", [*REQUESTS, *EMPTY])
    assert (found.work.path, found.work.switched_off) == ("packed", ())
    assert_same(found, oracle.scores(family, "native", [*REQUESTS, *EMPTY]))


def fails(*_: Any) -> torch.Tensor:
    message = "no kernel image is available for execution on the device"
    raise RuntimeError(message)


def forgets(*given: Any) -> torch.Tensor:
    """Attend, but for the candidates to their contexts."""
    *_, layout, needs = given
    return attend_blocks(*given[:3], Layout([], [layout.lengths]), needs)


@pytest.mark.parametrize(
    ("kernel", "reason"), [(fails, "packed: no kernel image"), (forgets, "packed: .* nats from")]
)
def test_a_kernel_that_fails_or_errs_gives_way_to_blocks(
    kernel: Kernel, reason: str, fresh: Fresh, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice, "paths_of", paths_with(kernel))
    family = fresh("llama")
    found = run(family, "native", REQUESTS)
    assert found.work.path == "blocks"
    (said,) = found.work.switched_off
    assert re.match(reason, said)
    assert_same(found, oracle.scores(family, "native", REQUESTS))


def test_a_gpu_has_blocks_behind_its_kernels(
    loaded: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = loaded("gpt2")
    on_cpu = [path.name for path in paths_of(model)]
    monkeypatch.setattr(LoadedModel, "device", torch.device("cuda"))
    assert [path.name for path in paths_of(model)] == ["packed", "blocks", *on_cpu[1:]]
