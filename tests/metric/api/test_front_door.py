"""`import nnd`: one function per command, at no cost."""

import inspect
import subprocess
import sys
from typing import get_type_hints

import pytest
import typer

import nnd
from nnd.metric.cli.command import app
from nnd.schemas import Printable

COMMANDS = sorted(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
BESIDE_COMMANDS = {
    "Chat",
    "DISTRIBUTION",
    "LicenceError",
    "Loading",
    "Lora",
    "NNDCallback",
    "NNDError",
    "Objective",
    "PublishError",
    "Ray",
    "Schedule",
    "SchemaError",
    "Scoring",
    "ScoringError",
    "SourceError",
    "__version__",
    "estimate",  # nnd evaluate --dry-run
    "estimate_runs",  # the same with --runs
    "evaluate_runs",  # nnd evaluate --runs
    "judged_models",  # nnd evaluate --judged
    "load_pairs",
    "operations",  # nnd derive --list
    "vary",  # nnd evaluate --vary
    "wrap_model",
}


def test_there_is_a_function_for_every_command_and_little_else() -> None:
    functions = {name.replace("-", "_") for name in COMMANDS}
    exported = {name for name in dir(nnd) if name in BESIDE_COMMANDS or not name.startswith("_")}
    rooms = {"cards", "converters", "metric", "schemas"}  # once one of them has been imported
    left = {"TYPE_CHECKING", "lazy_exports"}
    assert exported - rooms - left == functions | BESIDE_COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_a_function_is_documented_and_returns_what_shows_itself(command: str) -> None:
    function = getattr(nnd, command.replace("-", "_"))
    told = inspect.getdoc(function) or ""
    assert all(name in told for name in inspect.signature(function).parameters)
    returned = get_type_hints(function)["return"]
    for kind in getattr(returned, "__args__", (returned,)):
        assert issubclass(kind, Printable)
        assert callable(kind.to_dict)


def test_importing_it_costs_next_to_nothing() -> None:
    program = (
        "import sys, time; start = time.process_time(); import nnd; "
        "print(time.process_time() - start, 'torch' in sys.modules, len(dir(nnd)) > 20)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd="/"
    )
    seconds, torch, names = done.stdout.split()
    assert float(seconds) < 0.3
    assert (torch, names) == ("False", "True")


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'nnd' has no attribute 'evalute'"):
        nnd.evalute  # type: ignore[attr-defined] # noqa: B018
