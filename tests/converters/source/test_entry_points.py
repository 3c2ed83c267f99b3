"""Sources that installed packages bring along: found, told apart, and never imported.

Each test lays a small distribution out on disk, in a folder on the path of the process.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.refusals import check_refusal
from support.screens.commands import Nnd

from nnd.converters.source import source as sources
from nnd.converters.source.source import BUILT_IN, find_sources, load_source
from nnd.schemas import NNDError, SourceError

COMMAND = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from nnd.metric.cli.command import main
main()
"""
NEVER = "raise RuntimeError('a source is data: nothing of its package is imported')\n"

Install = Callable[..., Path]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the path of the process, as site-packages is; its parent is where it works."""
    (tmp_path / "site").mkdir()
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "site"


@pytest.fixture
def install(site: Path, make_source: Callable[..., Path]) -> Install:
    """`install("bird-data", {"toy": "birds.toy"}, {"birds/toy": {}})`: a distribution.

    Entry points by name, and source folders with the facts that are different from the toy's; every
    package that holds them raises when it is imported.
    """

    def make(
        name: str, points: Mapping[str, str], folders: Mapping[str, Mapping[str, Any]]
    ) -> Path:
        info = site / f"{name.replace('-', '_')}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
        lines = "".join(f"{point} = {value}\n" for point, value in points.items())
        (info / "entry_points.txt").write_text(f"[nnd.sources]\n{lines}")
        for folder, facts in folders.items():
            target = site / folder
            made = make_source(folder=f"{name}-{folder.replace('/', '-')}", **facts)
            shutil.copytree(made, target, dirs_exist_ok=True)
            for package in (target, *target.relative_to(site).parents):
                if package != Path():
                    (site / package / "__init__.py").write_text(NEVER)
        return info

    return make


def problems() -> dict[str, NNDError | None]:
    """The sources of packages: name → what is wrong with one."""
    return {found.name: found.problem for found in find_sources() if found.distribution}


def problem_of(name: str) -> NNDError:
    """What loading a source is refused with."""
    with pytest.raises(SourceError) as caught:
        load_source(name)
    return caught.value


def check_problem(
    found: Mapping[str, NNDError | None], name: str, code: str, where: str
) -> NNDError:
    """Check the error of a source that a package offers."""
    problem = found[name]
    assert problem is not None
    check_refusal(problem, code, where)
    return problem


def test_a_package_brings_a_source_that_is_listed_and_converts(
    site: Path, install: Install
) -> None:
    def run(*arguments: str) -> str:
        command = [sys.executable, "-c", COMMAND, str(site), *arguments]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stderr) == (0, "")
        return ran.stdout

    install("bird-data", {"toy": "birds.toy"}, {"birds/toy": {}})

    listed = json.loads(run("sources", "--json"))["sources"]
    (toy,) = [entry for entry in listed if entry["name"] == "toy"]
    assert (toy["distribution"], toy["problem"]) == ("bird-data 1.2", None)
    run("convert", "toy", "--out", "out")
    manifest = json.loads(Path("out", "manifest.json").read_text("utf-8"))
    assert manifest["counts"]["pairs"] == 2


def test_a_package_brings_several_by_their_own_names(site: Path, install: Install) -> None:
    folders = {"birds/sources/one": {"name": "songs"}, "birds/sources/two": {"name": "two"}}
    install("bird-data", {"whatever": "birds.sources"}, folders)

    assert problems() == {"songs": None, "two": None}
    assert load_source("songs").folder == site / "birds" / "sources" / "one"
    assert load_source("two").folder == site / "birds" / "sources" / "two"
    for name in ("one", "whatever"):
        assert problem_of(name).code == "source.unknown"


def test_a_namespace_and_an_editable_install_are_looked_through(
    site: Path, install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two folders share the package `land`; one is added as editable installs do."""
    install("bird-data", {"toy": "land.birds"}, {"land/birds": {}})
    install("fish-data", {"fish": "land.fish"}, {})
    (site / "land" / "__init__.py").unlink()
    fish = tmp_path / "elsewhere" / "land" / "fish"
    shutil.copytree(site / "land" / "birds", fish)
    path = fish / "source.yaml"
    path.write_text(path.read_text("utf-8").replace("name: toy", "name: fish"), encoding="utf-8")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "elsewhere")])

    assert load_source("toy").folder == site / "land" / "birds"
    assert load_source("fish").folder == fish


