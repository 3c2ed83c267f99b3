"""What runs on GitHub: it parses, and does what it is for."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from support.places import ROOT

from nnd.metric.cli.command import app

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config")


def read(path: Path) -> dict[Any, Any]:
    value = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(value, dict)
    return value


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in read(path)["jobs"].values() for step in job["steps"]]


def named(path: Path) -> str:
    return path.name


@pytest.mark.parametrize("path", WORKFLOWS, ids=named)
def test_a_workflow_names_what_there_is(path: Path) -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    group: Any = typer.main.get_command(app)
    script = "\n".join(step.get("run", "") for step in steps(path))

    assert True in read(path), "YAML reads `on` as true"
    assert all(("uses" in step) != ("run" in step) for step in steps(path))
    assert set(re.findall(r"^\s*make ([\w-]+)", script, re.MULTILINE)) <= targets
    assert set(re.findall(r"\bnnd ([\w-]+)", script)) <= set(group.commands)
    assert all((ROOT / name).exists() for name in re.findall(r"-c (\S+\.txt)", script))


def test_the_makefile_and_the_workflows_take_the_same_torch() -> None:
    texts = [path.read_text() for path in (ROOT / "Makefile", *WORKFLOWS)]

    assert len({name for text in texts for name in re.findall(r"torch==[\d.]+\w", text)}) == 1


@pytest.mark.parametrize("path", WORKFLOWS, ids=named)
def test_an_action_is_pinned_by_its_commit_and_says_its_version(path: Path) -> None:
    used = re.findall(r"^.*\buses:.*$", path.read_text(), re.MULTILINE)

    assert len(used) == sum("uses" in step for step in steps(path)) > 0
    pinned = re.compile(r" +- uses: [\w-]+/[\w-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+")
    assert [line for line in used if not pinned.fullmatch(line)] == []


def test_every_change_is_checked() -> None:
    assert any("make check" in step.get("run", "") for step in steps(GITHUB / "workflows/ci.yml"))


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    """A repository of three sources whose last commit changes one, adds one and takes one away."""
    clone = tmp_path / "clone"
    sources = clone / "converters" / "sources"

    def git(*arguments: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", *who, *arguments], cwd=clone, check=True, capture_output=True)

    for name in ("kept", "changed", "gone"):
        (sources / name).mkdir(parents=True)
        (sources / name / "source.yaml").write_text(f"name: {name}\n")
    git("init", "-b", "main")
    git("add", ".")
    git("commit", "-m", "before")
    git("branch", "base")
    (sources / "changed" / "source.yaml").write_text("name: other\n")
    (sources / "new one" / "fixture").mkdir(parents=True)
    (sources / "new one" / "fixture" / "a.csv").write_text("a\n")
    (clone / "README.md").write_text("Other.\n")
    shutil.rmtree(sources / "gone")
    git("add", ".")
    git("commit", "-m", "after")
    return clone


SHELLS = {None: ["bash", "-e"], "bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"]}
"""How GitHub runs a step: without `shell: bash` what fails inside a pipe goes unnoticed."""


def check_changed(
    changed: Path, base: str, failing: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the step as GitHub does, with an `nnd` that writes down what it is asked to check."""
    (step,) = (step for step in steps(GITHUB / "workflows/sources.yml") if "BASE" in str(step))
    programs = changed.parent / "programs"
    programs.mkdir()
    (programs / "nnd").write_text(
        "#!/usr/bin/env python3\nimport json, sys\n"
        f"open({str(changed.parent / 'checked')!r}, 'a').write(json.dumps(sys.argv[1:]) + '\\n')\n"
        f"sys.exit({failing!r} is not None and sys.argv[-1].endswith('/{failing}'))\n"
    )
    (programs / "nnd").chmod(0o755)

    return subprocess.run(
        [*SHELLS[step.get("shell")], "-c", step["run"]],
        cwd=changed,
        env={
            **os.environ,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "BASE": base,
            "RUNNER_TEMP": str(changed.parent),
        },
        check=False,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("failing", [None, "changed", "new one"])
def test_the_sources_that_changed_are_checked_and_no_others(
    changed: Path, failing: str | None
) -> None:
    done = check_changed(changed, "base", failing)

    checked = (changed.parent / "checked").read_text()
    assert [json.loads(line) for line in checked.splitlines()] == [
        ["check-source", "converters/sources/changed"],
        ["check-source", "converters/sources/new one"],
    ]
    assert done.returncode == (0 if failing is None else 1), done.stderr


def test_a_base_that_is_not_there_is_no_pass(changed: Path) -> None:
    assert check_changed(changed, "nowhere").returncode != 0


@pytest.mark.parametrize("path", FORMS, ids=named)
def test_a_form_is_one_that_github_takes(path: Path) -> None:
    form = read(path)
    fields = form["body"]

    assert {"name", "description", "body"} <= set(form)
    assert {field["type"] for field in fields} <= {"markdown", "textarea", "input", "dropdown"}
    ids = [field["id"] for field in fields if field["type"] != "markdown"]
    assert len(set(ids)) == len(ids)
    assert all("label" in field["attributes"] or "value" in field["attributes"] for field in fields)
