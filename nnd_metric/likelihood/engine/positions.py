"""Positions of a packed row, for models that would count them over the whole row."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import torch

from nnd.metric.likelihood.engine.attention.interface import current_layout
from nnd.metric.likelihood.engine.attention.kernel import CannotPackError

_Arguments: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]
_Hook: TypeAlias = Callable[[torch.nn.Module, tuple[Any, ...], dict[str, Any]], _Arguments]


@contextmanager
def own_positions(model: torch.nn.Module) -> Iterator[None]:
    """Let every module that embeds positions, or computes a bias from them, use the row's.

    Raises:
        CannotPackError: If there is no such module.
    """
    hooks = [(module, _hook(name, module)) for name, module in model.named_modules()]
    handles = [
        module.register_forward_pre_hook(hook, with_kwargs=True) for module, hook in hooks if hook
    ]
    try:
        if not handles:
            raise CannotPackError("the model does not let its positions be set")
        yield
    finally:
        for handle in handles:
            handle.remove()


def _hook(name: str, module: torch.nn.Module) -> _Hook | None:
    if hasattr(module, "compute_bias") and hasattr(module, "has_relative_attention_bias"):
        return _give_bias
    embeds = name.endswith("embed_positions")
    if embeds and "position_ids" in inspect.signature(module.forward).parameters:
        return _give_positions
    return None


def _give_positions(
    _module: torch.nn.Module, args: tuple[Any, ...], options: dict[str, Any]
) -> _Arguments:
    return args, {**options, "position_ids": current_layout().position}


def _give_bias(
    module: torch.nn.Module, args: tuple[Any, ...], options: dict[str, Any]
) -> _Arguments:
    """Give T5's bias by distance, [1, heads, 1, 2 * reach - 1]: entry reach - 1 is distance 0.

    T5 would compute it for every pair of places in the row, although it depends only on their
    distance. For a layer without a bias, it is a single zero.
    """
    if options.get("position_bias") is not None:
        return args, options
    attention: Any = module
    if attention.has_relative_attention_bias:
        reach = current_layout().reach
        bias = attention.compute_bias(1, 2 * reach - 1, past_seen_tokens=reach - 1)
    else:
        bias = torch.zeros((), device=attention.q.weight.device)
    return args, {**options, "position_bias": bias}
