"""`nnd` and `python` that start at once: forks of one process, which has imported what they need.

Of a call that scores, eight seconds are imports, and a page of the guide has dozens of calls.

    with warm_commands(folder, environment) as variables:
        subprocess.run(["nnd", "--help"], env=variables)

With NND_TEST_STRACE=OPTIONS in its environment, a call is traced by strace once all is imported.
"""

import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

_CLIENT = """#!{python} -IS
import json, os, socket, sys
name, arguments = os.path.basename(sys.argv[0]), sys.argv[1:]
if os.environ.get("HF_ENDPOINT") != {endpoint!r}:  # that of a Hub is fixed by imports
    main = ["-c", "from near_negative import main; main()"] if name == "nnd" else []
    os.execv({python!r}, [{python!r}, *main, *arguments])
if name == "python" and arguments[:1] not in (["-c"], ["-m"]):
    os.execv({python!r}, [{python!r}, *arguments])
with socket.socket(socket.AF_UNIX) as server:
    server.connect({place!r})
    asked = dict(name=name, arguments=arguments, folder=os.getcwd(), variables=dict(os.environ))
    socket.send_fds(server, [b"\\n"], [0, 1, 2])
    server.sendall(json.dumps(asked).encode() + b"\\n")
    sys.exit(int(server.makefile().read() or 1))
"""

_IMPORTED = (
    *("matplotlib.backends.backend_svg", "pydantic.main", "scipy.stats", "typer.rich_utils"),
    "transformers.models.auto.modeling_auto",
    "transformers.models.gpt2.modeling_gpt2",
    "transformers.models.llama.modeling_llama",
    *("near_negative", "nnd.metric.cli.command", "nnd.metric.run.sweep"),
)
_WINGS = (
    *("nnd.cards", "nnd.converters.folder", "nnd.converters.source", "nnd.metric.app"),
    *("nnd.metric.likelihood", "nnd.metric.other_metrics", "nnd.metric.run", "nnd.metric.show"),
    "nnd.metric.text",
)
"""Whose modules most commands import late."""


@contextmanager
def warm_commands(folder: Path, variables: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Serve the two commands.

    Args:
        folder: Where to put them; a short path, as that of a socket.
        variables: The environment in which libraries are imported: some read it only then.

    Yields:
        The environment in which they are found first.
    """
    folder.mkdir()
    place = str(folder / "socket")
    client = _CLIENT.format(
        python=sys.executable, place=place, endpoint=variables.get("HF_ENDPOINT")
    )
    for name in ("nnd", "python"):
        (folder / name).write_text(client, encoding="utf-8")
        (folder / name).chmod(0o755)
    with subprocess.Popen(
        [sys.executable, __file__, place],
        env=dict(variables),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        yield {**variables, "PATH": f"{folder}{os.pathsep}{variables['PATH']}"}
        server.stdin.close()


def _serve(place: str) -> None:
    """Fork for each connection, until standard input is closed.

    Nothing of ours, and no thread, runs before.
    """
    for name in _IMPORTED:
        importlib.import_module(name)
    for wing in _WINGS:
        for module in pkgutil.walk_packages(importlib.import_module(wing).__path__, f"{wing}."):
            importlib.import_module(module.name)
    sys.path[0] = str(Path(__file__).parents[2])  # where `support` is
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, _bury)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(place)
        server.listen()
        print("ready", flush=True)  # noqa: T201 - to who waits for it
        while sys.stdin not in select.select([server, sys.stdin], [], [])[0]:
            connection, _ = server.accept()
            if not os.fork():
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                server.close()
                _answer(connection)
            connection.close()


def _bury(*_: object) -> None:
    """Wait for those that have ended, so that the time they took is counted."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _answer(connection: socket.socket) -> None:
    """Do what is asked, and end this process."""
    _, streams, _, _ = socket.recv_fds(connection, 1, 3)
    asked = json.loads(connection.makefile().readline())
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["variables"])
    if options := os.environ.pop("NND_TEST_STRACE", ""):
        _trace(options)
    status = _run(asked["name"], asked["arguments"])
    sys.stdout.flush()
    sys.stderr.flush()
    connection.sendall(str(status).encode())
    os._exit(0)


def _trace(options: str) -> None:
    """Have strace follow this thread from here on; others wake each other by writing to pipes."""
    command = ["strace", *shlex.split(options), "-p", str(os.getpid())]
    tracer = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True)
    assert tracer.stderr is not None
    attached = tracer.stderr.readline()
    assert b"attached" in attached, attached


def _run(name: str, arguments: list[str]) -> int:
    try:
        if name == "nnd":
            from near_negative import main  # noqa: PLC0415

            sys.argv = [name, *arguments]
            main()
        else:
            sys.path.insert(0, "")
            _run_python(*arguments)
    except SystemExit as ended:
        return _status(ended.code)
    except BaseException:  # noqa: BLE001 - what Python itself does with it
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        return 1
    return 0


def _run_python(option: str, program: str, *arguments: str) -> None:
    sys.argv = [option, *arguments]
    if option == "-m":
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    else:
        module: dict[str, Any] = {"__name__": "__main__"}
        exec(compile(program, "<string>", "exec"), module)  # noqa: S102 - a block of the guide


def _status(code: object) -> int:
    if code is None or isinstance(code, int):
        return code or 0
    print(code, file=sys.stderr)  # noqa: T201 - as Python does
    return 1


if __name__ == "__main__":
    _serve(sys.argv[1])
