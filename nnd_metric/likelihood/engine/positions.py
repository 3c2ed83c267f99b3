"""Positions of a packed row, for models that would count them over the whole row."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import torch

from nnd.metric.likelihood.engine.attention.kernel import CannotPackError
from nnd.metric.likelihood.engine.attention.row_layout import Layout

_Arguments: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]
_Hook: TypeAlias = Callable[[torch.nn.Module, tuple[Any, ...], dict[str, Any]], _Arguments]


class Positions:
    """The positions that a model's modules use instead of counting them."""

    def __init__(self) -> None:
        self._row = Layout()

    def follow(self, layout: Layout) -> None:
        """Use the positions of the next row."""
        self._row = layout

    @contextmanager
    def imposed_on(self, model: torch.nn.Module) -> Iterator[None]:
        """Let every module that embeds positions, or computes a bias from them, use the row's.

        Raises:
            CannotPackError: If there is no such module.
        """
        found = [(module, self._hook(name, module)) for name, module in model.named_modules()]
        handles = [
            module.register_forward_pre_hook(hook, with_kwargs=True)
            for module, hook in found
            if hook
        ]
        try:
            if not handles:
                raise CannotPackError("the model does not let its positions be set")
            yield
        finally:
            for handle in handles:
                handle.remove()

    def _hook(self, name: str, module: torch.nn.Module) -> _Hook | None:
        if hasattr(module, "compute_bias") and hasattr(module, "has_relative_attention_bias"):
            return self._bias
        embeds = name.endswith("embed_positions")
        if embeds and "position_ids" in inspect.signature(module.forward).parameters:
            return self._place
        return None

    def _place(
        self, _module: torch.nn.Module, args: tuple[Any, ...], options: dict[str, Any]
    ) -> _Arguments:
        return args, {**options, "position_ids": self._row.position}

    def _bias(
        self, module: torch.nn.Module, args: tuple[Any, ...], options: dict[str, Any]
    ) -> _Arguments:
        if options.get("position_bias") is None:
            bias = _bias_by_distance(module, self._row.reach)
            options = {**options, "position_bias": bias}
        return args, options


def _bias_by_distance(module: Any, reach: int) -> torch.Tensor:  # noqa: ANN401 - T5's attention and its like
    """Return T5's bias by distance, [1, heads, 1, 2 * reach - 1]: entry reach - 1 is distance 0.

    T5 would compute it for every pair of places in the row, although it depends only on their
    distance. For a layer without a bias, the result is a single zero.
    """
    if not module.has_relative_attention_bias:
        return torch.zeros((), device=module.q.weight.device)
    bias: torch.Tensor = module.compute_bias(1, 2 * reach - 1, past_seen_tokens=reach - 1)
    return bias
