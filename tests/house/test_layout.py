"""The rooms: who imports what, what lies at the top, what importing does not do."""

import ast
import importlib
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

import pytest
from support.places import ROOT

from nnd.schemas.lazy import exports_in

FOLDERS = {
    "nnd.metric": "nnd_metric",
    "nnd.converters": "converters",
    "nnd.schemas": "schemas",
    "nnd.cards": "cards",
}
MOST_MODULES = 25

TOP_LEVEL = {
    "pyproject.toml",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "LICENSE",
    "Makefile",
    "constraints.txt",
    *FOLDERS.values(),
    "tests",
}


def rooms() -> dict[str, Path]:
    """Dotted name → folder of every room; the front door is one."""
    found = {
        ".".join([top, *init.parent.relative_to(ROOT / folder).parts]): init.parent
        for top, folder in FOLDERS.items()
        for init in sorted((ROOT / folder).rglob("__init__.py"))
    }
    found["nnd"] = found.pop("nnd.metric.api")
    found["near_negative"] = found.pop("nnd.metric.api.near_negative")
    return found


ROOMS = rooms()
EXPORTS = {
    name: exports_in((folder / "__init__.py").read_text(encoding="utf-8"), name)
    for name, folder in ROOMS.items()
}


def modules() -> Iterator[tuple[str, Path]]:
    """Yield the room and the path of every module, those of sources included."""
    for room, folder in ROOMS.items():
        yield from ((room, path) for path in sorted(folder.glob("*.py")))
    yield from (
        ("nnd.converters.sources", path)
        for path in sorted((ROOT / "converters" / "sources").rglob("*.py"))
    )


def imports(path: Path) -> Iterator[tuple[str, str]]:
    """Yield module and name of whatever a module imports from ours."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from ((str(node.module), alias.name) for alias in node.names)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_says_in_one_sentence_what_it_is_for(room: str) -> None:
    text = (ROOMS[room] / "__init__.py").read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(text))
    assert docstring is not None
    assert re.fullmatch(r"[A-Z`].*\.", docstring.partition("\n")[0])


def wing_of(module: str) -> str:
    """Return the wing of a room: a folder in the metric or the converters, else the top."""
    parts = module.split(".")
    return ".".join(parts[: 3 if parts[1:2] in (["metric"], ["converters"]) else 2])


def test_across_wings_only_what_a_wing_exports_is_imported() -> None:
    wrong = []
    for room, path in modules():
        if path.name == "__init__.py":
            continue
        for module, name in imports(path):
            if module.split(".")[0] != "nnd" or module == "nnd.schemas.lazy":
                continue
            inside = wing_of(module) == wing_of(room) and module != wing_of(room)
            if not inside and name not in EXPORTS.get(module, {}):
                wrong.append(f"{path.relative_to(ROOT)} imports {name} from {module}")
            if module == "nnd":
                wrong.append(f"{path.relative_to(ROOT)} imports through the front door")
    assert wrong == []


def test_rooms_inside_a_wing_have_no_exports() -> None:
    assert [
        room for room in ROOMS if EXPORTS[room] and room.count(".") > wing_of(room).count(".")
    ] == []


@pytest.mark.parametrize("room", [room for room in ROOMS if EXPORTS[room]])
@pytest.mark.parametrize("first", ["the room", "its modules"])
def test_a_room_gives_the_same_names_whatever_was_imported_before(room: str, first: str) -> None:
    """A module called like an export would take its place once it is imported."""
    package = importlib.import_module(room)
    if first == "its modules":
        for module, _ in EXPORTS[room].values():
            importlib.import_module(module)
    for name, (module, its_name) in EXPORTS[room].items():
        given = getattr(package, name)
        assert given == getattr(importlib.import_module(module), its_name)
        assert getattr(package, name) == given
        assert not (ROOMS[room] / f"{name}.py").exists()
        assert not (ROOMS[room] / name).is_dir()


def test_what_is_imported_of_other_projects_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    declared = {_normal(re.split(r"[\[>=<]", line)[0]) for line in lines}
    assert any(line.startswith("transformers[torch]") for line in lines)
    declared |= {"accelerate", "tokenizers", "referencing"}  # with it, and with jsonschema
    owners = packages_distributions()
    tops = {name.partition(".")[0] for _, path in modules() for name, _ in imports(path)}
    others = tops - sys.stdlib_module_names - {"nnd", "near_negative"}

    assert len(others) > 20
    assert [name for name in others if not {*map(_normal, owners[name])} & declared] == []


def _normal(distribution: str) -> str:
    return re.sub("[-_.]+", "-", distribution).lower()


def test_no_folder_is_crowded() -> None:
    crowded = {
        folder: count
        for top in [*FOLDERS.values(), "tests"]
        for folder in [ROOT / top, *(ROOT / top).rglob("*/")]
        if (count := len(list(folder.glob("*.py")))) > MOST_MODULES
    }
    assert crowded == {}


def test_every_room_is_in_the_wheel() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert sorted(settings["tool"]["setuptools"]["packages"]) == sorted(ROOMS)


def test_the_linter_of_imports_sees_every_module_and_is_content(tmp_path: Path) -> None:
    """Over the editable install it would see one module, and be content with that."""
    house = tmp_path / "nnd"
    house.mkdir()
    (house / "__init__.py").symlink_to(ROOT / "nnd_metric" / "api" / "__init__.py")
    for name, folder in FOLDERS.items():
        (house / name.removeprefix("nnd.")).symlink_to(ROOT / folder)
    done = subprocess.run(
        [
            Path(sys.executable).with_name("lint-imports"),
            "--no-cache",
            "--config",
            "pyproject.toml",
        ],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    seen = re.search(r"Analyzed (\d+) files", done.stdout)
    there = sum(1 for room, _ in modules() if room != "nnd.converters.sources")
    assert seen is not None
    assert int(seen[1]) == there + 1  # the front door lies in nnd_metric/api too


def test_nothing_else_lies_at_the_top() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("this is not a git checkout: what belongs to it is not known")
    top = {line.split("/")[0] for line in listed.stdout.splitlines()}
    assert {name for name in top if not name.startswith(".")} <= TOP_LEVEL


def test_importing_has_no_side_effect() -> None:
    """No top-level name of ours, no log handler, no seed, no torch by way of the converters."""
    program = """
import logging, random, sys
random.seed(1); state = random.getstate()
from nnd.cards.dataset import write_card
from nnd.converters.folder import convert, validate
from nnd.metric.cli import main
taken = {"converters", "schemas", "cards", "nnd_metric", "torch", "transformers", "datasets"}
print(sorted(taken & set(sys.modules)), logging.root.handlers, random.getstate() == state)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd="/"
    )
    assert done.stdout == "[] [] True\n"


POSIX_ONLY = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}


def imported_at_once(path: Path) -> Iterator[str]:
    """Yield the names of the modules that a module imports outside its functions."""
    nodes: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module)
        elif not isinstance(node, ast.FunctionDef):
            nodes += ast.iter_child_nodes(node)


def test_no_module_needs_what_windows_lacks_to_be_imported() -> None:
    found = {path: {*imported_at_once(path)} for _, path in modules()}

    assert len(found) > 450
    assert {path: names for path, names in found.items() if names & POSIX_ONLY} == {}
    # It is seen where it is: in the function that takes a lock.
    assert "fcntl" in {name for _, path in modules() for name, _ in imports(path)}
