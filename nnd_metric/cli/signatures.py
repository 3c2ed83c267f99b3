"""What a public function takes, read from its source: a command shows it without importing it.

`nnd --help` and `nnd evaluate --help` answer in a fraction of a second, because neither polars nor
torch is loaded: the source of the function says names, types, defaults and sentences.
"""

import ast
import importlib.util
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple

from nnd.schemas import sentences_in
from nnd.schemas.lazy import exports_in


class Place(NamedTuple):
    """Where a name is defined: the dotted name of the module, and the statement."""

    module: str
    node: Any  # ast.stmt: the code below asks for what only functions or only classes have


@dataclass(frozen=True, slots=True)
class Type:
    """The type of a parameter, as far as a command line can tell types apart.

    Attributes:
        name: `str`, `int`, `float`, `bool`, `Path`, `Model` or `PairData`; or that of a record.
        choices: Values that are words: the only ones, unless it is a sequence too.
        many: Whether it may be a sequence.
        alone: Whether one value may stand in the place of a sequence of one.
        mapped: Whether it is a mapping, written KEY=VALUE.
    """

    name: str
    choices: tuple[str, ...] = ()
    many: bool = False
    alone: bool = False
    mapped: bool = False


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function, or a field of a record that it takes.

    Attributes:
        default: Its default, or ... without one.
        sentence: What it is, on one line.
        record: The parameter that holds it, if it is a field: `scoring`, `scoring.chat`; else "".
    """

    name: str
    type: Type
    default: object
    sentence: str
    record: str = ""


class RecordType(NamedTuple):
    """A record that a function takes; `own` are the defaults that the function sets in it."""

    module: str
    name: str
    own: dict[str, object]


@dataclass(frozen=True, slots=True)
class Signature:
    """A function as its source describes it.

    The parameters include those of records, in the place of the record; `records` gives parameter,
    or parameter.field → the record that it takes.
    """

    parameters: list[Parameter] = field(default_factory=list)
    records: dict[str, RecordType] = field(default_factory=dict)


_TYPED = {
    **{name: name for name in ("str", "int", "float", "bool", "Path", "Model", "PairData", "None")},
    **dict.fromkeys(("Any", "Table", "AnyScorer"), "str"),
}
"""Type → what can be typed: of what can be anything, a name or a path."""


def docstring_of(module: str, name: str) -> str:
    """Return the docstring of a function; its module is not parsed, which takes longer."""
    where, its_name = _exported(module, name)
    text = re.search(
        rf'^def {its_name}\((?:(?!^def ).)*?^    r?"""(.*?)"""',
        "".join(_source(where).split("@overload\ndef")),
        flags=re.MULTILINE | re.DOTALL,
    )
    return "" if text is None else re.sub(r"^ {4}", "", text[1], flags=re.MULTILINE)


def signature_of(module: str, name: str) -> Signature:
    """Return what a function takes."""
    place, found = _find(module, name), Signature()
    sentences = sentences_in(ast.get_docstring(place.node) or "", "Args")
    for name_, annotation, default in _arguments(place.node.args):
        kind = _type(annotation, place.module)
        if (record := _record(kind.name, place.module)) is None:
            value, sentence = _value(default, place.module), sentences.get(name_, "")
            found.parameters.append(Parameter(name_, kind, value, sentence))
        else:
            own = {each.arg: each.value for each in getattr(default, "keywords", ())}
            values = {each: _value(value, place.module) for each, value in own.items()}
            found.parameters.extend(_fields(record, name_, found.records, values))
    if place.node.args.kwarg is not None:  # the options of a run, as `with_run_options` shows them
        taken = {*_options(place.node.args.kwarg.annotation.slice, place.module)}
        fields = _fields(_find(place.module, "RunRequest"), "", found.records, {})
        found.parameters.extend(
            each for each in fields if (each.record.partition(".")[0] or each.name) in taken
        )
    return found


def _options(annotation: ast.expr, module: str) -> Iterator[str]:
    """Yield the names in a TypedDict and its bases."""
    if ast.unparse(annotation) != "TypedDict":
        place = _find(module, ast.unparse(annotation))
        for base in place.node.bases:
            yield from _options(base, place.module)
        yield from (name for name, _, _ in _annotated(place.node))


def _annotated(record: ast.ClassDef) -> Iterator[tuple[str, ast.expr, ast.expr | None]]:
    """Yield name, annotation and default of each field of a class."""
    for each in record.body:
        if isinstance(each, ast.AnnAssign):
            yield ast.unparse(each.target), each.annotation, each.value


def _arguments(taken: ast.arguments) -> Iterator[tuple[str, ast.expr, ast.expr | None]]:
    """Return name, annotation and default of each argument, `*names` as a sequence."""
    plain = [*taken.posonlyargs, *taken.args]
    defaults = [*[None] * (len(plain) - len(taken.defaults)), *taken.defaults]
    arguments: list[Any] = [*zip(plain, defaults, strict=True)]
    if (several := taken.vararg) is not None:
        several.annotation = ast.Subscript(ast.Name("Sequence"), several.annotation)  # type: ignore[arg-type]
        arguments.append((several, ast.Tuple([])))
    arguments += zip(taken.kwonlyargs, taken.kw_defaults, strict=True)
    return ((each.arg, each.annotation, default) for each, default in arguments)


def _value(default: ast.expr | None, module: str) -> object:
    """Return a default, which may be the name of a constant; one that is neither is None."""
    match default:
        case None:
            return ...
        case ast.Name(id=name):
            return _value(getattr(_find(module, name).node, "value", None), module)
        case ast.Call(func=ast.Name(id="Path"), args=[path]):
            return _value(path, module)
    try:
        return ast.literal_eval(default)
    except ValueError:
        return None


def _fields(
    record: Place, holder: str, records: dict[str, RecordType], own: dict[str, object]
) -> Iterator[Parameter]:
    """Yield the fields of a record, and of the records in it."""
    if holder:
        records[holder] = RecordType(record.module, record.node.name, own)
    sentences = sentences_in(ast.get_docstring(record.node) or "", "Attributes")
    for name, annotation, default in _annotated(record.node):
        kind = _type(annotation, record.module)
        if (inner := _record(kind.name, record.module)) is not None:
            yield from _fields(inner, f"{holder}.{name}".lstrip("."), records, {})
        else:
            value = own[name] if name in own else _value(default, record.module)
            yield Parameter(name, kind, value, sentences.get(name, ""), holder)


def _type(node: ast.expr, module: str) -> Type:
    """Return a type; of several in a union the one that can be typed on a command line."""
    match node:
        case ast.Constant(value=str(quoted)):
            return _type(ast.parse(quoted, mode="eval").body, module)
        case ast.BinOp(left=left, right=right):
            return _union(_type(left, module), _type(right, module))
        case ast.Subscript(value=ast.Name(id="Literal"), slice=words):
            return Type("str", tuple(str(ast.literal_eval(each)) for each in _elements(words)))
        case ast.Subscript(value=ast.Name(id="Mapping" | "dict")):
            return Type("str", mapped=True)
        case ast.Subscript(value=outer, slice=inner):
            first = _type(_elements(inner)[0], module)
            is_alias = ast.unparse(outer) == "Annotated"
            return first if is_alias else replace(first, many=True, alone=False)
        case _:
            return _named(ast.unparse(node), module)


def _union(first: Type, second: Type) -> Type:
    """Return what a union is: a sequence, a mapping or a path, if one of its members is."""
    if "None" in (first.name, second.name):
        return second if first.name == "None" else first
    chosen = max(first, second, key=lambda each: (each.many or each.mapped, each.name != "str"))
    alone = chosen.many and not (_is_list(first) and _is_list(second))
    return replace(chosen, choices=first.choices or second.choices, alone=alone)


def _is_list(kind: Type) -> bool:
    return kind.many and not kind.alone


def _elements(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]


def _named(name: str, module: str) -> Type:
    """Return the type that a name stands for: a record, or what an alias says."""
    if name in _TYPED:
        return Type(_TYPED[name])
    try:
        place = _find(module, name)
    except LookupError:  # it is not ours
        return Type("str")
    if isinstance(place.node, ast.ClassDef):
        return Type(name)
    return _type(place.node.value, place.module)


def _record(name: str, module: str) -> Place | None:
    """Return the dataclass of this name, as the module sees it, or None."""
    if name in _TYPED:
        return None
    place = _find(module, name)
    return place if "dataclass" in "".join(map(ast.unparse, place.node.decorator_list)) else None


def _find(module: str, name: str) -> Place:
    """Return where a module or wing has a name from; imports are followed."""
    module, name = _exported(module, name)
    found = _names(module).get(name)
    if isinstance(found, tuple) and found[0].startswith("nnd."):
        return _find(*found)
    if found is None or isinstance(found, tuple):
        raise LookupError(f"{module} has no {name}")
    return Place(module, found)


def _exported(module: str, name: str) -> tuple[str, str]:
    """Return the module that a wing exports a name from, and its name there."""
    return _exported(*_exports(module)[name]) if name in _exports(module) else (module, name)


@cache
def _exports(module: str) -> dict[str, tuple[str, str]]:
    text = _source(module)
    return exports_in(text, module) if "lazy_exports" in text else {}


@cache
def _names(module: str) -> dict[str, ast.stmt | tuple[str, str]]:
    """Return what a module defines, and from where it imports what it does not, under which name.

    Of overloads, the last counts.
    """
    found: dict[str, ast.stmt | tuple[str, str]] = {}
    nodes = [*ast.parse(_source(module)).body]
    for node in nodes:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found[name] = node
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                found[name] = node
            case ast.If():  # of types only
                nodes += node.body
            case ast.ImportFrom(level=0, module=str(source)):
                found |= {each.asname or each.name: (source, each.name) for each in node.names}
    return found


@cache
def _source(module: str) -> str:
    spec = importlib.util.find_spec(module)
    return str(spec.loader.get_source(module))  # type: ignore[union-attr] # a file of source code
