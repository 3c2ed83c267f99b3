"""What people install: a wheel with `nnd/` and nothing else, that does the main job elsewhere."""

import json
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from support.places import ROOT

TRACKED = ("pyproject.toml", "README.md", "LICENSE", "nnd_metric", "converters", "schemas", "cards")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build from a copy, so that the checkout gets no build folder."""
    tree = tmp_path_factory.mktemp("tree")
    for name in TRACKED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tree / name)
    subprocess.run(
        [
            sys.executable,
            "-m",
            "build",
            "--wheel",
            "--no-isolation",
            "--outdir",
            tree / "out",
            tree,
        ],
        check=True,
        capture_output=True,
    )
    (built,) = (tree / "out").glob("*.whl")
    return built


def test_wheel_holds_every_module_and_source_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    rooms = {
        "metric": "nnd_metric",
        "converters": "converters",
        "schemas": "schemas",
        "cards": "cards",
    }
    expected = {
        f"nnd/{room}/{path.relative_to(ROOT / folder)}"
        for room, folder in rooms.items()
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in names if ".dist-info/" not in name} == expected


def test_installed_wheel_converts_and_evaluates(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", site, wheel],
        check=True,
        capture_output=True,
    )
    # -S leaves the editable install of this checkout out; the dependencies are put back by hand.
    start = f"import sys; sys.path[:0] = {[str(site), sysconfig.get_path('purelib')]!r}; "
    command = [sys.executable, "-S", "-c"]

    def nnd(*arguments: str) -> str:
        program = (
            f"{start}sys.argv = ['nnd', *{arguments!r}]; from nnd.metric.cli import main; main()"
        )
        done = subprocess.run(
            [*command, program], cwd=tmp_path, check=True, capture_output=True, text=True
        )
        return done.stdout

    nnd("convert", "sample", "--out", "sample")
    train = (
        f"{start}from pathlib import Path; import polars as pl;"
        "import nnd.metric.toy_models as toys;"
        "assert toys.__file__.startswith(sys.path[0]), toys.__file__;"
        "toys.train_toy_models(pl.read_parquet('sample/pairs.parquet'), Path('toys'),"
        " recipes=toys.RECIPES[:1])"
    )
    subprocess.run([*command, train], cwd=tmp_path, check=True, capture_output=True)
    printed = nnd("evaluate", "--model", "toys/toy-untrained", "--data", "sample", "--json")
    (result,) = json.loads(printed)["results"]
    assert result["n"] == result["by_aspect"]["answer"]["n"] + result["by_aspect"]["question"]["n"]
