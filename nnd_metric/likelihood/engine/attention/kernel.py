"""The type of a kernel: a way to attend over a packed row."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import torch

from nnd.metric.likelihood.engine.attention.row_layout import Layout


class CannotPackError(Exception):
    """The model does something that packing would compute wrongly."""


class LayerNeeds(NamedTuple):
    """What a layer needs from its attention, apart from queries, keys and values.

    Attributes:
        crossing: Whether the candidates of a decoder attend to the encoder's row.
        scaling: Factor of the scores; None means 1/sqrt(size).
        window: How many tokens a query sees, itself included; None if no request is longer.
        bias: [1, heads, 1, 2 * reach - 1], added to the score of a key by its distance from the
            query (entry reach - 1 is distance 0); None adds nothing.
        cap: Largest absolute score: each becomes cap * tanh(score / cap) before biases are added.
        sinks: [heads], the score of a further key of each head, whose value is zero.
    """

    crossing: bool = False
    scaling: float | None = None
    window: int | None = None
    bias: torch.Tensor | None = None
    cap: float | None = None
    sinks: torch.Tensor | None = None


Kernel: TypeAlias = Callable[
    [torch.Tensor, torch.Tensor, torch.Tensor, Layout, LayerNeeds], torch.Tensor
]
"""Attends: queries [1, heads, row, size], keys and values [1, key heads, keys, size of each],
→ [row, heads, size of values]."""

Choose: TypeAlias = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, Layout, LayerNeeds], Kernel]
"""Chooses the kernel of a layer; it gets the arguments of a kernel."""


def add_sinks(out: torch.Tensor, weight: torch.Tensor, sinks: torch.Tensor) -> None:
    """Scale results [n, heads, size] over some keys to those over these keys and sinks [heads].

    Weights are the logarithms of the sums of exponentials over the keys, [heads, n].
    """
    share = torch.sigmoid(weight - sinks[:, None]).T[..., None]
    out *= share.to(out.dtype)
