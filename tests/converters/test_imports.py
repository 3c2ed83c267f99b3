"""Importing this side of the house has no side effects."""

import subprocess
import sys
from pathlib import Path

import pytest

# Every module of the two rooms and of those inside, found by listing their folders.
IMPORT_ALL = """
import importlib, pkgutil, sys
import nnd.converters, nnd.schemas

for room in (nnd.converters, nnd.schemas):
    for module in pkgutil.walk_packages(room.__path__, room.__name__ + "."):
        importlib.import_module(module.name)
assert "nnd.converters.folder.validation" in sys.modules
print(*sys.modules)
"""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Names of all modules that are loaded when every module of converters and schemas is."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path_factory.mktemp("elsewhere"),
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize("heavy", ["torch", "transformers", "datasets", "evaluate", "nnd.metric"])
def test_nothing_heavy_is_loaded(loaded: list[str], heavy: str) -> None:
    assert heavy not in loaded


@pytest.mark.parametrize("name", ["converters", "schemas", "cards", "nnd_metric"])
def test_no_room_is_loaded_under_the_name_of_its_folder(loaded: list[str], name: str) -> None:
    assert name not in loaded


def test_converting_loads_nothing_heavy(nnd_data: Path, tmp_path: Path) -> None:
    script = (
        "import sys; from nnd.converters.folder.conversion import convert; "
        "convert('challenge300', origin=sys.argv[1], out=sys.argv[2]); "
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, nnd_data / "challenge300", tmp_path / "out"],
        capture_output=True,
        text=True,
        check=True,
    )

    heavy = {"torch", "transformers", "datasets", "evaluate", "pandas", "scipy"}
    assert set(done.stdout.split()).isdisjoint(heavy)
