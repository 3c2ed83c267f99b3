"""Every public function is a command, and its parameters are options, read from its source."""

import dataclasses
import inspect
from typing import Any, get_type_hints

import pytest

import nnd
from nnd.metric.cli.commands import GROUPS
from nnd.metric.cli.options import is_repeated, key_of, name_of
from nnd.metric.cli.signatures import Signature, signature_of
from nnd.metric.cli.verbs import Verb
from nnd.schemas.lazy import exports_in

VERBS = {verb.name: verb for verbs in GROUPS.values() for verb in verbs}
CALLED = {name: verb for verb in VERBS.values() for name in (verb.name, *verb.also)}
IN_PYTHON_ONLY = {"load_pairs", "wrap_model"}
"""What these return is of no use at a terminal."""

EXPORTS = exports_in(inspect.getsource(nnd), "nnd")
FUNCTIONS = [name for name in EXPORTS if inspect.isfunction(getattr(nnd, name))]


def test_every_public_function_is_called_by_a_command() -> None:
    assert sorted(CALLED) == sorted(set(FUNCTIONS) - IN_PYTHON_ONLY)


@pytest.mark.parametrize("name", CALLED)
def test_the_source_says_what_python_says(name: str) -> None:
    found = inspect.signature(getattr(nnd, name)).parameters
    read = signature_of("nnd", name)
    own = {each.name: each for each in read.parameters if not each.record}

    assert {*own, *(holder.partition(".")[0] for holder in read.records)} == {*found}
    for each in own.values():
        default = found[each.name].default
        if found[each.name].kind is not inspect.Parameter.VAR_POSITIONAL:
            shown = ... if default is inspect.Parameter.empty else default
            assert each.default == (str(shown) if isinstance(each.default, str) else shown)
    for holder, record in read.records.items():
        _check_record(read, holder, record.own, found)


def _check_record(read: Signature, holder: str, own: dict[str, object], found: Any) -> None:
    """The fields of a record, with the defaults that it has in this function."""
    outer, *inner = holder.split(".")
    default = found[outer].default
    for name in inner:
        default = getattr(default, name)
    fields = [each for each in read.parameters if each.record == holder]

    assert fields
    if dataclasses.is_dataclass(default):
        assert {each.name: each.default for each in fields} == {
            each.name: getattr(default, each.name) for each in fields
        } | {each.name: None for each in fields if each.default is None and each.type.mapped}
        assert {name: getattr(default, name) for name in own} == own


@pytest.mark.parametrize("name", CALLED)
def test_every_parameter_has_a_type_a_sentence_and_an_option(name: str) -> None:
    verb, function = CALLED[name], getattr(nnd, name)
    options = {key_of(each) for each in verb.parameters()}
    hints = get_type_hints(inspect.unwrap(function))

    assert hints
    for each in signature_of("nnd", name).parameters:
        assert each.sentence.endswith("."), f"{each.record}.{each.name} has no sentence"
        assert key_of(each) in options or _is_excluded(verb, each.name, each.record), each


def _is_excluded(verb: Verb, name: str, record: str) -> bool:
    return not {name, record, f"{record}.{name}"}.isdisjoint(verb.without)


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_no_two_parameters_share_an_option(verb: Verb) -> None:
    names = [name_of(each) for each in verb.parameters() if each.name not in verb.takes]

    assert len(names) == len(set(names))


def test_lists_and_mappings_are_repeated() -> None:
    options = {name_of(each): is_repeated(each) for each in VERBS["metrics"].parameters()}

    assert [name for name, repeated in options.items() if repeated] == [
        "--run",
        "--data",
        "--scorer",
        "--system",
        "--lower",
        "--split",
        "--by",
    ]
