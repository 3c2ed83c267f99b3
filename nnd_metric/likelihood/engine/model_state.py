"""Restore a model's state after a forward pass."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

_TABLES = ("_modules", "_parameters", "_buffers")


@contextmanager
def as_found(model: torch.nn.Module) -> Iterator[None]:
    """Restore the modules, buffers and attributes of a model at the end.

    A forward pass may change the next one: BigBird gives up its sparse attention for good at the
    first short text, and dynamic RoPE keeps the frequencies of the longest. The contents of tensors
    are not checked.
    """
    before = [
        (module, dict(vars(module)), [dict(vars(module)[name]) for name in _TABLES])
        for module in model.modules()
    ]
    try:
        yield
    finally:
        for module, attributes, tables in before:
            vars(module).clear()
            vars(module).update(attributes)
            for name, table in zip(_TABLES, tables, strict=True):
                vars(module)[name].clear()
                vars(module)[name].update(table)
