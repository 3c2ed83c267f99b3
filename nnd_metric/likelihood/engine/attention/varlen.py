"""Attention by kernels for sequences of different lengths, with two or three calls for a layer.

The first lets every context and every candidate see its own past; in the second, the candidates of
each context see all of it; in a third, all see the common beginning of the contexts, if there is
one. A softmax over the keys of all is the mean of the results, weighted by the sums of their
exponentials. There are no masks, keys and values are not copied, and heads may
share them.
"""

from collections.abc import Callable
from functools import cache
from inspect import signature
from typing import Any, TypeAlias

import torch
from torch.nn.attention.varlen import AuxRequest, varlen_attn

from nnd.metric.likelihood.engine.attention.kernel import (
    CannotPackError,
    Kernel,
    LayerNeeds,
    add_sinks,
)
from nnd.metric.likelihood.engine.attention.row_layout import Layout, SequenceEnds

Varlen: TypeAlias = Callable[..., Any]
"""`torch.nn.attention.varlen.varlen_attn`, or a function with the same contract."""

_HALF = (torch.float16, torch.bfloat16)
_LARGEST_HEAD, _HEAD_STEP = 256, 8
_AMPERE = (8, 0)

# The keys of a sequence are added up in one order, whatever else is in the row, where torch can be
# told so; AMD's kernel refuses to be told.
_CAN_SPLIT = "num_splits" in signature(varlen_attn).parameters and not torch.version.hip
_SPLITS = {"num_splits": 1} if _CAN_SPLIT else {}


def takes_varlen(query: torch.Tensor, value: torch.Tensor, needs: LayerNeeds) -> bool:
    """Whether torch's kernel supports such a layer on such a device."""
    size = query.shape[-1]
    return (
        query.is_cuda
        and query.dtype in _HALF
        and _is_ampere(query.device)
        and size == value.shape[-1]
        and size <= _LARGEST_HEAD
        and size % _HEAD_STEP == 0
        and needs.window is None
        and needs.bias is None
        and needs.cap is None
    )


def varlen_kernel(varlen: Varlen = varlen_attn) -> Kernel:
    """Return the `Kernel` that calls a function with the contract of `varlen_attn`."""

    def attend_varlen(
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        layout: Layout,
        needs: LayerNeeds,
    ) -> torch.Tensor:
        queries, keys, values = (each[0].transpose(0, 1) for each in (query, key, value))

        def call(
            rows: slice, sees: slice, ends: SequenceEnds, key_ends: SequenceEnds, *, causal: bool
        ) -> tuple[torch.Tensor, torch.Tensor]:
            attended: tuple[torch.Tensor, torch.Tensor] = varlen(
                queries[rows],
                keys[sees],
                values[sees],
                ends.ends,
                key_ends.ends,
                # If every sequence has a single query, heads that share keys are computed in
                # another way, which returns its sums in another shape.
                max(2, ends.longest),
                key_ends.longest,
                return_aux=AuxRequest(lse=True),
                scale=needs.scaling,
                window_size=(-1, 0) if causal else (-1, -1),
                **_SPLITS,
                enable_gqa=query.shape[1] != key.shape[1],
            )
            return attended

        everything = slice(None)
        if needs.crossing:
            across = layout.group_ends, layout.context_ends
            out, weight = call(everything, everything, *across, causal=False)
        else:
            own = layout.sequence_ends, layout.sequence_ends
            out, weight = call(everything, everything, *own, causal=layout.causal)
            contexts, behind = layout.contexts_and_behind
            if contexts.stop and behind.stop > behind.start:
                across = layout.group_ends, layout.context_ends
                more = call(behind, contexts, *across, causal=False)
                _add(out[behind], weight[:, behind], *more)
            if layout.beginning:
                after = slice(layout.beginning, None)
                more = call(after, slice(layout.beginning), *layout.beginning_ends, causal=False)
                _add(out[after], weight[:, after], *more)
        if needs.sinks is not None:
            add_sinks(out, weight, needs.sinks)
        return out

    return attend_varlen


def _add(
    out: torch.Tensor, weight: torch.Tensor, more: torch.Tensor, its_weight: torch.Tensor
) -> None:
    """Add results [n, heads, size] over further keys to those over some keys, and their weights.

    Weights are the logarithms of the sums of exponentials, [heads, n].
    """
    if its_weight.shape != weight.shape:
        raise CannotPackError(
            f"its attention returned sums of an unexpected shape, {its_weight.shape}"
        )
    share = torch.sigmoid(its_weight - weight).T[..., None]
    out.lerp_(more, share.to(out.dtype))  # computed in float32, with no copy in it
    torch.logaddexp(weight, its_weight, out=weight)


@cache
def _is_ampere(device: torch.device) -> bool:
    return torch.cuda.get_device_capability(device) >= _AMPERE


attend_varlen = varlen_kernel()
