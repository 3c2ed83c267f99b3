"""A command is made from functions: their parameters are its options, their result is printed."""

import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from nnd.metric.cli.options import key_of, read, typed_as
from nnd.metric.cli.printing import show
from nnd.metric.cli.signatures import Parameter, Signature, Type, docstring_of, signature_of
from nnd.schemas import Printable

if TYPE_CHECKING:
    from rich.table import Table

_PANELS = {
    **dict.fromkeys(
        ("template", "templates", "dimensions", "scoring", "chat"), "How pairs are scored"
    ),
    **dict.fromkeys(
        ("splits", "limit", "categories", "held_out", "split", "split_seed"), "Part of the pairs"
    ),
    **dict.fromkeys(
        ("token_budget", "matmul", "cache", "worker", "dry_run"), "Memory, store and workers"
    ),
    "objective": "What training minimises",
    "lora": "Adapters to train",
    "schedule": "How long, and how fast",
    "loading": "Loading the model",
    "ray": "Ray",
}
"""Parameter, or the one that holds its record → its group in the help, in the order of the help."""

_GROUPED = ("evaluate", "train")
"""Functions whose own parameters are grouped too: those that render contexts."""

_DETAILS = Parameter("details", Type("bool"), False, "Print all details.")
_AS_JSON = Parameter("json", Type("bool"), False, "Print JSON instead of tables.")


@dataclass(frozen=True, slots=True)
class Typed:
    """What was typed for a command.

    `values` gives key → value of the parameters that were typed, and `signatures` those of the
    functions that the command calls, by name.
    """

    signatures: Mapping[str, Signature]
    values: Mapping[str, Any]

    def arguments(self, function: str, *known: str) -> dict[str, Any]:
        """Return the arguments of a function that were typed, and its records.

        Those that are known are left out: they are not read.
        """
        signature = self.signatures[function]
        found: dict[str, dict[str, Any]] = {"": {}}
        found |= {holder: dict(record.own) for holder, record in signature.records.items()}
        for parameter in signature.parameters:
            key = key_of(parameter)
            if key in self.values and parameter.name not in known:
                value = read(parameter, self.values[key], as_data=function != "")
                found[parameter.record][parameter.name] = value
        inner_first = sorted({*signature.records} - {*known}, key=lambda name: -name.count("."))
        for holder in inner_first:
            module, name, _ = signature.records[holder]
            outer, _, field = holder.rpartition(".")
            found[outer][field] = getattr(importlib.import_module(module), name)(**found[holder])
        return found[""]

    def call(self, function: str, **more: object) -> Any:  # noqa: ANN401 - what it returns
        """Call a function of `nnd` with what was typed for it, and with more."""
        return function_of(function)(**self.arguments(function, *more), **more)

    def show(self, found: Printable, written: Iterable[object] = (), *notes: "Table | str") -> None:
        """Print a result, where it was `written` and notes; exit with 1 unless the result is ok."""
        notes = (*(f"written to {place}" for place in written), *notes)
        show(found, as_json="json" in self.values, details="details" in self.values, notes=notes)
        if not found.ok:
            raise typer.Exit(1)


