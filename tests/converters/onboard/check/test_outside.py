"""`check-source` runs a stranger's convert.py: what it is kept from, and what is said of it."""

import sys
from pathlib import Path

import pytest
from support.checked_source import Birds, make_birds, outcomes

from nnd.converters.check.check_report import Check
from nnd.converters.onboard.check import separate_run as run
from nnd.converters.onboard.check.process_limits import NONE, find_sandbox, sandboxes
from nnd.converters.onboard.check.source_readings import Reading
from nnd.converters.source import load_source


@pytest.fixture
def birds(tmp_path: Path) -> Birds:
    return make_birds(tmp_path)


def run_with(birds: Birds, *lines: str) -> run.ReadingRun:
    """Convert the real file with more lines at the start of annotations()."""
    more = "".join(f"    {line}\n" for line in lines)
    birds.set_code("    for number", f"{more}    for number")
    (done,) = run.run_readings([Reading("real files", load_source(birds.folder), birds.real)])
    return done


def refused(birds: Birds, *calls: str) -> list[str]:
    """Return what of these calls was refused, each tried in secret; the conversion goes on."""
    lines = [f"with contextlib.suppress(Exception): {call}" for call in calls]
    imports = "import contextlib, ctypes, os, pathlib, shutil, sqlite3, socket, subprocess"
    done = run_with(birds, imports, *lines)
    assert done.error is None
    return done.refused


def test_connections_and_programs(birds: Birds) -> None:
    made = birds.folder.parent / "made"
    started = (
        f"import _posixsubprocess as p; r, w = os.pipe(); p.fork_exec([b'/bin/touch', b'{made}'], "
        "[b'/bin/touch'], True, (), None, None, -1, -1, -1, -1, -1, -1, r, w, True, True, 0, None, "
        "None, None, -1, None, False)"
    )

    found = refused(
        birds,
        "socket.socket().connect(('127.0.0.1', 9))",
        "socket.getaddrinfo('example.org', 80)",
        f"subprocess.run(['touch', '{made}'])",
        f"os.system('touch {made}')",
        f"ctypes.CDLL(None).system(b'touch {made}')",
        "ctypes.CDLL('./stranger.so')",
        started,
    )

    assert [what.split()[0] for what in found] == [
        "socket.connect",
        "socket.getaddrinfo",
        "subprocess.Popen",
        "os.system",
        "ctypes.dlsym",
        "ctypes.dlopen",
        "_posixsubprocess.fork_exec",
    ]
    assert "/bin/touch" in found[-1]
    assert not made.exists()


def test_files_of_others(birds: Birds) -> None:
    theirs = birds.folder.parent / "theirs"
    (theirs / "deep").mkdir(parents=True)
    thesis = theirs / "thesis.tex"
    thesis.write_text("years of work")

    found = refused(
        birds,
        f"os.remove('{thesis}')",
        f"pathlib.Path('{thesis}').unlink()",
        f"os.remove('thesis.tex', dir_fd=os.open('{theirs}', os.O_RDONLY))",
        f"shutil.rmtree('{theirs}')",
        f"os.rmdir('{theirs}/deep')",
        f"os.rename('{thesis}', 'mine')",
        f"shutil.move('{thesis}', 'mine')",
        f"os.mkdir('{theirs}/new')",
        f"open('{thesis}', 'w')",
        f"os.open('{thesis}', os.O_WRONLY | os.O_TRUNC)",
        f"os.symlink('{thesis}', 'link'); open('link', 'w')",
        f"os.link('{thesis}', 'hard')",
        f"os.truncate('{thesis}', 0)",
        f"os.chmod('{thesis}', 0)",
        f"sqlite3.connect('{theirs}/new.db')",
    )

    assert list(dict.fromkeys(what.split()[0] for what in found)) == [
        "os.remove",
        "os.rmdir",
        "os.rename",
        "os.mkdir",
        "open",
        "os.link",
        "os.truncate",
        "os.chmod",
        "sqlite3.connect",
    ]
    assert thesis.read_text() == "years of work"
    assert sorted(theirs.iterdir()) == [theirs / "deep", thesis]


def test_a_temporary_folder_is_for_anything(birds: Birds) -> None:
    found = refused(
        birds,
        "import tempfile; folder = tempfile.mkdtemp(); open(f'{folder}/a', 'w').write('x'); "
        "os.mkdir(f'{folder}/b'); os.replace(f'{folder}/a', f'{folder}/b/c'); "
        "os.symlink('/etc/passwd', f'{folder}/link'); shutil.rmtree(folder); "
        "sqlite3.connect(':memory:').execute('select 1'); open(os.devnull, 'w')",
        "open('beside', 'w')",
    )

    assert found == []


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


def test_the_verdict_says_what_was_run_and_seen(birds: Birds) -> None:
    birds.set_code("    for number", "    import os; os.remove(__file__)\n    for number")

    checks = {check.name: check for check in birds.check()}

    assert checks["outside"].outcome == "fail"
    assert checks["outside"].message.startswith(f"convert.py was run {here()}; it asked for os.rem")
    assert "`files`" in checks["outside"].remedy
    assert (birds.folder / "convert.py").exists()


def test_a_call_in_secret_fails_without_hindering_what_follows(birds: Birds) -> None:
    call = "import os, contextlib\n    with contextlib.suppress(Exception): os.system('true')"
    birds.set_code("    for number", f"    {call}\n    for number")

    assert outcomes(birds.check()) == {"fail": ["outside"]}


def test_the_verdict_claims_no_more_than_was_seen(
    birds: Birds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")

    (outside,) = (check for check in birds.check() if check.name == "outside")

    assert str(outside) == (
        "review: outside: convert.py was run without a sandbox (neither bwrap nor unshare -rn "
        "works here); no connection, other program, native code or change to other files was seen "
        "(read convert.py, which may hide what it does, or check it where bwrap works)"
    )


BLINDING = "import nnd.converters.onboard.check.audit as a; a._changed = lambda *_: []"


def blinded(birds: Birds) -> tuple[Check, Path]:
    """Check a converter that switches the audit off before it changes a file of others."""
    thesis = birds.folder.parent / "thesis.tex"
    thesis.write_text("years of work")
    change = f"import contextlib\n    with contextlib.suppress(OSError): open({str(thesis)!r}, 'w')"
    birds.set_code("    for number", f"    {BLINDING}\n    {change}\n    for number")
    (outside,) = (check for check in birds.check() if check.name == "outside")
    return outside, thesis


@pytest.mark.parametrize("path", [None, ""])
def test_a_converter_that_blinds_the_audit_does_not_pass(
    birds: Birds, monkeypatch: pytest.MonkeyPatch, path: str | None
) -> None:
    if path is not None:
        monkeypatch.setenv("PATH", path)
    holds = find_sandbox(birds.folder).holds

    outside, thesis = blinded(birds)

    assert outside.outcome == ("pass" if holds else "review")
    assert thesis.read_text() == ("years of work" if holds else "")


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
    assert f"{sys.executable} -m nnd.converters.onboard.check.child_process" in log.read_text()


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
        f"{BLINDING}; a._REFUSED = ('-',); import os",
        f"report = os.system('mount -o remount,rw,bind /; touch {made}; test -S /run/docker.sock')",
        "files.report('found', str(report != 0))",
    )

    assert done.oddities == ["found: True"]
    assert not made.exists()
