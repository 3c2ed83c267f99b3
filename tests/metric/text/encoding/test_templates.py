"""Templates: the paper's, literally, and a user's own."""

from collections.abc import Callable, Mapping

import pytest
from support.refusals import refusal
from support.tiny_models import Family

from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.text.encoding.assembly import encode
from nnd.metric.text.encoding.protocols import PROTOCOLS
from nnd.metric.text.encoding.templates import (
    TEMPLATES,
    Prompt,
    choose_template,
    find_template,
    render,
)
from nnd.schemas import StoredContext

QUIZ = {"paragraph": "Sea and salt.", "answer": "salt"}
QUESTION = {"question": "What is in the sea?"}


def prompt(template: str, parts: Mapping[str, str] | None, context: str = "stored") -> Prompt:
    (one,) = render(find_template(template), [StoredContext(context, parts)])
    return one


# The named ones; the texts stand in ../shared/facts/protocols.md, "laban2022", Templates.


def test_the_named_templates_are_the_papers() -> None:
    papers = ["mixqg", "prophetnet", "macaw", "unifiedqa", "t5-ssm-nq", "t5-summarize"]
    assert list(TEMPLATES) == ["default", *papers, "chat-turns", "pair"]


def test_default_reads_the_context_as_it_is_stored() -> None:
    assert prompt("default", QUIZ, "salt \n Sea {x} and salt.") == ("salt \n Sea {x} and salt.", "")


SUMMARIZED = [
    ("t5-summarize", {part: "Sea."}, "summarize: Sea.", "")
    for part in ("article", "document", "dialogue")
]
BACKSLASH_N = chr(92) + "n"


@pytest.mark.parametrize(
    ("template", "parts", "context", "prefix"),
    [
        ("mixqg", QUIZ, f"salt {BACKSLASH_N} Sea and salt.", ""),
        ("prophetnet", QUIZ, "salt [SEP] Sea and salt.", ""),
        (
            "macaw",
            QUIZ,
            "$question$ ; $context$ = Sea and salt. ; $answer$ = salt",
            "$question$ = ",
        ),
        ("macaw", QUESTION, "$answer$ ; $question$ = What is in the sea?", "$answer$ = "),
        ("unifiedqa", QUESTION, "What is in the sea?", ""),
        ("unifiedqa", QUIZ | QUESTION, f"What is in the sea? {BACKSLASH_N} Sea and salt.", ""),
        ("t5-ssm-nq", QUESTION, "What is in the sea?", ""),
        *SUMMARIZED,
        # One's own
        ("A: {answer}\nP: {paragraph}", QUIZ, "A: salt\nP: Sea and salt.", ""),
        ("{answer}, {answer}", QUIZ, "salt, salt", ""),
        ("Read: {context}", QUIZ, "Read: stored", ""),
        ("Read: {context}", None, "Read: stored", ""),
        ("{{x}} {answer} {{", QUIZ, "{x} salt {", ""),
        ("Q: {question}", {"question": "{paragraph} {{"}, "Q: {paragraph} {{", ""),
    ],
)
def test_what_is_read_and_what_stands_before_the_candidate(
    template: str, parts: Mapping[str, str] | None, context: str, prefix: str
) -> None:
    found = prompt(template, parts)
    assert ("".join(found.context), found.candidate_prefix) == (context, prefix)


def test_macaw_takes_each_context_for_what_it_is() -> None:
    prompts = render(TEMPLATES["macaw"], [StoredContext("", QUIZ), StoredContext("", QUESTION)])
    assert [found.candidate_prefix for found in prompts] == ["$question$ = ", "$answer$ = "]


def test_macaw_prefers_the_rendering_that_leaves_nothing_out() -> None:
    # Both fit; the first says two of the three parts, the second one.
    assert prompt("macaw", QUIZ | QUESTION).candidate_prefix == "$question$ = "


