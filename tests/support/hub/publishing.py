"""A loopback Hub's client that publishes, in a process of its own; what it says is kept."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from support.hub.clients import IMPATIENT, environment
from support.refusals import check_refusal

from nnd.schemas import NNDError

PUBLISHER = str(Path(__file__).with_name("publisher.py"))
TOKEN = "hf_loopback_c0ffee_never_to_be_seen"  # noqa: S105


@dataclass
class Client:
    """The process; `said` is all that it has answered."""

    process: subprocess.Popen[str]
    stdin: IO[str]
    stdout: IO[str]
    said: list[str] = field(default_factory=list)

    def ask(self, call: str, **asked: Any) -> dict[str, Any]:
        """Ask for a call of `publisher.py`, and return its answer."""
        self.send(call, **asked)
        return self.hear()

    def refused(self, refusal: tuple[str, str], call: str, **asked: Any) -> NNDError:
        """Return the error of a call that has to fail, after checking its code and place."""
        error = NNDError(**self.ask(call, **asked)["error"])
        check_refusal(error, *refusal)
        return error

    def send(self, call: str, **asked: Any) -> None:
        self.stdin.write(json.dumps({"call": call, **asked}, default=str) + "\n")
        self.stdin.flush()

    def hear(self) -> dict[str, Any]:
        line = self.stdout.readline()
        self.said.append(line)
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextlib.contextmanager
def client(
    endpoint: str, home: Path, *, token: str | None = TOKEN, **variables: str
) -> Iterator[Client]:
    """Yield a client; what it writes to stderr, or leaves in its home, is looked at in the end."""
    (home / "tmp").mkdir(parents=True)
    ours = {"TMPDIR": str(home / "tmp"), **variables}
    with (
        (home / "stderr").open("w") as stderr,
        subprocess.Popen(
            [sys.executable, IMPATIENT, PUBLISHER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=environment(endpoint, home, token=token) | ours,
            text=True,
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        made = Client(process, process.stdin, process.stdout)
        yield made
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
    for path in home.rglob("*"):
        if path.is_file():
            assert TOKEN.encode() not in path.read_bytes(), path
    assert not any(TOKEN in line for line in made.said)
    assert (home / "stderr").read_text() == ""
