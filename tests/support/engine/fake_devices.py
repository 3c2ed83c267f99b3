"""Devices that are invented: tensors say that they are on one, and are kept in the CPU's memory.

Anything computed from tensors of two devices is an error, as it is on real ones.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter, tree_map_only

KIND = "meta"

_COPIES = {torch.ops.aten.copy_.default, torch.ops.aten._to_copy.default}


class _Placed(torch.Tensor):
    """A tensor that says it is on a device; its numbers are in `kept`."""

    kept: torch.Tensor

    @classmethod
    def __torch_dispatch__(cls, *_: Any) -> Any:
        message = "the device does not exist any more"
        raise RuntimeError(message)


def _place(kept: torch.Tensor, device: torch.device) -> _Placed:
    layout = {"strides": kept.stride(), "storage_offset": kept.storage_offset()}
    made: _Placed = torch.Tensor._make_wrapper_subclass(
        _Placed, kept.shape, dtype=kept.dtype, device=device, **layout
    )
    made.kept = kept
    return made


@contextmanager
def fake_devices() -> Iterator[None]:
    """Let `meta:0`, `meta:1` and so on be devices with numbers."""
    torch._C._set_only_lift_cpu_tensors(True)  # `torch.tensor` then copies where it is seen
    try:
        with _Devices():
            yield
    finally:
        torch._C._set_only_lift_cpu_tensors(False)


class _Devices(TorchDispatchMode):
    def __torch_dispatch__(
        self, operation: Any, _types: Any, args: Any = (), options: Any = None
    ) -> Any:
        options = dict(options or {})
        if operation._can_decompose():
            with self:
                return operation.decompose(*args, **options)
        given = [each for each in tree_iter((args, options)) if isinstance(each, torch.Tensor)]
        devices = {each.device for each in given if each.dim() or isinstance(each, _Placed)}
        if len(devices) > 1 and operation not in _COPIES:
            message = f"{operation} of tensors on {' and '.join(sorted(map(str, devices)))}"
            raise RuntimeError(message)
        args, options = tree_map_only(_Placed, lambda each: each.kept, (args, options))
        place = options.get("device") or next((each.device for each in given), None)
        if "device" in options:
            options["device"] = torch.device("cpu")
        made = operation(*args, **options)
        if place is None or place.type == "cpu":
            return made
        return tree_map_only(torch.Tensor, lambda each: _place(each, place), made)
