"""What pip calls this project, and that nothing here sends anybody to another project's package."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from support.places import ROOT

import nnd
from nnd.schemas import DISTRIBUTION, nnd_version

# The name nnd after the words that install it, with options or other names between; or with extras.
OTHERS = re.compile(r"""pip3? install [^\n`;&()]*?(?<![\w./-])nnd(?![\w./-])|["']nnd\[""")


def test_the_constant_is_the_name_in_pyproject_and_installed_as_such() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (DISTRIBUTION, nnd_version()) == (project["name"], project["version"])


@pytest.mark.parametrize(
    ("text", "is_another"),
    [
        ("pip install NAME", True),
        ("pip install -q torch NAME>=0.1", True),
        ("pip install 'NAME[train]'", True),
        ("needs 'NAME[train]'", True),
        ("pip install near-negative; NAME --help", False),
        ("pip install near-negative (the command is NAME)", False),
        ("pip install ./NAME", False),
        ("pip uninstall NAME", False),
    ],
)
def test_what_is_looked_for(text: str, *, is_another: bool) -> None:
    # Spelled NAME, so that this file holds nothing that is looked for.
    assert bool(OTHERS.search(text.replace("NAME", "nnd"))) is is_another


def test_the_package_is_found_next_to_a_clone_that_is_called_like_it(tmp_path: Path) -> None:
    """The Makefile sees to that: without it the folder would be an empty namespace."""
    (tmp_path / "nnd" / "nnd_metric").mkdir(parents=True)
    program = [sys.executable, "-c", "import nnd; print(nnd.__file__)"]
    done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.stdout.strip() == nnd.__file__, done.stderr


def test_nothing_points_to_an_address_of_this_project() -> None:
    """It has none yet: SITE_URL and REPO_URL, which `make site` reads, are empty."""
    ours = re.compile(r"near-negative\.github\.io|(github|githubusercontent)\.com/near-negative/")
    folders = ("converters", "nnd_metric", "schemas", "cards", ".github")
    files = [path for name in folders for path in (ROOT / name).rglob("*") if path.is_file()]
    files += [path for path in ROOT.iterdir() if path.is_file()]
    texts = ((path, path.read_text(encoding="utf-8", errors="replace")) for path in files)

    assert len(files) > 500
    assert [str(path) for path, text in texts if ours.search(text)] == []


def test_no_text_tells_to_install_the_package_of_another_project() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("this is not a git checkout: what belongs to it is not known")
    found = {
        path: match[0]
        for path in listed.stdout.splitlines()
        if (ROOT / path).is_file()
        for match in [OTHERS.search((ROOT / path).read_text(encoding="utf-8", errors="replace"))]
        if match
    }
    assert found == {}
