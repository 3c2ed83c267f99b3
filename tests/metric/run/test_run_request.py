"""What is asked of a run: one list of options, with one sentence on each."""

import dataclasses
import inspect
from typing import Any, get_type_hints

import pytest

import nnd
from nnd.metric.run.run_request import RunOptions, RunRequest
from nnd.schemas import describe_fields

FUNCTIONS = [nnd.evaluate, nnd.estimate]


def test_the_options_for_type_checkers_are_the_fields_of_a_request() -> None:
    fields = get_type_hints(RunRequest)
    assert get_type_hints(RunOptions) == {
        name: fields[name] for name in fields if name not in ("models", "data", "published")
    }


def test_every_field_of_a_request_has_a_sentence() -> None:
    described = describe_fields(RunRequest)
    assert [*described] == [field.name for field in dataclasses.fields(RunRequest)]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_each_way_of_scoring_shows_every_option_with_its_default_and_sentence(
    function: Any,
) -> None:
    shown, told = inspect.signature(function).parameters, inspect.getdoc(function) or ""
    words = " ".join(told.split())
    described = describe_fields(RunRequest)
    for field in dataclasses.fields(RunRequest):
        if field.name in RunOptions.__annotations__:
            assert shown[field.name].default == field.default
            assert shown[field.name].kind is inspect.Parameter.KEYWORD_ONLY
            assert f"{field.name}: {described[field.name]}" in words
    assert "options" not in shown
    assert "**options" not in told
    assert max(map(len, told.splitlines())) <= 96


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(TypeError, match="limti"):
        nnd.evaluate("gpt2", "sample", limti=3)  # type: ignore[call-overload]
