"""Flatten a module and all modules that it needs into one folder, so `evaluate` can load it.

`evaluate` downloads a script and the files in its folder that the script imports in unindented
lines, but neither subfolders nor the imports of those files. So every module that the script needs,
even indirectly, becomes a file (`nnd.metric.data.pairs`: `data_pairs.py`), imports from a package
become imports from the module that defines the name, and the script imports all files.
"""

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from nnd.schemas.lazy import exports_in


@dataclass(frozen=True, slots=True)
class _FlatModule:
    """A module that imports flat files instead of modules of its package.

    Its own import loads the modules `at_once`; it imports those `later` inside functions or for
    type checkers.
    """

    text: str
    at_once: frozenset[str]
    later: frozenset[str]


def flatten(script: str) -> dict[str, str]:
    """Return the texts of a module and of all modules of its package that it needs.

    They are given as name of the flat file, without `.py` → its text.
    """
    needed = _closure(script, lambda module: _flat(module).at_once | _flat(module).later)
    at_once = _closure(script, lambda module: _flat(module).at_once)
    texts = {flat_name(module): _flat(module).text for module in sorted(needed)}
    return texts | {
        flat_name(script): _name_files(
            _flat(script).text,
            at_once=sorted(flat_name(module) for module in at_once - {script}),
            later=sorted(flat_name(module) for module in needed - at_once),
        )
    }


def flat_name(module: str) -> str:
    """Return the name of a module's flat file: nnd.metric.data.pairs → data_pairs."""
    return module.partition(".")[2].removeprefix("metric.").replace(".", "_")


def statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield all nodes of a module but expressions, which are most of them and import nothing."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        for node in ast.iter_child_nodes(waiting.pop()):
            if not isinstance(node, ast.expr):
                yield node
                waiting.append(node)


def _closure(start: str, needs: Callable[[str], Iterable[str]]) -> set[str]:
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        module = waiting.pop()
        if module not in reached:
            reached.add(module)
            waiting += needs(module)
    return reached


@cache
def _flat(module: str) -> _FlatModule:
    text, _ = _source(module)
    tree = ast.parse(text)
    lines = text.splitlines(keepends=True)
    package = module.partition(".")[0]
    at_once, later = set[str](), set[str]()
    imports = [node for node in statements(tree) if isinstance(node, ast.ImportFrom)]
    for node in sorted(imports, key=lambda node: -node.lineno):
        if str(node.module).partition(".")[0] != package:
            continue
        origins: dict[str, list[str]] = defaultdict(list)  # defining module → NAME [as OTHER]
        for alias in node.names:
            origin, name = _origin(str(node.module), alias.name)
            known_as = alias.asname or alias.name
            origins[origin].append(name if known_as == name else f"{name} as {known_as}")
        (at_once if node in tree.body else later).update(origins)
        lines[node.lineno - 1 : node.end_lineno] = [
            f"{' ' * node.col_offset}from .{flat_name(origin)} import {', '.join(names)}\n"
            for origin, names in origins.items()
        ]
    return _FlatModule("".join(lines), frozenset(at_once), frozenset(later))


def _origin(module: str, name: str) -> tuple[str, str]:
    """Return the module that defines a name, which a package may export, and its name there."""
    exports = _exports(module)
    return (module, name) if exports is None else _origin(*exports[name])


@cache
def _exports(module: str) -> Mapping[str, tuple[str, str]] | None:
    text, is_package = _source(module)
    return exports_in(text, module) if is_package else None


def _source(module: str) -> tuple[str, bool]:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"no module named {module}", name=module)
    is_package = spec.submodule_search_locations is not None
    return Path(spec.origin).read_text(encoding="utf-8"), is_package


def _name_files(script: str, *, at_once: Iterable[str], later: Iterable[str]) -> str:
    """Return a script with an unindented import of every file, for `evaluate` to find.

    Files that are only needed later are named in a string, where `evaluate` finds them, too:
    importing them at once would load libraries that a metric may never need.
    """
    named = [f"from .{name} import __name__ as _{name}\n" for name in at_once]
    if later:
        named += ["_LATER = '''\n", *(f"from .{name} import *\n" for name in later), "'''\n"]
    lines = script.splitlines(keepends=True)
    begin = ast.parse(script).body[0].end_lineno or 0  # below the docstring
    comment = (
        "\n# All required files: `evaluate` downloads only files that it finds in such lines.\n"
    )
    return "".join([*lines[:begin], comment, *named, *lines[begin:]])
