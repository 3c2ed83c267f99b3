"""The numbers of a float32 model in float64, which show what rounding does to them.

All paths round alike in most places, so comparing them does not show it. The weights are the same,
only wider; one layer is widened at a time, so that a large model needs little more memory.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import nn

from nnd.metric.likelihood.models.loaded_model import LoadedModel


def has_float64(loaded: LoadedModel) -> bool:
    """Return whether a model computes in float32, and could in float64 with the same weights."""
    has_numbers = not any(weight.is_meta for weight in loaded.model.parameters())
    is_float32 = loaded.dtype == "float32" and not loaded.is_compressed
    return is_float32 and has_numbers and loaded.device.type != "mps"


@contextmanager
def in_float64(model: Any) -> Iterator[None]:  # noqa: ANN401 - transformers' models
    """Let a float32 model compute in float64; at the end, it has the weights it had.

    Its code may round to float32 in places, as that of most norms does, and may fail.
    """
    blocks = _blocks(model)
    inside = {id(module) for block in blocks for module in block.modules()}
    outside = [module for module in model.modules() if id(module) not in inside]
    with ExitStack() as stack:
        stack.enter_context(_plain_experts(model))
        for block in blocks:
            stack.enter_context(_widened_while_called(block))
        stack.enter_context(_widened(outside))
        yield


def _blocks(module: nn.Module) -> list[nn.Module]:
    """Return the layers of a model: what its outermost lists of modules hold."""
    if isinstance(module, nn.ModuleList):
        return [*module]
    return [block for child in module.children() for block in _blocks(child)]


@contextmanager
def _widened_while_called(block: nn.Module) -> Iterator[None]:
    calls: list[ExitStack] = []

    def before(*_: object) -> None:
        calls.append(ExitStack())
        calls[-1].enter_context(_widened(block.modules()))

    def after(*_: object) -> None:
        calls.pop().close()

    hooks = [
        block.register_forward_pre_hook(before),
        block.register_forward_hook(after, always_call=True),
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
        for call in calls:
            call.close()


@contextmanager
def _widened(modules: Iterable[nn.Module]) -> Iterator[None]:
    """Replace the tensors of modules by wider ones; a shared one stays shared."""
    replaced: list[tuple[dict[str, Any], str, torch.Tensor]] = []
    made: dict[int, torch.Tensor] = {}
    try:
        for module in modules:
            tables: tuple[dict[str, Any], ...] = (module._parameters, module._buffers)  # noqa: SLF001 - `.data` cannot be set in inference mode
            for tensors in tables:
                for name, tensor in tensors.items():
                    if tensor is None or tensor.dtype != torch.float32:
                        continue
                    replaced.append((tensors, name, tensor))
                    if id(tensor) not in made:
                        made[id(tensor)] = _wide(tensor)
                    tensors[name] = made[id(tensor)]
        yield
    finally:
        for tensors, name, tensor in replaced:
            tensors[name] = tensor


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    is_parameter = isinstance(tensor, nn.Parameter)
    widened = tensor.detach().double()
    return nn.Parameter(widened, requires_grad=False) if is_parameter else widened


@contextmanager
def _plain_experts(model: Any) -> Iterator[None]:  # noqa: ANN401 - as above
    """Let experts be computed by plain products: the faster ones have no float64."""
    before = getattr(model.config, "_experts_implementation", None)
    if before in {None, "eager"} or not hasattr(model, "set_experts_implementation"):
        yield
        return
    model.set_experts_implementation("eager")
    try:
        yield
    finally:
        model.set_experts_implementation(before)
