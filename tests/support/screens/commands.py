"""The command: run in this process, or several times in one process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from support.refusals import check_refusal

from nnd.schemas import NNDError

# A module that is None in sys.modules cannot be imported, like one that is not installed.
_APART = """
import contextlib, io, json, sys
sys.modules.update(dict.fromkeys(json.loads(sys.argv[1])))
from nnd.metric.cli.command import main
for words in json.load(sys.stdin):
    sys.argv, code = ["nnd", *words], 0
    with (
        contextlib.redirect_stdout(io.StringIO()) as out,
        contextlib.redirect_stderr(io.StringIO()) as err,
    ):
        try:
            main()
        except SystemExit as ended:
            code = ended.code or 0
    loaded = [name for name, module in sys.modules.items() if "." not in name and module]
    print(json.dumps([code, out.getvalue(), err.getvalue(), loaded]))
"""


class Ran(NamedTuple):
    """What a command ended with and printed."""

    code: int
    out: str
    err: str


class Nnd:
    """`nnd("convert", "sample")`: the command in this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch, self._capsys = monkeypatch, capsys
        self._error: BaseException | None = None

    def __call__(self, *arguments: object) -> Ran:
        from nnd.metric.cli.command import main  # noqa: PLC0415 - most tests do without

        self._monkeypatch.setattr(sys, "argv", ["nnd", *map(str, arguments)])
        self._capsys.readouterr()  # what the test itself printed
        with pytest.raises(SystemExit) as ended:
            main()
        self._error, code = ended.value.__cause__, ended.value.code
        return Ran(code if isinstance(code, int) else 0, *self._capsys.readouterr())

    def refuses(self, *arguments: object, code: str, where: str = "") -> str:
        """Check that a command ends with an error of that code and place; return its one line."""
        ran = self(*arguments)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.startswith("nnd: ")
        assert ran.err.index("\n") == len(ran.err) - 1
        assert isinstance(self._error, NNDError)
        check_refusal(self._error, code, where)
        return ran.err


class RanApart(NamedTuple):
    """What a command in another process ended with and printed, and what it has loaded by then."""

    code: int
    out: str
    err: str
    loaded: list[str]


def run_apart(
    *commands: Sequence[object],
    folder: Path,
    missing: Sequence[str] = (),
    variables: Mapping[str, str] | None = None,
) -> list[RanApart]:
    """Run commands one after the other in a process of their own.

    Args:
        commands: Arguments of each.
        folder: Where.
        missing: Modules that cannot be imported there.
        variables: Further variables of the environment.
    """
    done = subprocess.run(
        [sys.executable, "-c", _APART, json.dumps(list(missing))],
        input=json.dumps([[str(each) for each in arguments] for arguments in commands]),
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=os.environ | dict(variables or {}),
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [RanApart(*json.loads(line)) for line in done.stdout.splitlines()]
