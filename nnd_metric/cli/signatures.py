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
from typing import NamedTuple, TypeAlias

from nnd.schemas.lazy import exports_in


class Place(NamedTuple):
    """Where a name is defined: the dotted name of the module, and the statement."""

    module: str
    node: ast.stmt


@dataclass(frozen=True, slots=True)
class Type:
    """The type of a parameter, as far as a command line can tell types apart.

    Attributes:
        name: `str`, `int`, `float`, `bool`, `Path`, `Model` or `PairData`; or that of a record.
        choices: Values that are words: the only ones, unless it is a sequence too.
        many: Whether it may be a sequence.
        alone: Whether one value may stand in the place of a sequence of one.
        mapped: Whether it is a mapping, written KEY=VALUE.
        none: Whether it may be None.
    """

    name: str
    choices: tuple[str, ...] = ()
    many: bool = False
    alone: bool = False
    mapped: bool = False
    none: bool = False


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function, or a field of a record that it takes.

    Attributes:
        name: Its name.
        type: Its type.
        default: Its default, or ... without one.
        sentence: What it is, on one line.
        record: The parameter that holds it, if it is a field: `scoring`, `scoring.chat`; else "".
    """

    name: str
    type: Type
    default: object
    sentence: str
    record: str = ""


@dataclass(frozen=True, slots=True)
class RecordType:
    """A record that a function takes.

    Attributes:
        module: The module that defines it.
        name: Its name.
        own: Fields whose defaults the function sets: `Loading(dtype="float32")`.
    """

    module: str
    name: str
    own: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Signature:
    """A function as its source describes it.

    Attributes:
        parameters: Its parameters, those of records in the place of the record.
        records: Parameter, or parameter.field → the record that it takes.
    """

    parameters: tuple[Parameter, ...]
    records: dict[str, RecordType]


_Function: TypeAlias = ast.FunctionDef

_TYPED = ("str", "int", "float", "bool", "Path", "Model", "PairData", "None")
_ANYTHING = ("Any", "Table", "AnyScorer")
"""Types of which names and paths can be typed."""


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
    place = _find(module, name)
    assert isinstance(place.node, _Function), f"{module}.{name} is not a function"  # noqa: S101
    sentences = sentences_in(ast.get_docstring(place.node) or "", "Args")
    parameters: list[Parameter] = []
    records: dict[str, RecordType] = {}
    for name_, annotation, default in _arguments(place.node):
        kind = _type(annotation, place.module)
        record = _record(kind.name, place.module)
        if record is None:
            parameters.append(
                Parameter(name_, kind, _value(default, place.module), sentences.get(name_, ""))
            )
            continue
        own = {
            each.arg: _value(each.value, place.module) for each in getattr(default, "keywords", ())
        }
        for each in _fields(record, name_, records, own):
            set_here = each.record == name_ and each.name in own
            parameters.append(replace(each, default=own[each.name]) if set_here else each)
    if place.node.args.kwarg is not None:  # the options of a run, as `with_run_options` shows them
        request = _record("RunRequest", place.module)
        assert request is not None  # noqa: S101 - no other function takes options
        taken = {*_options(place.node.args.kwarg.annotation, place.module)}
        parameters += [
            each
            for each in _fields(request, "", records)
            if (each.record.partition(".")[0] or each.name) in taken
        ]
    return Signature(tuple(parameters), records)


def sentences_in(docstring: str, section: str) -> dict[str, str]:
    """Return name → description of a section of a docstring in Google's style."""
    _, _, rest = docstring.partition(f"\n{section}:\n")
    lines = re.split(r"\n(?=\S)", rest, maxsplit=1)[0]
    entries = re.findall(r"^ {4}(\w+): ((?:.|\n(?! {4}\S))*)", lines, flags=re.MULTILINE)
    return {name: " ".join(words.split()) for name, words in entries}


def _options(annotation: ast.expr | None, module: str) -> Iterator[str]:
    """Yield the names in a TypedDict and its bases; in `Unpack[…]`, in that of the brackets."""
    if isinstance(annotation, ast.Subscript):
        annotation = annotation.slice
    if isinstance(annotation, ast.Name) and annotation.id != "TypedDict":
        place = _find(module, annotation.id)
        assert isinstance(place.node, ast.ClassDef)  # noqa: S101 - else Unpack is of no use
        for base in place.node.bases:
            yield from _options(base, place.module)
        for each in place.node.body:
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
                yield each.target.id


def _arguments(function: _Function) -> Iterator[tuple[str, ast.expr, ast.expr | None]]:
    """Yield name, annotation and default of each argument, `*names` as a sequence."""
    taken = function.args
    plain = [*taken.posonlyargs, *taken.args]
    defaults = [None] * (len(plain) - len(taken.defaults)) + [*taken.defaults]
    several = [] if taken.vararg is None else [taken.vararg]
    for argument, default in [
        *zip(plain, defaults, strict=True),
        *((each, ast.Tuple([], ast.Load())) for each in several),
        *zip(taken.kwonlyargs, taken.kw_defaults, strict=True),
    ]:
        assert argument.annotation is not None  # noqa: S101 - ruff sees to it
        annotation = argument.annotation
        if argument in several:
            annotation = ast.Subscript(ast.Name("Sequence"), annotation)
        yield argument.arg, annotation, default


