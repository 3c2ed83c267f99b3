"""Fixtures that every room shares: where the real annotation files are."""

import gc
import itertools
import os
import sys
import zlib
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path

import pytest
import support.environment  # noqa: F401 - first, because libraries read it when they are imported
from hypothesis import settings
from support import refusals
from support.report.museum import other, other_run, sample, sample_run, small, small_run
from support.screens.commands import Nnd

__all__ = ["other", "other_run", "sample", "sample_run", "small", "small_run"]

# An example is not wrong because the machine is busy.
settings.register_profile("nnd", deadline=None)
settings.load_profile("nnd")

TORCH = ("torch", "transformers")
WITH_TORCH = {"tiny", "loaded", "saved", "fresh"}
"""Fixtures that load it."""

# What need not load torch is tried where there is none (`make test-fast`).
FAST = bool(os.environ.get("NND_TEST_FAST"))
if FAST:
    _find = PathFinder.find_spec
    PathFinder.find_spec = lambda name, *at: None if name in TORCH else _find(name, *at)

MOST_SECONDS = 15.0
"""CPU seconds of one test and its fixtures, child processes included, but for `make test-full`.

They are 10 of a quiet machine: what shares its caches with other work takes 1.4 times as many.
"""

NO_DATA = "the real annotation files are not there: set NND_DATA to the folder that holds them"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip tests marked `full`, and deselect cases of `sampled` ones, but for `make test-full`."""
    if os.environ.get("NND_TEST_FULL"):
        return
    seen = set()
    left_out = []
    for item in items:
        if FAST and WITH_TORCH.intersection(getattr(item, "fixturenames", ())):
            left_out.append(item)
        elif item.get_closest_marker("full"):
            item.add_marker(pytest.mark.skip(reason="takes long: NND_TEST_FULL=1"))
        elif sampled := item.get_closest_marker("sampled"):
            test = (item.path, getattr(item, "originalname", item.name))
            # By a digest: every n-th one would step over parameters at the same pace.
            if test in seen and zlib.crc32(item.name.encode()) % sampled.args[0]:
                left_out.append(item)
            seen.add(test)
    config.hook.pytest_deselected(items=left_out)
    gone = set(left_out)
    items[:] = [item for item in items if item not in gone]


_BEGUN = pytest.StashKey[float]()
_FROZEN = pytest.StashKey[int]()


def _spare_the_collector(config: pytest.Config) -> None:
    """Freeze what imports have made: each training collects garbage, and would visit all of it."""
    if len(sys.modules) - config.stash.get(_FROZEN, 0) > 500:
        gc.collect()
        gc.freeze()
        config.stash[_FROZEN] = len(sys.modules)


@pytest.fixture(scope="session")
def _caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("nnd-caches")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def _cache_of_its_own(_caches: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or fills the cache of another, or of the person who runs it."""
    monkeypatch.setenv("NND_CACHE", str(next(_caches)))


@pytest.fixture(autouse=True)
def _no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """No line is folded for the terminal of the person who runs the tests."""
    monkeypatch.delenv("COLUMNS", raising=False)
    os.unsetenv("COLUMNS")  # readline sets it behind Python's back, and child processes see it


@pytest.fixture
def nnd(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Nnd:
    """`nnd("convert", "sample")`: the command in this process, in the test's own folder."""
    monkeypatch.chdir(tmp_path)
    return Nnd(monkeypatch, capsys)


@pytest.fixture(scope="session")
def nnd_data() -> Path:
    """The folder of real annotation files: $NND_DATA, else ../shared/data beside the checkout."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("NND_DATA") or beside)
    if not folder.is_dir():
        pytest.skip(NO_DATA)
    return _DataFolder(folder)


class _DataFolder(type(Path())):  # type: ignore[misc]
    """The folder of real files; a test on one that a fork does not have is skipped."""

    def __truediv__(self, name: str | Path) -> Path:
        found = Path(self) / name
        if not (Path(self) / Path(name).parts[0]).exists():
            pytest.skip(f"{NO_DATA}: {name}")
        return found


def _cpu_seconds() -> float:
    """Of this process and its children, those that are alive included, where /proc tells."""
    listed = Path(f"/proc/self/task/{os.getpid()}/children")
    children = listed.read_text(encoding="utf-8").split() if listed.exists() else []
    return sum(os.times()[:4]) + sum(map(_seconds_of, children))


def _seconds_of(process: str) -> float:
    try:
        fields = (
            Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        )
    except FileNotFoundError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")  # as in `os.times`


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[object]:
    """Note when a test begins, its fixtures included."""
    _spare_the_collector(item.config)
    item.stash[_BEGUN] = _cpu_seconds()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[pytest.TestReport]:
    """Add the CPU seconds of a test to the report of its end, which may go to another process."""
    report: pytest.TestReport = yield
    if report.when == "teardown":
        report.user_properties.append(("CPU seconds", _cpu_seconds() - item.stash[_BEGUN]))
    return report


def _slowest(reporter: pytest.TerminalReporter) -> list[tuple[float, str]]:
    """Return CPU seconds and name of each test, the slowest first."""
    ended = [report for reports in reporter.stats.values() for report in reports]
    seconds = {
        report.nodeid: dict(report.user_properties)["CPU seconds"]
        for report in ended
        if getattr(report, "when", "") == "teardown" and report.user_properties
    }
    return sorted(((value, name) for name, value in seconds.items()), reverse=True)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which tests are slow, and how many did not see real data, so that none is hidden."""
    slowest = _slowest(terminalreporter)
    for seconds, name in slowest[:20] if len(slowest) > 100 else []:
        terminalreporter.write_line(f"{seconds:6.1f} CPU s  {name}")
    total = sum(seconds for seconds, _ in slowest)
    terminalreporter.write_line(f"{total:,.0f} CPU s in {len(slowest):,} tests")
    skipped = terminalreporter.stats.get("skipped", [])
    blind = sum(NO_DATA in str(report.longrepr) for report in skipped)
    terminalreporter.write_line(f"real annotation files: {blind} tests skipped for want of them")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object) -> None:
    """Take over the sentences of errors that a worker's tests raised."""
    for module, texts in getattr(node, "workeroutput", {}).get("texts", {}).items():
        refusals.raised.setdefault(module, set()).update(texts)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail if an error reads otherwise than errors.txt, and, in CI, if a test is slow."""
    config = session.config
    if hasattr(config, "workeroutput"):
        config.workeroutput["texts"] = {name: [*texts] for name, texts in refusals.raised.items()}
        return
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("NND_WRITE_TEXTS"):
        refusals.write_texts(refusals.raised)
    if reporter is None or os.environ.get("NND_TEST_FULL"):
        return
    faults = [f"not in errors.txt (make texts): {each}" for each in refusals.differences()]
    if os.environ.get("CI"):
        slow = [name for seconds, name in _slowest(reporter) if seconds > MOST_SECONDS]
        faults += [f"more than {MOST_SECONDS:g} CPU s: {name}" for name in slow]
    for fault in faults:
        reporter.write_line(fault, red=True)
    if faults and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
