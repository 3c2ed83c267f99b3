"""A model keeps nothing of what it has read."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

_TABLES = ("_modules", "_parameters", "_buffers")


@contextmanager
def as_found(model: torch.nn.Module) -> Iterator[None]:
    """Hand a model back with the modules, buffers and attributes it had.

    A forward pass may leave something behind that changes the next one: BigBird gives up its sparse
    attention for good at the first short text, dynamic RoPE keeps the frequencies of the longest.
    Contents of tensors are not looked at.
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