def _value(default: ast.expr | None, module: str) -> object:
    """Return a default, which may be the name of a constant; one that is neither is None."""
    match default:
        case None:
            return ...
        case ast.Name(id=name):
            constant = _find(module, name).node
            return _value(getattr(constant, "value", None), module)
        case ast.Call(func=ast.Name(id="Path"), args=[path]):
            return _value(path, module)
    try:
        return ast.literal_eval(default)
    except ValueError:
        return None


def _fields(
    record: Place, holder: str, records: dict[str, RecordType], own: dict[str, object] | None = None
) -> Iterator[Parameter]:
    assert isinstance(record.node, ast.ClassDef)  # noqa: S101 - `_record` says so
    if holder:
        records[holder] = RecordType(record.module, record.node.name, own or {})
    sentences = sentences_in(ast.get_docstring(record.node) or "", "Attributes")
    for each in record.node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            name, kind = each.target.id, _type(each.annotation, record.module)
            inner = _record(kind.name, record.module)
            if inner is not None:
                yield from _fields(inner, f"{holder}.{name}".lstrip("."), records)
            else:
                yield Parameter(
                    name, kind, _value(each.value, record.module), sentences.get(name, ""), holder
                )


def _type(node: ast.expr, module: str) -> Type:
    """Return a type; of several in a union the one that can be typed on a command line."""
    if isinstance(node, ast.Constant):
        inside = ast.parse(str(node.value), mode="eval")
        return Type("None") if node.value is None else _type(inside.body, module)
    if isinstance(node, ast.BinOp):
        return _union([_type(each, module) for each in _members(node)])
    if isinstance(node, ast.Subscript):
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return _subscripted(ast.unparse(node.value), inner, module)
    name = node.id if isinstance(node, ast.Name) else "Any"
    if name in _TYPED:
        return Type(name)
    return Type("str") if name in _ANYTHING else _named(name, module)


def _subscripted(outer: str, inner: list[ast.expr], module: str) -> Type:
    if outer == "Literal":
        return Type("str", tuple(str(ast.literal_eval(each)) for each in inner))
    if outer in ("Mapping", "dict"):
        return Type("str", mapped=True)
    first = _type(inner[0], module)
    return first if outer == "Annotated" else replace(first, many=True, alone=False)


def _union(members: list[Type]) -> Type:
    """Return what a union is: a sequence, a mapping or a path, if one of its members is."""
    typed = [each for each in members if each.name != "None"]
    chosen = max(typed, key=lambda each: (each.many or each.mapped, each.name != "str"))
    return replace(
        chosen,
        choices=next((each.choices for each in typed if each.choices), ()),
        alone=chosen.many and not all(each.many for each in typed),
        none=chosen.none or len(typed) < len(members),
    )


def _members(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [*_members(node.left), *_members(node.right)]
    return [node]


def _named(name: str, module: str) -> Type:
    """Return the type that a name stands for: a record, or what an alias says."""
    try:
        place = _find(module, name)
    except LookupError:
        return Type("str")
    if isinstance(place.node, ast.ClassDef):
        return Type(name)
    assert isinstance(place.node, ast.AnnAssign | ast.Assign)  # noqa: S101 - an alias
    return _type(place.node.value, place.module) if place.node.value else Type("str")


def _record(name: str, module: str) -> Place | None:
    """Return the dataclass of this name, as the module sees it, or None."""
    if name in _TYPED:
        return None
    place = _find(module, name)
    is_record = isinstance(place.node, ast.ClassDef) and any(
        "dataclass" in ast.unparse(each) for each in place.node.decorator_list
    )
    return place if is_record else None


def _find(module: str, name: str) -> Place:
    """Return where a module or wing has a name from; imports are followed."""
    module, name = _exported(module, name)
    defined, imported = _names(module)
    if name in defined:
        return Place(module, defined[name])
    if name in imported and imported[name][0].startswith("nnd."):
        return _find(*imported[name])
    raise LookupError(f"{module} has no {name}")


def _exported(module: str, name: str) -> tuple[str, str]:
    """Return the module that a wing exports a name from, and its name there."""
    return _exported(*_exports(module)[name]) if name in _exports(module) else (module, name)


@cache
def _exports(module: str) -> dict[str, tuple[str, str]]:
    text = _source(module)
    return exports_in(text, module) if "lazy_exports" in text else {}


@cache
def _names(module: str) -> tuple[dict[str, ast.stmt], dict[str, tuple[str, str]]]:
    """Return the names that a module defines, and those that it imports: from where, as what."""
    defined: dict[str, ast.stmt] = {}
    imported: dict[str, tuple[str, str]] = {}
    nodes = [*ast.parse(_source(module)).body]
    for node in nodes:
        match node:
            case ast.FunctionDef() | ast.ClassDef():
                defined[node.name] = node  # the last one: those before are overloads
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                defined[name] = node
            case ast.If():  # of types only
                nodes += node.body
            case ast.ImportFrom(level=0, module=str(source)):
                imported |= {each.asname or each.name: (source, each.name) for each in node.names}
    return defined, imported


@cache
def _source(module: str) -> str:
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.loader is not None, module  # noqa: S101, PT018
    return str(spec.loader.get_source(module))  # type: ignore[attr-defined] # a file of source code
