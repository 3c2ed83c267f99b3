"""What keeps the contract of torch's kernel for sequences of different lengths, on any device."""

import itertools
from typing import Any

import torch


def loop_varlen(  # noqa: PLR0917 - its signature
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    ends: torch.Tensor,
    key_ends: torch.Tensor,
    longest: int,
    longest_keys: int,
    *,
    scale: float | None,
    window_size: tuple[int, int],
    enable_gqa: bool,
    num_splits: int,
    return_aux: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Keep the contract of `varlen_attn`: sequence by sequence, and with sums [heads, rows]."""
    assert (num_splits, return_aux.lse) == (1, True)
    assert ends.dtype == key_ends.dtype == torch.int32
    assert len(ends) == len(key_ends)
    assert (ends[-1], key_ends[-1]) == (len(query), len(key))
    assert longest >= ends.diff().max()
    assert longest_keys >= key_ends.diff().max()
    assert enable_gqa == (query.shape[1] != key.shape[1])
    shared = query.shape[1] // key.shape[1]
    key, value = (each.repeat_interleave(shared, dim=1) for each in (key, value))
    out, sums = torch.empty_like(query), query.new_empty((query.shape[1], len(query)))
    places = zip(
        itertools.pairwise(ends.tolist()), itertools.pairwise(key_ends.tolist()), strict=True
    )
    for (start, stop), (first, last) in places:
        scores = torch.einsum("qhd,khd->hqk", query[start:stop], key[first:last])
        scores *= query.shape[-1] ** -0.5 if scale is None else scale
        if window_size == (-1, 0):
            scores += torch.full_like(scores[0], float("-inf")).triu(
                1 + last - first - stop + start
            )
        sums[:, start:stop] = scores.logsumexp(-1)
        weights = scores.softmax(-1)
        out[start:stop] = torch.einsum("hqk,khd->qhd", weights, value[first:last])
    return out, sums
