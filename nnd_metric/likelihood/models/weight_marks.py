"""Marks of weights in memory, which tell that a tensor was edited since it was loaded.

A commit or a digest of files names the weights as they were read. A notebook edits them in place,
often through `.data`, which torch's counters of versions do not see: so the contents are compared,
by sums that take one pass over the memory, as one forward pass does.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

import torch

_BY_SIZE: Final = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_WIDTH: Final = 61
"""Columns that are summed: a prime, so that rows which change places change the sums."""

_PART: Final = _WIDTH << 16


class Mark(NamedTuple):
    """Shape, dtype and sums of the bits of a tensor."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    sums: tuple[int, ...]


def marks_of(tensors: Mapping[str, torch.Tensor]) -> dict[str, Mark]:
    """Return the mark of each tensor that is plain and in memory; tied ones are read once."""
    known: dict[tuple[object, ...], Mark] = {}
    found = {}
    for name, tensor in tensors.items():
        if tensor.is_meta or type(tensor) not in (torch.Tensor, torch.nn.Parameter):
            continue
        place = (tensor.data_ptr(), tensor.device, tensor.dtype, tensor.shape, tensor.stride())
        if place not in known:
            known[place] = Mark(tuple(tensor.shape), tensor.dtype, _sums(tensor))
        found[name] = known[place]
    return found


def edited(before: Mapping[str, Mark], tensors: Mapping[str, torch.Tensor]) -> list[str]:
    """Return the names of the tensors whose contents are not those of their marks.

    Tensors of another shape are left out: an adapter's tokens made room for themselves.
    """
    now = marks_of({name: tensor for name, tensor in tensors.items() if name in before})
    return sorted(
        name
        for name, mark in before.items()
        if name not in now or (now[name] != mark and now[name].shape == mark.shape)
    )


def _sums(tensor: torch.Tensor) -> tuple[int, ...]:
    bits = tensor.detach().contiguous().view(-1).view(_BY_SIZE[tensor.element_size()])
    whole = len(bits) // _WIDTH * _WIDTH
    total = torch.zeros(_WIDTH, dtype=torch.int64, device=tensor.device)
    for start in range(0, whole, _PART):
        part = bits[start : min(start + _PART, whole)]
        total += part.view(-1, _WIDTH).sum(0, dtype=torch.int64)
    return (*total.tolist(), *bits[whole:].tolist())
