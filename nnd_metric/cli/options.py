"""Options of the command from the parameters of functions: names, types, sentences, values."""

import inspect
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from nnd.metric.cli.signatures import Parameter
from nnd.schemas import ScoringError, SourceError, load_json

_NAMES = {
    "arguments": "template-arg",
    "chat.system": "system-prompt",
    "chat.template": "chat-template",
    "columns": "columns",
    "dimensions": "vary",
    "file": "from",
    "names": "slice",
    "operations": "op",
    "origin": "from",
    "origins": "from",
    "permission": "i-have-permission",
    "ray.address": "ray-address",
    "set_name": "set",
    "whole": "details",
}
"""Parameter → option, where `name_of` does not find the word that people know."""

_METAVARS = {
    "arguments": "KEY=VALUE",
    "by": "AXIS,…",
    "chat.system": "TEXT",
    "chat.template": "auto|none|FILE",
    "checkpoints": "FOLDER|MODEL",
    "columns": "KEY=COLUMN,…",
    "data": "DATA",
    "device_map": "auto",
    "dimensions": "DIMENSION,…",
    "existing": "CARD",
    "high": "TEXT",
    "judged": "DATA",
    "families": "MODEL=FAMILY",
    "low": "TEXT",
    "match": "OP=CATEGORY",
    "order": "SYSTEM",
    "over": "SYSTEM,…",
    "prefix": "TEXT",
    "ray.address": "HOST:PORT|auto",
    "repo": "ORG/NAME",
    "repo_id": "ORG/NAME",
    "results": "RUN",
    "separator": "TEXT",
    "systems": "MODEL=SYSTEM",
    "templates": "[MODEL=]TEMPLATE",
    "where": "SQL",
    "worker": "I/N|auto",
}
"""Parameter → what stands for a value in the help, where `metavar_of` has no rule."""

DATA = (
    "DATA: a converted folder; a JSON Lines, CSV or Parquet file of pairs, or its URL; "
    "ORG/name[@revision] on the Hub; or a built-in source."
)
"""What help texts explain at the end, once for all options that take it."""

_DATA = ("data", "human_scores", "tests")
"""Parameters that also take the name of a built-in source."""

_TEXTS = ("--prefix", "--separator", "--system-prompt", "--template")
"""Options in which \\n and \\t stand for characters that a shell cannot pass."""

_TYPES: dict[str, type] = {"int": int, "float": float, "Path": Path}

_ABSENT = re.compile(
    r"\s*\b(?:None|Empty) means ([^;.]+(?:\.\w[^;.]*)*)[.;]|\s*By default,? ([^.]+)\."
)
"""The sentence that says what an absent value means: the default in the help."""


def key_of(parameter: Parameter) -> str:
    """Return what identifies a parameter within its command, as a Python name."""
    return re.sub(r"\W", "_", "_".join(filter(None, (parameter.record, parameter.name))))


def name_of(parameter: Parameter) -> str:
    """Return the option of a parameter: one for each value, a flag for what is not the default."""
    holder = parameter.record.rpartition(".")[2]
    known = _NAMES.get(f"{holder}.{parameter.name}") or _NAMES.get(parameter.name)
    name = known or _singular(parameter).replace("_", "-")
    if parameter.default is True:
        return f"--no-{name}"
    if holder == "lora":
        return f"--lora-{name}"
    return f"-{name}" if len(name) == 1 else f"--{name}"


def metavar_of(parameter: Parameter) -> str | None:
    """Return what stands for a value in the help, or None for what typer shows."""
    kind, holder = parameter.type, parameter.record.rpartition(".")[2]
    if kind.mapped and parameter.name == "data":
        return "NAME=DATA"
    if kind.choices and not kind.many:
        return "|".join(kind.choices)
    known = _METAVARS.get(f"{holder}.{parameter.name}") or _METAVARS.get(parameter.name)
    if known is None and kind.name in ("str", "Model"):
        is_reason = parameter.sentence.startswith("Why ")
        word = name_of(parameter).strip("-").upper().replace("-", "_")
        known = "WHY" if is_reason else word
    return "DATA" if kind.name == "PairData" else known


def _singular(parameter: Parameter) -> str:
    """Return the name of a parameter, or of one of its values if it has several."""
    if not (parameter.type.many or parameter.type.mapped):
        return parameter.name
    return re.sub("ies$", "y", parameter.name).removesuffix("s")