@pytest.mark.parametrize(
    ("model", "parts", "template"),
    [
        ("Salesforce/mixqg-large", QUIZ, "mixqg"),
        ("microsoft/prophetnet-large-uncased-squad-qg", QUIZ, "prophetnet"),
        ("microsoft/prophetnet-large-uncased-cnndm", QUIZ, "default"),
        ("allenai/macaw-3b", QUESTION, "macaw"),
        ("allenai/unifiedqa-v2-t5-base-1251000", QUESTION, "unifiedqa"),
        ("google/t5-xl-ssm-nq", QUESTION, "t5-ssm-nq"),
        ("google-t5/t5-small", {"article": "Sea."}, "t5-summarize"),
        ("google-t5/t5-small", QUIZ, "default"),
        ("google/flan-t5-small", {"article": "Sea."}, "default"),
        ("allenai/macaw-3b", None, "default"),
        ("gpt2", QUIZ, "default"),
    ],
)
def test_auto_takes_the_template_of_the_models_family_if_the_parts_are_there(
    model: str, parts: Mapping[str, str] | None, template: str
) -> None:
    assert choose_template("auto", model, [StoredContext("", parts)] * 2).name == template


def test_a_template_that_is_asked_for_is_taken_whatever_the_model() -> None:
    assert (
        choose_template("default", "allenai/macaw-3b", [StoredContext("", QUESTION)]).name
        == "default"
    )


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_puts_one_space_before_the_candidate(name: str) -> None:
    assert find_template(name).separator == " "


def test_an_own_template_is_called_by_its_text() -> None:
    assert find_template("A: {answer}").name == "A: {answer}"


def test_literals_and_data_come_in_turn() -> None:
    # A tuple: literal, data, literal, data, … so that what is data can never become a literal.
    assert prompt("{{a}} {answer}{paragraph} b", QUIZ).context == (
        "{a} ",
        "salt",
        "",
        "Sea and salt.",
        " b",
    )


def test_an_unknown_placeholder_is_named_with_the_known_ones() -> None:
    with refusal("template.placeholder", 'template "{answr} {paragraph}"') as caught:
        prompt("{answr} {paragraph}", QUIZ)
    assert "{answr}" in caught.value.what
    assert "{context}, {paragraph}, {answer}" in caught.value.remedy


def test_a_named_template_says_what_each_rendering_lacks() -> None:
    with refusal("template.placeholder", 'template "macaw"') as caught:
        prompt("macaw", {"dialogue": "Hi."})
    lacking = ("{paragraph}", "{answer}", "{question}")
    assert all(name in caught.value.what for name in lacking)
    assert "{context}, {dialogue}" in caught.value.remedy


def test_data_without_parts_has_the_context_only() -> None:
    with refusal("template.placeholder", 'template "Q: {question}"'):
        prompt("Q: {question}", None)


@pytest.mark.parametrize(
    "text",
    [
        *("{answer", "answer}", "{answer} }", "{{answer}", "{answer!r:"),  # no matching brace
        *("{answer!r}", "{answer:>9}", "{answer.x}", "{answer[0]}", "{}", "{the answer}"),
        "mixgq",
    ],
)
def test_what_is_no_template(text: str) -> None:
    with refusal("template.unknown" if text == "mixgq" else "template.placeholder"):
        find_template(text)


# What the model gets


def test_special_tokens_count_in_the_template_and_not_in_the_data(
    tiny: Callable[[str], Family], loaded: Callable[[str], LoadedModel]
) -> None:
    bart = tiny("bart")
    found = prompt("{question} </s> {answer}", {"question": "who </s>", "answer": "the <s>"})
    (fed,) = encode(loaded("bart"), PROTOCOLS["native"], [(found.context, "x")])
    # <s> is 0, </s> is 2; the template's </s> is one token, the question's is spelled out.
    assert bart.text_ids("who </s> ")[-1] != 2
    assert fed.context == (0, *bart.text_ids("who </s> "), 2, *bart.text_ids(" the <s>"), 2)


def test_prophetnet_gets_its_sep_token_from_the_template_alone(
    tiny: Callable[[str], Family], loaded: Callable[[str], LoadedModel]
) -> None:
    the, cat, river = tiny("prophetnet").tokenizer.convert_tokens_to_ids(["the", "cat", "river"])
    found = prompt("prophetnet", {"answer": "the cat", "paragraph": "the river"})
    (fed,) = encode(loaded("prophetnet"), PROTOCOLS["native"], [(found.context, "x")])
    assert fed.context == (the, cat, 102, the, river, 102)
    found = prompt("prophetnet", {"answer": "the [SEP]", "paragraph": "the river"})
    with refusal("model.tokenizer"):
        encode(loaded("prophetnet"), PROTOCOLS["native"], [(found.context, "x")])
