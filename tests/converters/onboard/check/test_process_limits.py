"""`check-source` ends a convert.py that takes too much, and is not drawn into it."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from support.checked_source import Birds, make_birds, run_with

from nnd.converters.onboard.check import separate_run as run
from nnd.converters.onboard.check.process_limits import Limits

FULL = bool(os.environ.get("NND_TEST_FULL"))
PRINTED = (3_000 if FULL else 300) * 10**6


@pytest.fixture
def birds(tmp_path: Path) -> Birds:
    return make_birds(tmp_path)


PARENT = """
import json, re, sys
from nnd.converters.onboard import check_source
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) * 1024
before = peak()
checks = check_source(sys.argv[1], sys.argv[2])
(sandbox,) = (check for check in checks if check.name == "sandbox")
print(json.dumps([peak() - before, sandbox.outcome, sandbox.message]))
"""


def test_what_a_converter_prints_does_not_fill_our_memory(birds: Birds) -> None:
    birds.set_code(
        "    for number",
        f"    for _ in range({PRINTED // 10**6}):\n        print('x' * 10**6)\n    for number",
    )

    done = subprocess.run(
        [sys.executable, "-c", PARENT, str(birds.folder), str(birds.real)],
        capture_output=True,
        text=True,
        check=True,
    )

    more, outcome, message = json.loads(done.stdout)
    assert more < 64 * 2**20
    assert outcome == "fail"
    assert message.endswith("was ended because it printed more than 4 MiB")


def test_a_little_output_is_fine(birds: Birds) -> None:
    done = run_with(birds, "print('x' * 10**6)")

    assert done.error is None
    assert done.annotations is not None


def test_memory(birds: Birds, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "LIMITS", Limits(memory_bytes=2**29))

    done = run_with(birds, "kept = []", "while True: kept.append(b'x' * 2**20)")

    assert done.is_ended
    assert done.error == "was ended because it took more than 0.5 GiB of memory"


def test_memory_of_what_it_starts(birds: Birds, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "LIMITS", Limits(memory_bytes=2**29))
    half = "import time; kept = b'x' * 300 * 2**20; time.sleep(60)"

    done = run_with(
        birds,
        "import subprocess, sys",
        f"subprocess.Popen([sys.executable, '-c', {half!r}])",
        f"subprocess.run([sys.executable, '-c', {half!r}])",
    )

    assert done.error == "was ended because it took more than 0.5 GiB of memory"


def test_processes(birds: Birds, monkeypatch: pytest.MonkeyPatch) -> None:
    place = birds.folder.parent
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    started = time.monotonic()

    done = run_with(birds, "import os", "while True: os.fork()")

    assert done.is_ended or "Resource temporarily unavailable" in str(done.error)
    while any(runs_in(place, process) for process in Path("/proc").glob("[0-9]*")):
        assert time.monotonic() - started < 60
        time.sleep(0.1)


def runs_in(place: Path, process: Path) -> bool:
    try:
        return os.fsencode(place) in (process / "cmdline").read_bytes()
    except OSError:
        return False
