"""Asking the real clients, in the process of `console.py`."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from support.hub.clients import IMPATIENT, environment

CONSOLE = str(Path(__file__).with_name("console.py"))

Ask = Callable[[str], Any]


class ClientError(Exception):
    """What the client raised: its name, the status or the code if it has one, the message."""

    def __init__(self, name: str, status: int | None, message: str, code: str | None) -> None:
        super().__init__(f"{name} ({status}): {message}")
        self.name, self.status, self.message, self.code = name, status, message, code


@contextlib.contextmanager
def console(endpoint: str, home: Path, token: str) -> Iterator[Ask]:
    """Yield `ask(expression)`: what a Python expression is worth in the clients' process.

    `ask` raises ClientError where the expression raises an exception.
    """
    with subprocess.Popen(
        [sys.executable, IMPATIENT, CONSOLE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(endpoint, home, token=token),
        text=True,
    ) as process:
        stdin, stdout = process.stdin, process.stdout
        assert stdin is not None
        assert stdout is not None

        def ask(expression: str) -> Any:
            stdin.write(f"{json.dumps(expression)}\n")
            stdin.flush()
            answer = json.loads(stdout.readline())
            if "error" in answer:
                facts = (answer[key] for key in ("error", "status", "message", "code"))
                raise ClientError(*facts)
            return answer["value"]

        yield ask
        stdin.close()


def refused(ask: Ask, expression: str) -> ClientError:
    """Return the error of an expression that has to raise one."""
    with pytest.raises(ClientError) as caught:
        ask(expression)
    return caught.value


def commit(name: str, files: dict[str, str], title: str = "ours", **options: object) -> str:
    """Return the expression that commits some files to a dataset."""
    more = "".join(f", {key}={value!r}" for key, value in options.items())
    return (
        f"vars(api.create_commit({name!r}, add({files!r}), commit_message={title!r}, "
        f"repo_type='dataset'{more}))"
    )


def commit_by_hand(
    port: int, name: str, text: str, *, path: str = "a.txt", parent: str | None = None
) -> int:
    """Commit a file to a dataset without a client; return the status of the answer."""
    header = {"summary": text, **({} if parent is None else {"parentCommit": parent})}
    file = {"path": path, "content": text, "encoding": "utf-8"}
    lines = {"key": "header", "value": header}, {"key": "file", "value": file}
    who = {"Authorization": "Bearer hf_loopback_by_hand"}
    connection = HTTPConnection("127.0.0.1", port)
    body = "\n".join(map(json.dumps, lines))
    connection.request("POST", f"/api/datasets/{name}/commit/main", body, who)
    return connection.getresponse().status
