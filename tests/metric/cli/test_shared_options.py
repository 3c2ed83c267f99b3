"""Options that several commands share, as they are read."""

import re
from typing import Any

import pytest
import typer

from nnd.metric.cli.command import app
from nnd.metric.cli.evaluating import read_templates
from nnd.metric.cli.options import read
from nnd.metric.cli.signatures import signature_of
from nnd.schemas import ScoringError

CHAT = {
    each.name: each for each in signature_of("nnd", "export").parameters if each.record == "chat"
}
MODELS = ["gpt2", "gpt2=x", "org/bart"]
COMMANDS: dict[str, Any] = dict(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("command", "words", "message"),
    [
        (
            "evaluate",
            ["gpt2", "--data", "sample"],
            'unexpected argument "gpt2"; name models with --model and data with --data',
        ),
        ("show", ["sample", "b\n"], 'unexpected argument "b\\n"; leave it out'),
    ],
)
def test_an_argument_that_belongs_behind_an_option_is_an_error_that_names_it(
    command: str, words: list[str], message: str
) -> None:
    with pytest.raises(Exception, match=re.escape(message)):
        COMMANDS[command].make_context(command, words)


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
    message = f"{option.opts[0]} is given twice; give it once"
    with pytest.raises(Exception, match=re.escape(message)):
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
    ("entries", "message"),
    [
        (
            ["gtp2=mixqg"],
            '--template "gtp2=mixqg": unknown model "gtp2"; did you mean "gpt2"?',
        ),
        (["mixqg", "macaw"], "--template is given twice for all models; give it once, and "),
        (["org/bart=a", "org/bart=b"], '--template is given twice for model "org/bart"; '),
    ],
)
def test_templates_that_are_not_clear_are_refused(entries: list[str], message: str) -> None:
    with pytest.raises(ScoringError) as caught:
        read_templates(entries, MODELS)
    assert str(caught.value).startswith(message)


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
    ("entries", "message"),
    [
        (["k"], '--template-arg "k": write KEY=VALUE'),
        (["=1"], '--template-arg "=1": write KEY=VALUE'),
        (["k=1", "k=2"], "--template-arg: k has two values; give one"),
    ],
)
def test_arguments_that_are_not_clear_are_refused(entries: list[str], message: str) -> None:
    with pytest.raises(ScoringError) as caught:
        read(CHAT["arguments"], entries, as_data=True)
    assert str(caught.value) == message
