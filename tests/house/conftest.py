"""Commands that are called in children, to be killed there, and what they work on."""

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from support.hub.clients import environment
from support.hub.publishing import TOKEN
from support.hub.server import Hub
from support.screens.warm_commands import warm_commands

from nnd.converters.folder.conversion import convert

COMMAND = ["python", "-m", "support.hub.impatient", "-m", "support.killed_calls"]


@pytest.fixture(scope="module")
def hub() -> Iterator[Hub]:
    with Hub() as hub:
        yield hub


Ask: TypeAlias = Callable[..., dict[str, Any]]
"""`ask(call, at=…)`: call a command, and kill it at some event (`support/killed_calls.py`)."""


@pytest.fixture(scope="module")
def variables(hub: Hub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of who asks, whose Hub is the test's own."""
    place = tmp_path_factory.mktemp("asking")
    found = environment(hub.endpoint, place / "home", token=TOKEN)
    with warm_commands(place / "bin", found | {"NND_CACHE": str(place / "cache")}) as warm:
        yield warm


@pytest.fixture(scope="module")
def ask(variables: dict[str, str]) -> Iterator[Ask]:
    with _asking(variables) as ask:
        yield ask


@pytest.fixture(scope="module")
def ask_another(variables: dict[str, str]) -> Iterator[Ask]:
    """Another process, which can be asked at the same time."""
    with _asking(variables) as ask:
        yield ask


@contextmanager
def _asking(variables: dict[str, str]) -> Iterator[Ask]:
    with subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=variables, text=True
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