def typed_as(
    parameter: Parameter, panel: str | None, *, is_argument: bool
) -> tuple[object, object]:
    """Return the annotation and the default of an option or argument, as typer reads them."""
    kind, name = parameter.type, name_of(parameter)
    repeated = kind.many if is_argument else is_repeated(parameter)
    sentence, absent = _help(parameter, is_repeated=repeated and not is_argument)
    shown: dict[str, Any] = {"help": escaped(sentence), "metavar": metavar_of(parameter)}
    if absent:
        shown["show_default"] = absent
    if kind.choices:
        shown["autocompletion"] = lambda: kind.choices
    if is_argument:
        shown["metavar"] = shown["metavar"] or _singular(parameter).upper()
        info = typer.Argument(**shown)
    else:
        info = typer.Option(name, rich_help_panel=panel, **shown)
    if kind.name == "bool":
        return Annotated[bool, info], False
    base: Any = list[_base(parameter)] if repeated else _base(parameter)  # type: ignore[misc]
    if parameter.default is ...:
        return Annotated[base, info], inspect.Parameter.empty
    if repeated:
        return Annotated[base, info], []
    if parameter.default in (None, "", ()):
        return Annotated[base | None, info], None
    return Annotated[base, info], parameter.default


def is_repeated(parameter: Parameter) -> bool:
    """Return whether an option is given once for each value.

    Words of which one may stand for all others are separated by commas instead.
    """
    kind = parameter.type
    return kind.mapped or (kind.many and not kind.choices)


def read(parameter: Parameter, value: Any, *, as_data: bool) -> object:  # noqa: ANN401 - as typer
    """Return the value of a parameter from what typer made of what was typed.

    If `as_data`, names of data are searched for (`find_data`).
    """
    kind = parameter.type
    if kind.name == "bool":
        return not value if name_of(parameter).startswith("--no-") else value
    if kind.mapped:
        return dict(_entries(parameter, value))
    if kind.many and kind.choices:
        return value if kind.alone and value in kind.choices else value.split(",")
    if as_data and parameter.name in _DATA:
        from nnd.metric.app import find_data

        value = [find_data(str(each)) for each in value] if kind.many else find_data(str(value))
    if name_of(parameter) in _TEXTS and isinstance(value, str):
        return resolved(value)
    if isinstance(value, list):
        return value[0] if kind.alone and len(value) == 1 else tuple(value)
    return value


def resolved(text: str) -> str:
    r"""Return a text with \n and \t resolved, which a shell passes as two characters each."""
    return text.replace("\\n", "\n").replace("\\t", "\t")


def plain(text: str) -> str:
    """Return a text of a docstring as the help shows it: what holds in Python only is left out."""
    said = re.sub(r"In Python, (?:[^.]|\.(?=\w))*\.\s*", "", text)
    said = re.sub(r" \(see `[^)]*\)", "", said)
    return said.replace("`", "").strip()


def escaped(text: str) -> str:
    r"""Return a text that Rich's markup shows as it is: `[x]` would be a style, `\[x]` is not."""
    return text.replace("[", r"\[")


def _help(parameter: Parameter, *, is_repeated: bool) -> tuple[str, str]:
    """Return the sentence of an option, and the default that it says."""
    sentence = plain(parameter.sentence)
    default = ""
    if said := _ABSENT.search(sentence):
        if parameter.default in (None, (), ""):
            default = said[1] or said[2]
        sentence = f"{sentence[: said.start()]} {sentence[said.end() :]}".strip()
    if parameter.type.name == "bool":
        negated = name_of(parameter).startswith("--no-")
        sentence = re.sub("^Whether to ", "Do not " if negated else "", sentence)
        sentence = sentence[:1].upper() + sentence[1:]
    if is_repeated:
        sentence = re.sub(r"\.(?=\s|$)", " (repeatable).", sentence, count=1)
    return sentence, default


def _base(parameter: Parameter) -> Any:  # noqa: ANN401 - a type
    kind = parameter.type
    is_word = isinstance(parameter.default, str) or parameter.name in ("source", "model")
    return (
        str if is_word or kind.choices else _TYPES.get(kind.name, str)
    )  # a name or a path is a word


def _entries(parameter: Parameter, typed: Sequence[str]) -> Iterator[tuple[str, object]]:
    """Yield key and value of each entry; the name of a model may contain a =."""
    form, name, found = str(metavar_of(parameter)), name_of(parameter), dict[str, Any]()
    is_list = form.endswith(",…")
    for entry in (each for text in typed for each in (text.split(",") if is_list else [text])):
        key, equals, value = (
            entry.rpartition("=") if form.startswith("MODEL") else entry.partition("=")
        )
        if not (key and equals) or (form == "OP=CATEGORY" and not value):
            raise ScoringError(
                "option.bad-value", where=f'{name} "{entry}"', remedy=f"write {form}"
            )
        if form == "OP=CATEGORY":
            found.setdefault(key, []).append(value)
        elif key in found:
            raise ScoringError("name.twice", f"{key} has two values", name, "give one")
        else:
            found[key] = _parsed(value) if form == "KEY=VALUE" else value
    yield from found.items()


def _parsed(text: str) -> object:
    """Return a value parsed as JSON; Python's True and False are accepted, too."""
    word = text.lower()
    try:
        value: object = load_json(word if word in ("true", "false", "null") else text, "")
    except SourceError:
        return text
    return value
