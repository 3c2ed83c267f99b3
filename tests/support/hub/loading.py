"""A process that loads data from the Hub of a test: the client fixes its endpoint once."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.hub.server import Hub
from support.places import SUPPORT

Ask = Callable[[str], dict[str, Any]]
READER = SUPPORT / "hub" / "reader.py"


@contextmanager
def reader(hub: Hub, home: Path) -> Iterator[Ask]:
    """Yield `ask(name)`: what `load_pairs` makes of it in a process with an empty cache."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    environment |= {
        "HF_ENDPOINT": hub.endpoint,
        "HF_HOME": str(home),
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    }
    with subprocess.Popen(
        [sys.executable, str(READER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    ) as process:
        stdin, stdout = process.stdin, process.stdout
        assert stdin is not None
        assert stdout is not None

        def ask(name: str) -> dict[str, Any]:
            stdin.write(f"{name}\n")
            stdin.flush()
            answer: dict[str, Any] = json.loads(stdout.readline())
            return answer

        yield ask
        stdin.close()
