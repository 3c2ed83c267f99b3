"""Options that several commands share, as they are read."""

import re
from typing import Any

import pytest
import typer
from support.refusals import refusal

from nnd.metric.cli.command import app
from nnd.metric.cli.evaluating import read_templates
from nnd.metric.cli.options import read
from nnd.metric.cli.signatures import signature_of

CHAT = {
    each.name: each for each in signature_of("nnd", "export").parameters if each.record == "chat"
}
MODELS = ["gpt2", "gpt2=x", "org/bart"]
COMMANDS: dict[str, Any] = dict(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("command", "words", "named"),
    [
        ("evaluate", ["gpt2", "--data", "sample"], ['"gpt2"', "--model", "--data"]),
        ("show", ["sample", "b\n"], ['"b\\n"']),
    ],
)
def test_an_argument_that_belongs_behind_an_option_is_an_error_that_names_it(
    command: str, words: list[str], named: list[str]
) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - Typer hides the types of its errors
        COMMANDS[command].make_context(command, words)
    assert all(name in str(caught.value) for name in named)


SINGLE = [
    (name, option)
    for name, command in COMMANDS.items()
    for option in command.params
    if option.param_type_name == "option" and not option.multiple and option.name != "help"
]


@pytest.mark.parametrize(
    ("command", "option"), SINGLE, ids=[f"{name} {option.opts[0]}" for name, option in SINGLE]
)
def test_an_option_of_one_value_that_is_given_twice_is_an_error(command: str, option: Any) -> None:
    once = [option.opts[0]] if option.is_flag else [option.opts[0], "1"]
    with pytest.raises(Exception, match=re.escape(option.opts[0])):
        COMMANDS[command].make_context(command, [*once, *once])


def test_an_option_of_several_values_can_be_given_several_times() -> None:
    words = ["--model", "a", "--data", "x", "--model", "b", "--limit", "3", "--model", "b"]
    context = COMMANDS["evaluate"].make_context("evaluate", words)
    assert context.params["models"] == ["a", "b", "b"]
    assert context.params["limit"] == 3


@pytest.mark.parametrize(
    ("entries", "for_all", "own"),
    [
        ([], None, {}),
        (["mixqg"], "mixqg", {}),
        (["Input={context}"], "Input={context}", {}),
        (["gpt2=mixqg"], None, {"gpt2": "mixqg"}),
        (["gpt2=Q={question}", "macaw"], "macaw", {"gpt2": "Q={question}"}),
        (["gpt2=x=mixqg", "org/bart=macaw"], None, {"gpt2=x": "mixqg", "org/bart": "macaw"}),
    ],
)
def test_templates_are_of_one_model_or_of_all(
    entries: list[str], for_all: str | None, own: dict[str, str]
) -> None:
    assert read_templates(entries, MODELS) == (for_all, own)


@pytest.mark.parametrize(
    ("entries", "code", "where"),
    [
        (["gtp2=mixqg"], "name.unknown", '--template "gtp2=mixqg"'),
        (["mixqg", "macaw"], "name.twice", "--template"),
        (["org/bart=a", "org/bart=b"], "name.twice", "--template"),
    ],
)
def test_templates_that_are_not_clear_are_refused(
    entries: list[str], code: str, where: str
) -> None:
    with refusal(code, where):
        read_templates(entries, MODELS)


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("k=false", False),
        ("k=False", False),
        ("k=3", 3),
        ("k=high", "high"),
        ("k=a=b", "a=b"),
        ('k="3"', "3"),
        ("k=", ""),
    ],
)
def test_an_argument_of_a_chat_template_is_json_or_a_text(entry: str, value: object) -> None:
    assert read(CHAT["arguments"], [entry], as_data=True) == {"k": value}


def test_a_system_prompt_may_have_lines() -> None:
    assert read(CHAT["system"], "a\\nb", as_data=True) == "a\nb"


@pytest.mark.parametrize(
    ("entries", "code", "where"),
    [
        (["k"], "option.bad-value", '--template-arg "k"'),
        (["=1"], "option.bad-value", '--template-arg "=1"'),
        (["k=1", "k=2"], "name.twice", "--template-arg"),
    ],
)
def test_arguments_that_are_not_clear_are_refused(
    entries: list[str], code: str, where: str
) -> None:
    with refusal(code, where):
        read(CHAT["arguments"], entries, as_data=True)
