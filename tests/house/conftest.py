"""Commands that are called in children, to be killed there, and what they work on."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from support.hub.clients import IMPATIENT, environment
from support.hub.publishing import TOKEN
from support.hub.server import Hub

from nnd.converters.folder.conversion import convert

SERVER = str(Path(__file__).parents[1] / "support/killed_calls.py")


@pytest.fixture(scope="module")
def hub() -> Iterator[Hub]:
    with Hub() as hub:
        yield hub


Ask: TypeAlias = Callable[..., dict[str, Any]]
"""`ask(call, at=…)`: call a command, and kill it at some event (`support/killed_calls.py`)."""


@pytest.fixture(scope="module")
def ask(hub: Hub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    with _asking(hub, tmp_path_factory) as ask:
        yield ask


@pytest.fixture(scope="module")
def ask_another(hub: Hub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """Another process, which can be asked at the same time."""
    with _asking(hub, tmp_path_factory) as ask:
        yield ask


@contextmanager
def _asking(hub: Hub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    variables = environment(hub.endpoint, tmp_path_factory.mktemp("home"), token=TOKEN)
    variables |= {"NND_CACHE": str(tmp_path_factory.mktemp("cache"))}
    with subprocess.Popen(
        [sys.executable, IMPATIENT, SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=variables | {"OMP_NUM_THREADS": "1"},
        text=True,
    ) as process:

        def ask(call: Mapping[str, Any], **death: float) -> dict[str, Any]:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps({**call, **death}, default=str) + "\n")
            process.stdin.flush()
            answer: dict[str, Any] = json.loads(process.stdout.readline())
            return answer

        yield ask
        process.kill()


@pytest.fixture
def converted(tmp_path: Path) -> list[Path]:
    """Two versions of a converted folder."""
    folders = [tmp_path / "0", tmp_path / "1"]
    for folder, steps in zip(folders, ([], ["whitespace"]), strict=True):
        convert("sample", out=folder, normalise=steps)
    return folders
