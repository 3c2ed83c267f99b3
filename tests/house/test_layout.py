"""The rooms: who may import whom, what lies at the top, what importing does not do."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.places import ROOT

# Room → (folder, rooms it may import). design.md, § Rooms.
ROOMS: dict[str, tuple[str, set[str]]] = {
    "schemas": ("schemas", {"schemas"}),
    "cards": ("cards", {"cards", "schemas"}),
    "converters": ("converters", {"converters", "cards", "schemas"}),
    "metric": ("nnd_metric", set()),
}

TOP_LEVEL = {
    "pyproject.toml",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "LICENSE",
    "Makefile",
    "constraints.txt",
    "converters",
    "nnd_metric",
    "schemas",
    "cards",
    "tests",
}


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield f"{'.' * node.level}{node.module or ''}"


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_the_rooms_below_it(room: str) -> None:
    folder, allowed = ROOMS[room]
    for path in (ROOT / folder).rglob("*.py"):
        if path.name.startswith("cli"):
            continue  # the commands may import every room
        for name in _imports(path):
            if name.startswith("nnd."):
                assert name.split(".")[1] in allowed, f"{path.name} imports {name}"


def _siblings(path: Path) -> set[str]:
    return {name[1:] for name in _imports(path) if name.startswith(".")} | {
        name.split(".")[2]
        for name in _imports(path)
        if name.startswith(f"nnd.{path.parent.name}.") and name.count(".") > 1
    }


@pytest.mark.parametrize("folder", ["schemas", "converters", "nnd_metric"])
def test_modules_of_a_room_import_each_other_without_a_circle(folder: str) -> None:
    waiting = {path.stem: _siblings(path) for path in (ROOT / folder).glob("*.py")}
    del waiting["__init__"]
    done: set[str] = set()
    while ready := {name for name, needs in waiting.items() if needs & set(waiting) <= done}:
        done |= ready
        waiting = {name: needs for name, needs in waiting.items() if name not in ready}
    assert waiting == {}


def test_nothing_else_lies_at_the_top() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("this is no git checkout, so nobody can say what belongs to it")
    top = {line.split("/")[0] for line in listed.stdout.splitlines()}
    assert {name for name in top if not name.startswith(".")} <= TOP_LEVEL


def test_importing_has_no_side_effect() -> None:
    """No top-level name of ours, no log handler, no seed, no torch by way of the converters."""
    program = """
import logging, random, sys
random.seed(1); state = random.getstate()
from nnd.cards import write_card
from nnd.converters.folder import convert, validate
from nnd.metric.cli import main
taken = {"converters", "schemas", "cards", "nnd_metric", "torch", "transformers", "datasets"}
print(sorted(taken & set(sys.modules)), logging.root.handlers, random.getstate() == state)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd="/"
    )
    assert done.stdout == "[] [] True\n"
