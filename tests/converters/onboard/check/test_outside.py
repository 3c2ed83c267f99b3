"""`check-source` runs a stranger's convert.py: what it is kept from, and what is said of it."""

import sys
from pathlib import Path

import pytest
from support.checked_source import Birds, make_birds, run_with

from nnd.converters.check import Verdict
from nnd.converters.onboard.check.checked_source import Case
from nnd.converters.onboard.check.fact_checks import check_sandbox
from nnd.converters.onboard.check.process_limits import NONE, find_sandbox, sandboxes
from nnd.converters.onboard.check.source_readings import Reading
from nnd.converters.source import load_source


@pytest.fixture
def birds(tmp_path: Path) -> Birds:
    return make_birds(tmp_path)


def test_nothing_of_the_user_is_handed_over(birds: Birds, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    home = birds.folder.parent / "home"
    home.mkdir()
    (home / "secret").touch()
    monkeypatch.setenv("HOME", str(home))

    done = run_with(
        birds,
        "import os",
        "files.report('variables', ' '.join(os.environ) + str(os.environ.get('HF_TOKEN')))",
        "files.report('home', str(os.listdir(os.path.expanduser('~'))))",
        "files.report('folder', str(os.listdir()))",
    )

    assert done.error is None
    variables, *folders = done.oddities
    assert "HF_TOKEN" not in variables
    assert "hf_secret" not in variables
    assert variables.endswith("None")
    assert folders == ["home: []", "folder: []"]


def verdict_of(birds: Birds) -> Verdict:
    source = load_source(birds.folder)
    return check_sandbox(Case([source], [Reading("real files", source, birds.real)]))


def test_the_verdict_claims_no_more_than_was_seen(
    birds: Birds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")

    outcome, message, remedy = verdict_of(birds)

    assert outcome == "review"
    assert message.startswith(
        "convert.py was run without a sandbox (neither bwrap nor unshare -rn works here); "
    )
    assert remedy == "read convert.py, or check it where bwrap works"


def test_only_a_sandbox_holds_the_files_of_others(birds: Birds) -> None:
    thesis = birds.folder.parent / "thesis.tex"
    thesis.write_text("years of work")
    change = f"import contextlib\n    with contextlib.suppress(OSError): open({str(thesis)!r}, 'w')"
    birds.set_code("    for number", f"    {change}\n    for number")
    holds = find_sandbox(birds.folder).holds

    outcome = verdict_of(birds)[0]

    assert outcome == ("pass" if holds else "review")
    assert thesis.read_text() == ("years of work" if holds else "")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "code",
    [
        "(place / 'reports.jsonl').unlink(); os.mkfifo(place / 'reports.jsonl')",
        "(place / 'reports.jsonl').unlink(); os.symlink('/dev/zero', place / 'reports.jsonl')",
        "(place / 'reports.jsonl').write_text('[]\\n'); os._exit(0)",
        "(place / 'reports.jsonl').write_text('{'); os._exit(0)",
        "(place / 'reports.jsonl').open('wb').truncate(2**27); os._exit(0)",
        "(place / 'reports.jsonl').write_text('{\"error\": null}'); os._exit(0)",
    ],
)
def test_a_converter_cannot_write_a_report_that_harms(birds: Birds, code: str) -> None:
    done = run_with(birds, "import os, pathlib; place = pathlib.Path('..').resolve()", code)

    assert done.annotations.is_empty()
    assert done.error in ("there is no report", "the process did not write a valid report")


# The sandbox.


def here() -> str:
    return find_sandbox(Path("/tmp")).description  # noqa: S108 - any folder that is there


def program(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)
    return folder / name


def test_bwrap_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bwrap = program(tmp_path / "bin", "bwrap", 'shift 20; exec "$@"')
    unshare = program(tmp_path / "bin", "unshare", 'shift 5; exec "$@"')
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    strict, lax = sandboxes(tmp_path)

    assert " ".join(strict.command) == (
        f"{bwrap} --unshare-all --die-with-parent --new-session --cap-drop ALL --ro-bind / / "
        "--dev /dev --proc /proc --tmpfs /run --ro-bind-try /run/media /run/media "
        f"--bind {tmp_path} {tmp_path}"
    )
    assert " ".join(lax.command) == f"{unshare} --map-root-user --net --pid --fork --kill-child"
    assert (strict.holds, lax.holds) == (True, False)
    assert find_sandbox(tmp_path) == strict


@pytest.mark.parametrize("name", ["bwrap", "unshare"])
def test_a_sandbox_that_is_not_allowed_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    program(tmp_path / "bin", name, "exit 1")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    assert find_sandbox(tmp_path) == NONE


def test_the_code_is_run_by_the_sandbox(
    birds: Birds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    program(tmp_path / "bin", "bwrap", f'echo "$@" >> {log}; shift 20; exec "$@"')
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    done = run_with(birds, "pass")

    assert done.error is None
    assert done.sandbox.description.startswith("under bwrap")
    assert f"{sys.executable} -m nnd.converters.onboard.check.separate_run" in log.read_text()


@pytest.mark.skipif(
    here() == NONE.description, reason="neither bwrap nor unshare -rn works on this machine"
)
def test_a_sandbox_has_no_network(birds: Birds) -> None:
    done = run_with(birds, "import socket", "files.report('network', str(socket.if_nameindex()))")

    assert done.error is None
    assert done.oddities == ["network: [(1, 'lo')]"]


@pytest.mark.skipif(
    not find_sandbox(Path("/tmp")).holds,  # noqa: S108 - any folder that is there
    reason="bwrap does not work on this machine",
)
def test_a_sandbox_holds_the_disk_even_of_root(birds: Birds, tmp_path: Path) -> None:
    made = tmp_path / "made"

    done = run_with(
        birds,
        "import os",
        f"report = os.system('mount -o remount,rw,bind /; touch {made}; test -S /run/docker.sock')",
        "files.report('found', str(report != 0))",
    )

    assert done.oddities == ["found: True"]
    assert not made.exists()