@dataclass(frozen=True, slots=True)
class Verb:
    """A command: a function of `nnd`, and what else it does at a terminal.

    Attributes:
        name: The function.
        takes: Parameters that are given without an option.
        optional: Parameters that need not be typed, although the function needs them.
        out: The place to write to if none is named: a path, or ARGUMENT-suffix.
        without: Parameters that cannot be typed, and holders of such.
        run: Calls the function instead, and prints its result. Its own parameters are options too,
            in place of those of the same names.
        also: Other functions that `run` calls, whose parameters are options too.
        has_details: Whether the result has more than is printed.
        written: The parameter that says where the result was written, if the place is repeated.
    """

    name: str
    takes: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    out: str = ""
    run: Callable[..., None] | None = None
    also: tuple[str, ...] = ()
    has_details: bool = True
    written: str = ""

    @property
    def command(self) -> str:
        """The command's name."""
        return self.name.replace("_", "-")

    def docstring(self) -> str:
        """Return what the function says about itself."""
        return docstring_of("nnd", self.name)

    def signatures(self) -> dict[str, Signature]:
        """Return the functions that the command calls, and `run` as "", which has the last word."""
        found = {name: signature_of("nnd", name) for name in (self.name, *self.also)}
        if self.run is not None:
            own = signature_of(self.run.__module__, self.run.__name__)
            found[""] = Signature([each for each in own.parameters if not each.record])
        return found

    def parameters(self) -> list[Parameter]:
        """Return what can be typed."""
        found: dict[str, Parameter] = {}
        for function, signature in self.signatures().items():
            for each in signature.parameters:
                holders = {each.record, each.record.partition(".")[0]}
                is_left_out = {each.name, f"{each.record}.{each.name}", *holders} & {*self.without}
                if not is_left_out and (key_of(each) not in found or function == ""):
                    found[key_of(each)] = self._as_typed(each, function)
        first = [found.pop(name) for name in self.takes]
        panels = [None, *_PANELS.values()]
        options = sorted(found.values(), key=lambda each: panels.index(self._panel(each)))
        return [*first, *options, *([_DETAILS] if self.has_details else []), _AS_JSON]

    def takes_data(self) -> bool:
        """Return whether data of any kind can be typed."""
        parameters = (each for known in self.signatures().values() for each in known.parameters)
        return any(each.type.name == "PairData" for each in parameters)

    def function(self) -> Callable[..., None]:
        """Return the function that typer calls."""

        def called(typed_in: typer.Context, **typed: object) -> None:
            given = {name: value for name, value in typed.items() if _is_given(typed_in, name)}
            given = self._place(given) | given
            asked = Typed(self.signatures(), given)
            if self.run is not None:
                self.run(asked, **asked.arguments(""))
            else:
                asked.show(asked.call(self.name), filter(None, [given.get(self.written)]))

        shown: dict[str, Any] = {"typed_in": (typer.Context, inspect.Parameter.empty)}
        shown |= {key_of(each): self._shown(each) for each in self.parameters()}
        called.__annotations__ = {name: type_ for name, (type_, _) in shown.items()}
        called.__signature__ = inspect.Signature(  # type: ignore[attr-defined] # which typer reads
            [
                inspect.Parameter(
                    name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=type_
                )
                for name, (type_, default) in shown.items()
            ]
        )
        return called

    def _as_typed(self, parameter: Parameter, function: str) -> Parameter:
        """Return a parameter as it can be typed: of several functions, none needs its own."""
        if self.out and parameter.name == "out":
            sentence = f"{parameter.sentence} None means {self.out}."
            return replace(parameter, default=None, sentence=sentence)
        is_of_another = function in self.also and parameter.type.name != "bool"
        if is_of_another or (parameter.name in self.optional and parameter.default is ...):
            return replace(parameter, default=() if parameter.type.many else None)
        return parameter

    def _place(self, given: Mapping[str, Any]) -> dict[str, Path]:
        """Return where to write if no place is named; nothing without such a place."""
        name, dash, suffix = self.out.partition("-")
        if not dash:
            return {"out": Path(self.out)} if self.out else {}
        if name.lower() not in given:
            return {}
        source = Path(given[name.lower()]).resolve()
        is_file = source.suffix == ".yaml" or source.is_file()
        stem = source.stem if is_file else source.name
        return {"out": Path(f"{stem}-{suffix}")}

    def _shown(self, parameter: Parameter) -> tuple[object, object]:
        """Return the annotation and the default of a parameter."""
        is_argument = parameter.name in self.takes and not parameter.record
        return typed_as(parameter, self._panel(parameter), is_argument=is_argument)

    def _panel(self, parameter: Parameter) -> str | None:
        """Return the group of a parameter in the help; few options need no groups."""
        names = (parameter.name, *reversed(parameter.record.split(".")))
        panels = [_PANELS[name] for name in names if name in _PANELS]
        is_grouped = panels and (parameter.record or self.name in _GROUPED)
        return panels[0] if is_grouped else None


def function_of(name: str) -> Callable[..., Any]:
    """Return a function of `nnd`, whose libraries are loaded now."""
    return getattr(importlib.import_module("nnd"), name)  # type: ignore[no-any-return]


def _is_given(typed_in: typer.Context, name: str) -> bool:
    source = typed_in.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
