"""Options that a remedy names exist in the command that prints it, or it names the command."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer

from nnd.metric.cli.command import app
from nnd.schemas import NNDError
from nnd.schemas.words import errors
from nnd.schemas.words.error_codes import REMEDIES

ROOT = Path(__file__).parents[2]
ROOMS = ("converters", "nnd_metric", "schemas", "cards")

COMMANDS: dict[str, Any] = dict(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
OPTIONS = {
    name: {
        each
        for parameter in command.params
        for each in (*parameter.opts, *parameter.secondary_opts, "--help")
    }
    for name, command in COMMANDS.items()
}

_LOADING = ("evaluate", "train", "selftest", "metrics", "show")
_TABLES = ("evaluate", "train", "slice", "report", "show", "describe", "check", "metrics")
_CONVERTING = ("convert", "check-source")
RAISED_BY: dict[str, tuple[str, ...]] = {
    "nnd_metric/likelihood": _LOADING,
    "nnd_metric/likelihood/models/load_model.py": (
        "evaluate",
        "train",
        "selftest",
    ),  # what was typed
    "nnd_metric/data/known_columns.py": _TABLES,
    "nnd_metric/data/own_tables.py": _TABLES,
    "nnd_metric/text/chats": ("evaluate", "train", "export", "metrics"),
    "nnd_metric/text/chats/chat_options.py": ("evaluate", "train", "export"),  # what was typed
    "nnd_metric/text/encoding": ("evaluate", "train", "metrics"),
    "nnd_metric/run/cost": ("evaluate",),
    "nnd_metric/run/launchers": ("evaluate",),
    "nnd_metric/run/parts": ("evaluate",),
    "nnd_metric/train": ("train",),
    "nnd_metric/numbers/slices": ("slice",),
    "nnd_metric/numbers/comparison": ("compare",),
    "nnd_metric/numbers/agreement": ("agree",),
    "nnd_metric/show/reports": ("report",),
    "nnd_metric/other_metrics": ("metrics",),
    "converters/source": _CONVERTING,
    "converters/source/source_files.py": ("convert",),
    "converters/folder/conversion.py": ("convert",),
    "converters/onboard/scaffold": ("new-source",),
    "converters/onboard/check": ("check-source",),
    "converters/hub/release_folder.py": ("publish",),
    "converters/hub/published_dataset.py": ("publish",),
    "converters/hub/model_results.py": ("evaluate",),
    "converters/make": ("derive",),
    "converters/make/suites": ("suite",),
}
"""Modules, or folders of them → commands that can print their errors; the longest name counts."""

_OTHERS = (
    "llama-gguf-split",
    "ray start",
    "pip install",
    "lm_eval",
    "torchrun",
    "#SBATCH",
    "an array ",
)
"""Words behind which an option is one of another program."""

_LEFT_OUT = re.compile(r"leave (?:it |them )?out [^;]*")
"""What was typed, and so is an option of the command."""

_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


class Remedy(NamedTuple):
    place: str
    text: str


def _family() -> set[str]:
    known = (each for each in vars(errors).values() if isinstance(each, type))
    return {each.__name__ for each in known if issubclass(each, NNDError)} | {"error", "family"}


def _texts(node: ast.AST, constants: dict[str, ast.expr]) -> Iterator[str]:
    """Yield the strings that an expression may be, with * for what is filled in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        parts = [each.value if isinstance(each, ast.Constant) else "*" for each in node.values]
        yield "".join(map(str, parts))
    elif isinstance(node, ast.Name) and node.id in constants:
        yield from _texts(constants[node.id], {})
    else:
        for child in ast.iter_child_nodes(node):
            yield from _texts(child, constants)


def _is_remedy(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) and "remedy" in target.id.lower()


def _remedies() -> Iterator[Remedy]:
    """Yield the remedies of all errors in the code, those of their codes included."""
    paths = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    constants = {
        target.id: node.value
        for tree in trees.values()
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id.isupper()
    }
    family = _family()
    for path, tree in trees.items():
        place = path.relative_to(ROOT).as_posix()
        for call in ast.walk(tree):
            if isinstance(call, ast.Assign) and _is_remedy(call.targets[0]):
                for text in _texts(call.value, constants):
                    yield Remedy(f"{place}:{call.lineno}", text)
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
                continue
            if call.func.id not in family or not call.args:
                continue
            given = [
                *call.args[3:4],
                *(each.value for each in call.keywords if each.arg == "remedy"),
            ]
            code = call.args[0]
            if not given and isinstance(code, ast.Constant):
                yield Remedy(f"{place}:{call.lineno}", REMEDIES[str(code.value)])
            for each in given:
                for text in _texts(each, constants):
                    yield Remedy(f"{place}:{call.lineno}", text)


NAMED = sorted({each for each in _remedies() if _OPTION.search(each.text)})


def _printing(place: str) -> tuple[str, ...]:
    """Return the commands that print the errors of a module; none if the table lacks it."""
    fitting = [each for each in RAISED_BY if place.startswith((f"{each}/", f"{each}:"))]
    return RAISED_BY[max(fitting, key=len)] if fitting else ()


def _lacking(remedy: Remedy) -> list[str]:
    """Return the options of a remedy that a reader cannot follow, with the commands."""
    text = remedy.text
    named = [each for each in COMMANDS if re.search(rf"\bnnd {each}\b", text)]
    faults = []
    typed = {each for part in _LEFT_OUT.findall(text) for each in _OPTION.findall(part)}
    for option in _OPTION.findall(text):
        before = text.partition(option)[0]
        if any(word in before for word in _OTHERS):
            continue
        if any(option in OPTIONS[each] for each in named):
            continue
        having = [each for each in COMMANDS if option in OPTIONS[each]]
        printing = having if option in typed else _printing(remedy.place) or having
        lacking = [each for each in printing if option not in OPTIONS[each]]
        if lacking or not printing:
            faults.append(f"{option} is no option of {', '.join(lacking) or 'any command'}")
    return faults


def test_there_are_remedies_with_options() -> None:
    assert len(NAMED) > 100
    assert all((ROOT / each).exists() for each in RAISED_BY)
    assert {each for commands in RAISED_BY.values() for each in commands} <= COMMANDS.keys()


def test_options_of_remedies_exist_where_they_are_printed() -> None:
    faults = [f"{each.place}: {each.text}: {fault}" for each in NAMED for fault in _lacking(each)]
    assert faults == []


@pytest.mark.parametrize(
    ("place", "text", "is_right"),
    [
        ("nnd_metric/train/x.py:1", "use --loss mle", True),
        ("nnd_metric/train/x.py:1", "use --columns a=b", False),
        ("nnd_metric/train/x.py:1", "use nnd evaluate --columns a=b", True),
        ("nnd_metric/train/x.py:1", "join them with llama-gguf-split --merge", True),
        ("cards/x.py:1", "use --never-heard-of", False),
        ("cards/x.py:1", "use nnd evaluate --merge", False),
    ],
)
def test_a_wrong_option_is_found(place: str, text: str, *, is_right: bool) -> None:
    assert (_lacking(Remedy(place, text)) == []) is is_right