def test_a_file_does_not_hide_the_source_of_a_package(
    site: Path, install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("bird-data", {"toy": "birds"}, {"birds": {}})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "toy").touch()

    assert load_source("toy").folder == site / "birds"


def test_help_and_built_in_sources_do_not_look_at_packages(
    nnd: Nnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "entry_points", None)

    assert nnd("convert", "--help").code == 0
    assert nnd("convert", "sample", "--out", "out").code == 0


def test_names_that_are_taken(
    site: Path, install: Install, make_source: Callable[..., Path]
) -> None:
    """The built-in keeps its name, two packages hide each other, and a folder goes before both."""
    install("bird-data", {"sample": "birds"}, {"birds": {"name": "sample"}})
    install("fish-data", {"pond": "fish"}, {"fish": {"name": "pond"}})
    install("frog-data", {"pond": "frogs"}, {"frogs": {"name": "pond"}})
    install("newt-data", {"toy": "newts"}, {"newts": {}})
    make_source(folder="toy")

    found = problems()

    for name, folder in {"sample": "birds", "pond": "frogs"}.items():
        problem = check_problem(found, name, "name.twice", name)
        assert str(site / folder) in problem.remedy
    assert found["toy"] is None
    assert load_source("sample").folder == BUILT_IN / "sample"
    assert problem_of("pond").code == "name.twice"
    assert load_source("toy").folder == Path("toy")
    assert load_source(str(site / "frogs")).folder == site / "frogs"


BROKEN = (
    "nowhere.at.all",
    "birds.nothing",
    "birds.empty",
    "birds:source",
    "birds..toy",
    "../birds",
    "json.decoder",  # a module is not a folder
    "sys",
)


def test_broken_entry_points_are_told_and_hide_no_other(site: Path, install: Install) -> None:
    points = {f"broken{number}": value for number, value in enumerate(BROKEN)}
    install("bird-data", {"toy": "birds.toy", **points}, {"birds/toy": {}})
    (site / "birds" / "empty").mkdir()

    found = problems()

    assert found["toy"] is None
    assert load_source("toy").folder == site / "birds" / "toy"
    for name, value in points.items():
        where = f'entry point {name} = "{value}" of bird-data 1.2'
        problem = check_problem(found, name, "source.entry-point", where)
        assert problem_of(name).to_dict() == problem.to_dict()


def test_sources_that_cannot_be_read_are_told_and_hide_no_other(
    site: Path, install: Install, nnd: Nnd
) -> None:
    names = ("toy", "half", "poor", "set")
    points = {name: f"birds.{name}" for name in names}
    install("bird-data", points, {f"birds/{name}": {"name": name} for name in names})
    paths = {name: site / "birds" / name / "source.yaml" for name in names}
    paths["half"].write_text("name: [", encoding="utf-8")
    paths["poor"].write_text("name: poor\n", encoding="utf-8")
    facts = yaml.safe_load(paths["set"].read_text("utf-8"))
    facts["sets"] = {"x": {"description": "X", "task": 3}}
    paths["set"].write_text(yaml.safe_dump(facts), encoding="utf-8")

    found = problems()

    assert load_source("toy").folder == paths["toy"].parent
    for name, code, where in (
        ("half", "file.not-yaml", "source.yaml"),
        ("poor", "source.definition", "source.yaml"),
        ("set", "source.definition", "task"),
    ):
        problem = check_problem(found, name, code, where)
        assert problem_of(name).to_dict() == problem.to_dict()
    shown = nnd("sources").out
    assert "toy (bird-data 1.2)" in shown
    assert "half: " in shown
