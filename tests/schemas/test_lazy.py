"""Rooms that import their names when they are used."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from nnd.schemas.lazy import exports_in

ROOM = '''"""A room."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .numbers import one as one, two as two
    from json import loads as read
else:
    __getattr__, __dir__ = lazy_exports(__name__)
'''


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a package that nothing has imported yet."""
    (tmp_path / "some_room").mkdir()
    (tmp_path / "some_room" / "__init__.py").write_text(ROOM)
    (tmp_path / "some_room" / "numbers.py").write_text("one, two, three = 1, 2, 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.split(".")[0] == "some_room"]:
        monkeypatch.delitem(sys.modules, name)
    return "some_room"


def test_exports_are_read_from_the_imports_for_type_checkers() -> None:
    assert exports_in(ROOM, "a.room") == {
        "one": ("a.room.numbers", "one"),
        "two": ("a.room.numbers", "two"),
        "read": ("json", "loads"),
    }


def test_a_module_is_imported_when_one_of_its_names_is_used(room: str) -> None:
    package = importlib.import_module(room)
    assert "some_room.numbers" not in sys.modules
    assert {"one", "two", "read"} <= set(dir(package))
    assert "some_room.numbers" not in sys.modules
    assert package.two == 2
    assert "some_room.numbers" in sys.modules
    assert package.read("[1]") == [1]


def test_what_is_not_exported_is_not_there(room: str) -> None:
    package = importlib.import_module(room)
    assert package.one == 1
    with pytest.raises(AttributeError, match="module 'some_room' has no attribute 'three'"):
        package.three  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'three'"):
        exec("from some_room import three")  # noqa: S102


def test_what_is_replaced_in_the_module_is_replaced_in_the_room(
    room: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = importlib.import_module(room)
    assert package.one == 1
    monkeypatch.setattr("some_room.numbers.one", 10)
    assert package.one == 10


def test_importing_every_room_loads_no_heavy_library() -> None:
    program = (
        "import sys, nnd, nnd.schemas, nnd.cards, nnd.converters, nnd.metric; "
        "print(sorted({'torch', 'polars', 'numpy', 'rich', 'jsonschema'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd="/"
    )
    assert done.stdout == "[]\n"
