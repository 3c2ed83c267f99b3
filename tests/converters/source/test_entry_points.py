"""Sources that installed packages bring along: found, told apart, and never imported.

Each test lays a small distribution out on disk and looks at it from a process of its own.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.refusals import check_refusal

from nnd.converters.source.source import BUILT_IN
from nnd.schemas import NNDError

# Lists all sources and loads some by name, as the commands do; sys.argv is the site and the names.
LOOK = """
import json, sys
sys.path.insert(0, sys.argv[1])
from nnd.converters.source.source import find_sources, load_source
from nnd.schemas import SourceError

def load(name):
    try:
        return str(load_source(name).folder)
    except SourceError as error:
        return error.to_dict()

listed = [
    [found.name, found.distribution, found.problem and found.problem.to_dict()]
    for found in find_sources()
]
print(json.dumps({"listed": listed, "loaded": {name: load(name) for name in sys.argv[2:]}}))
"""
COMMAND = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from nnd.metric.cli.command import main
main()
"""
NEVER = "raise RuntimeError('a source is data: nothing of its package is imported')\n"

Install = Callable[..., Path]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder on the path of the process, as site-packages is."""
    (tmp_path / "site").mkdir()
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


@dataclass(frozen=True)
class Seen:
    """What a process sees: name and problem of sources of packages, and what names lead to."""

    problems: dict[str, dict[str, str] | None]
    distributions: dict[str, str]
    loaded: dict[str, str | dict[str, str]]


def run(code: str, site: Path, *arguments: str) -> str:
    command = [sys.executable, "-c", code, str(site), *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=site.parent)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def look(site: Path, *names: str) -> Seen:
    seen = json.loads(run(LOOK, site, *names))
    others = [each for each in seen["listed"] if each[1]]
    return Seen(
        {name: problem for name, _, problem in others},
        {name: distribution for name, distribution, _ in others},
        seen["loaded"],
    )


def check_problem(seen: Seen, name: str, code: str, where: str) -> None:
    """Check the error of a source that a package offers."""
    problem = seen.problems[name]
    assert problem is not None
    check_refusal(NNDError(**problem), code, where)


def test_a_package_brings_a_source_that_is_listed_and_converts(
    site: Path, install: Install
) -> None:
    install("bird-data", {"toy": "birds.toy"}, {"birds/toy": {}})

    assert "toy (bird-data 1.2)" in run(COMMAND, site, "sources")
    listed = json.loads(run(COMMAND, site, "sources", "--json"))["sources"]
    (toy,) = [entry for entry in listed if entry["name"] == "toy"]
    assert (toy["distribution"], toy["problem"]) == ("bird-data 1.2", None)
    run(COMMAND, site, "convert", "toy", "--out", "out")
    manifest = json.loads((site.parent / "out" / "manifest.json").read_text("utf-8"))
    assert manifest["counts"]["pairs"] == 2


def test_a_package_brings_several_by_their_own_names(site: Path, install: Install) -> None:
    folders = {"birds/sources/one": {"name": "songs"}, "birds/sources/two": {"name": "two"}}
    install("bird-data", {"whatever": "birds.sources"}, folders)

    seen = look(site, "songs", "two", "one", "whatever")

    assert seen.problems == {"songs": None, "two": None}
    assert seen.loaded["songs"] == str(site / "birds" / "sources" / "one")
    assert seen.loaded["two"] == str(site / "birds" / "sources" / "two")
    for name in ("one", "whatever"):
        assert seen.loaded[name]["code"] == "source.unknown"  # type: ignore[index]


def test_a_namespace_and_an_editable_install_are_looked_through(
    site: Path, install: Install, tmp_path: Path
) -> None:
    """Two folders share the package `land`; one is added as editable installs do."""
    install("bird-data", {"toy": "land.birds"}, {"land/birds": {}})
    install("fish-data", {"fish": "land.fish"}, {})
    (site / "land" / "__init__.py").unlink()
    shutil.copytree(site / "land" / "birds", tmp_path / "elsewhere" / "land" / "fish")
    path = tmp_path / "elsewhere" / "land" / "fish" / "source.yaml"
    path.write_text(path.read_text("utf-8").replace("name: toy", "name: fish"), encoding="utf-8")
    code = f"import sys; sys.path.append({str(tmp_path / 'elsewhere')!r})\n{LOOK}"

    seen = json.loads(run(code, site, "toy", "fish"))

    assert seen["loaded"] == {
        "toy": str(site / "land" / "birds"),
        "fish": str(tmp_path / "elsewhere" / "land" / "fish"),
    }


def test_help_and_built_in_sources_do_not_look_at_packages(site: Path) -> None:
    code = f"import importlib.metadata as m; m.entry_points = None\n{COMMAND}"

    run(code, site, "convert", "--help")
    run(code, site, "convert", "sample", "--out", "out")


def test_names_that_are_taken(
    site: Path, install: Install, make_source: Callable[..., Path]
) -> None:
    """The built-in keeps its name, two packages hide each other, and a folder goes before both."""
    install("bird-data", {"sample": "birds"}, {"birds": {"name": "sample"}})
    install("fish-data", {"pond": "fish"}, {"fish": {"name": "pond"}})
    install("frog-data", {"pond": "frogs"}, {"frogs": {"name": "pond"}})
    install("newt-data", {"toy": "newts"}, {"newts": {}})
    make_source(folder="toy")

    seen = look(site, "sample", "pond", "toy", str(site / "frogs"))

    for name, folder in {"sample": "birds", "pond": "frogs"}.items():
        check_problem(seen, name, "name.twice", name)
        problem = seen.problems[name]
        assert problem is not None
        assert str(site / folder) in problem["remedy"]
    assert seen.problems["toy"] is None
    assert seen.loaded["sample"] == str(BUILT_IN / "sample")
    assert seen.loaded["pond"]["code"] == "name.twice"  # type: ignore[index]
    assert seen.loaded["toy"] == "toy"
    assert seen.loaded[str(site / "frogs")] == str(site / "frogs")


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

    seen = look(site, "toy", *points)

    assert seen.problems["toy"] is None
    assert seen.loaded["toy"] == str(site / "birds" / "toy")
    for name, value in points.items():
        where = f'entry point {name} = "{value}" of bird-data 1.2'
        check_problem(seen, name, "source.entry-point", where)
        assert seen.loaded[name] == seen.problems[name]


def test_sources_that_cannot_be_read_are_told_and_hide_no_other(
    site: Path, install: Install
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

    seen = look(site, *names)

    assert seen.loaded["toy"] == str(paths["toy"].parent)
    for name, code, where in (
        ("half", "file.not-yaml", "source.yaml"),
        ("poor", "source.definition", "source.yaml"),
        ("set", "source.definition", "task"),
    ):
        check_problem(seen, name, code, where)
        assert seen.loaded[name] == seen.problems[name]
    shown = run(COMMAND, site, "sources")
    assert "toy (bird-data 1.2)" in shown
    assert "half: " in shown
