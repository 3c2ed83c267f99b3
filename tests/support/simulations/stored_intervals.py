"""Which fields of our records hold an interval, found in the code itself."""

import ast
from collections.abc import Iterator
from pathlib import Path

from support.places import ROOT

_ROOMS = "nnd_metric", "converters", "schemas", "cards"


def stored_intervals() -> set[str]:
    """Return Class.field of every dataclass field that is named or typed an interval."""
    sources = (path for room in _ROOMS for path in (ROOT / room).rglob("*.py"))
    return {name for path in sources for name in _fields(path)}


def _fields(path: Path) -> Iterator[str]:
    text = path.read_text()
    if "nterval" not in text:
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef) and node.decorator_list:
            for field in node.body:
                if isinstance(field, ast.AnnAssign) and _is_interval(field):
                    yield f"{node.name}.{ast.unparse(field.target)}"


def _is_interval(field: ast.AnnAssign) -> bool:
    name, kind = ast.unparse(field.target), ast.unparse(field.annotation)
    is_words = "reason" in name or "method" in name
    return not is_words and ("interval" in name or "Interval" in kind)
