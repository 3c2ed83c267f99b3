"""What people install: a wheel with `nnd/` and nothing else, that does the main job elsewhere."""

import json
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from support.metric_runs import save_model
from support.places import ROOT

SITE = {ROOT / "cards" / "guide", ROOT / "cards" / "mkdocs.yml"}
COPY = "converters/sources/quiz_design/quiz_design_groups.jsonl.xz"
LICENCE = "converters/sources/quiz_design/LICENSE"
TRACKED = ("pyproject.toml", "README.md", "LICENSE", "nnd_metric", "converters", "schemas", "cards")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the wheel and the sdist, built from a copy of the checkout."""
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
            "--sdist",
            "--no-isolation",
            "--outdir",
            tree / "out",
            tree,
        ],
        check=True,
        capture_output=True,
    )
    return tree / "out"


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    """The wheel."""
    (found,) = built.glob("*.whl")
    return found


def test_wheel_holds_every_module_and_source_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    places = {  # the longest first: a folder may lie in another
        "nnd_metric/api/near_negative": "near_negative",
        "nnd_metric/api": "nnd",
        "nnd_metric": "nnd/metric",
        "converters": "nnd/converters",
        "schemas": "nnd/schemas",
        "cards": "nnd/cards",
    }
    files = {
        path.relative_to(ROOT).as_posix()
        for folder in places
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
        if not {path, *path.parents} & SITE
    }
    expected = set()
    for file in files:
        folder = next(folder for folder in places if file.startswith(f"{folder}/"))
        expected.add(file.replace(folder, places[folder], 1))
    assert {name for name in names if ".dist-info/" not in name} == expected


def test_the_annotation_file_that_is_shipped_comes_with_its_licence(
    built: Path, wheel: Path
) -> None:
    """It is the only one; others are fetched."""
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive, zipfile.ZipFile(wheel) as members:
        top = sdist.name.removesuffix(".tar.gz")
        names = {name.removeprefix(f"{top}/") for name in archive.getnames()}
        inside = {name.removeprefix("nnd/") for name in members.namelist()}
        (metadata,) = (name for name in inside if name.endswith("METADATA"))
        said = members.read(metadata).decode()

    for found in (names, inside):
        assert {COPY, LICENCE} <= found
        assert [name for name in found if name.endswith(".xz")] == [COPY]
    assert f"License-File: {LICENCE}" in said
    assert "License-Expression: Apache-2.0 AND BSD-3-Clause" in said


def test_wheel_is_called_near_negative_and_its_command_nnd(wheel: Path) -> None:
    assert wheel.name.startswith("near_negative-")
    with zipfile.ZipFile(wheel) as archive:
        texts = {
            Path(name).name: archive.read(name).decode()
            for name in archive.namelist()
            if ".dist-info/" in name
        }
    assert "\nName: near-negative\n" in texts["METADATA"]
    assert texts["entry_points.txt"] == "[console_scripts]\nnnd = near_negative:main\n"


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the wheel is installed into; leave it as it is."""
    site = tmp_path_factory.mktemp("site")
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", site, wheel],
        check=True,
        capture_output=True,
    )
    return site


def run(site: Path, program: str, *, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run Python with the installed wheel, and without the editable install of this checkout."""
    libraries = [path for path in sys.path if Path(path).name == "site-packages"]
    start = f"import sys; sys.path[:0] = {[str(site), *libraries]!r}; "  # -S leaves them out
    return subprocess.run(
        [sys.executable, "-S", "-c", start + program],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def command(*arguments: str) -> str:
    """The program that runs the command."""
    return f"sys.argv = ['nnd', *{arguments!r}]; from near_negative import main; main()"


@pytest.mark.full
def test_installed_wheel_converts_and_evaluates(installed: Path, tmp_path: Path) -> None:
    done = run(installed, command("convert", "sample", "--out", "sample"), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    model = save_model("gpt2", tmp_path)
    found = "import nnd; assert nnd.__file__.startswith(sys.path[0]), nnd.__file__;"
    evaluate = command("evaluate", "--model", model, "--data", "sample", "--json")
    done = run(installed, found + evaluate, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    (result,) = json.loads(done.stdout)["results"]
    assert result["n"] == result["by_aspect"]["answer"]["n"] + result["by_aspect"]["question"]["n"]


def test_files_that_another_project_overwrote_are_noticed(installed: Path, tmp_path: Path) -> None:
    """As `pip` does where its distribution, too, holds `nnd/__init__.py`."""
    site = Path(shutil.copytree(installed, tmp_path / "site"))
    (site / "nnd" / "__init__.py").write_text("__version__ = '0.2.0'\n")
    done = run(site, command(), folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"nnd: Python imports nnd from {site}/nnd/__init__.py, which is")
