"""Rooms that are quick to import: each name is imported on first use."""

import ast
import importlib
import sys
from collections.abc import Callable
from functools import cache


def lazy_exports(room: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the `__getattr__` and the `__dir__` of a room.

    A room exports the names that its `__init__.py` imports under `if TYPE_CHECKING:`. They are
    written there once, for type checkers, editors and this function alike:

        if TYPE_CHECKING:
            from .intervals import wilson as wilson
        else:
            __getattr__, __dir__ = lazy_exports(__name__)
    """

    @cache
    def exports() -> dict[str, tuple[str, str]]:
        spec = sys.modules[room].__spec__
        text = spec.loader.get_source(room)  # type: ignore[union-attr] # a package of source files
        return exports_in(text, room)

    def get(name: str) -> object:
        if name not in exports():
            raise AttributeError(f"module {room!r} has no attribute {name!r}", name=name)
        module, its_name = exports()[name]
        # Not stored in the room, so that what a test replaces in the module is replaced here too.
        return getattr(importlib.import_module(module), its_name)

    def names() -> list[str]:
        return sorted({*vars(sys.modules[room]), *exports()})

    return get, names


def exports_in(text: str, room: str) -> dict[str, tuple[str, str]]:
    """Return the exports in the text of a room's `__init__.py`: name → module and name in it."""
    return {
        alias.asname or alias.name: (
            f"{room}.{node.module}" if node.level else str(node.module),
            alias.name,
        )
        for block in ast.parse(text).body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
