"""What people asked the systems, as models read it: in chats by default, never in plain text."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support.chat.rendered import CHATML, encoded
from support.metric_runs import CONTEXTS, pair_rows
from support.refusals import refusal
from support.report.page import Page
from support.stored_folders import write_sealed

from nnd.metric.data import PairSet, load_pairs
from nnd.metric.likelihood import LoadedModel, Scoring
from nnd.metric.numbers import agree, check_runs, compare
from nnd.metric.run import Evaluation, estimate, evaluate, merge, vary
from nnd.metric.show.reports.page.report import report
from nnd.metric.text import Chat, choose_rendering, find_chat, find_protocol, find_template, render
from nnd.metric.text.encoding.chat_ids import cut_chat
from nnd.metric.train.objective import Objective
from nnd.metric.train.pair_batches import make_examples
from nnd.schemas import (
    Instruction,
    StoredContext,
    digest_wording,
    plain,
    read_instruction,
)

Chatty = Callable[..., LoadedModel]

ASK = "Ask about this text.\n\n{paragraph}"
WORDINGS: tuple[dict[str, str], ...] = (
    {"": ASK},
    {"": "Text: {paragraph}\nPlease ask a question."},
    {"": "A question on {paragraph}?"},
)
ASKED = (
    f"<|im_start|>user\nAsk about this text.\n\n{CONTEXTS[0]}<|im_end|>\n<|im_start|>assistant\n"
)


@pytest.fixture(scope="module")
def birds() -> PairSet:
    return replace(load_pairs(pair_rows()), instruction=Instruction(WORDINGS, "invented"))


@pytest.fixture(scope="module")
def talk() -> PairSet:
    return replace(load_pairs([TALK]), instruction=DIALOGUE)


def run(model: LoadedModel, data: PairSet, out: Path | None = None, **more: Any) -> Evaluation:
    return evaluate(model, data, out=out, scoring=Scoring(cache=False, **more))


def template_of(found: Evaluation) -> str:
    (result,) = found.results
    return result.template


def context_of(found: Evaluation) -> str:
    """What the model read of the first context."""
    request = found.results[0].request
    assert request is not None
    return request.context


# Words


def test_words_are_those_for_the_category_or_the_language() -> None:
    by_kind = {"news": "Article: {context}", "de": "Auf Deutsch: {context}", "": "{context}!"}
    template = find_template("instruction", Instruction((by_kind,), "invented"))
    prompts = render(
        template,
        [
            StoredContext("a", kinds=("news", "de")),
            StoredContext("a", kinds=("chat", "de")),
            StoredContext("a", kinds=("chat", "en")),
            StoredContext("a"),
        ],
    )
    texts = ["".join(prompt.context) for prompt in prompts]
    assert texts == ["Article: a", "Auf Deutsch: a", "a!", "a!"]


def test_a_kind_of_context_without_words_is_an_error() -> None:
    template = find_template("instruction", Instruction(({"news": "{context}"},), "invented"))
    with refusal("template.no-words"):
        render(template, [StoredContext("a", kinds=("chat", "en"))])


@pytest.mark.parametrize("words", ["Say {what", {"a": "Go on.", "b": "{context}"}])
def test_malformed_words_are_an_error(words: Any) -> None:
    with refusal("template.placeholder"):
        read_instruction({"instruction": words, "instruction_from": "invented"})


@pytest.mark.parametrize("facts", [{}, {"instruction": "none", "instruction_from": "a request"}])
def test_data_may_have_no_instruction(facts: dict[str, Any]) -> None:
    assert read_instruction(facts) is None


# The default


def test_a_chat_model_reads_the_instruction_by_itself(chatty: Chatty, birds: PairSet) -> None:
    found = run(chatty(CHATML), birds)
    (result,) = found.results
    assert plain(result.request) == {"context": ASKED, "candidate": "Who sat on the mat?"}
    assert result.instruction == digest_wording(WORDINGS[0])
    assert f"|template:instruction|instr:{result.instruction}|chat:" in result.signature
    assert "Contexts were read as chats with the instruction." in found.remarks()


def test_without_a_chat_the_stored_context_is_read(chatty: Chatty, birds: PairSet) -> None:
    for found in (run(chatty(None), birds), run(chatty(CHATML), birds, chat=Chat("none"))):
        (result,) = found.results
        assert (result.template, result.instruction) == ("default", None)
        assert plain(result.request) == {"context": CONTEXTS[0], "candidate": "Who sat on the mat?"}
        assert "|instr:" not in result.signature
        assert "Contexts were read as plain text." in found.remarks()


def test_the_bare_context_can_be_asked_for(chatty: Chatty, birds: PairSet) -> None:
    bare = run(chatty(CHATML), birds, template="default")
    assert bare.results[0].instruction is None
    assert "Contexts were read as chats without an instruction." in bare.remarks()
    without = run(chatty(CHATML), replace(birds, instruction=None))
    assert bare.scored.equals(without.scored)
    assert bare.results[0].signature == without.results[0].signature


def test_a_base_model_can_be_given_the_words(chatty: Chatty, birds: PairSet) -> None:
    found = run(chatty(None), birds, template="instruction")
    assert context_of(found) == f"Ask about this text.\n\n{CONTEXTS[0]}"
    assert "Contexts were read as plain text with the instruction." in found.remarks()


@pytest.mark.parametrize("name", ["instruction", "instruction-2"])
def test_data_without_an_instruction_says_so(chatty: Chatty, birds: PairSet, name: str) -> None:
    with refusal("template.unknown"):
        run(chatty(CHATML), replace(birds, instruction=None), template=name)
    with refusal("template.unknown"):  # a paraphrase that is missing
        run(chatty(CHATML), birds, template="instruction-4")


def test_auto_means_the_default_where_the_model_has_no_template(
    chatty: Chatty, birds: PairSet
) -> None:
    assert template_of(run(chatty(CHATML), birds, template="auto")) == "instruction"
    assert template_of(run(chatty(None), birds, template="auto")) == "default"


def test_an_estimate_counts_the_words(chatty: Chatty, birds: PairSet) -> None:
    costs = [
        estimate(chatty(CHATML), birds, scoring=Scoring(template=template))
        for template in (None, "default", "instruction")
    ]
    tokens = [need.tokens for cost in costs for need in cost.models[0].needs.values()]
    assert tokens[0] == tokens[2] > tokens[1]


def test_training_reads_the_instruction_too(chatty: Chatty, birds: PairSet) -> None:
    loaded = chatty(CHATML)
    template, choice = choose_rendering(
        loaded, find_protocol("native"), Chat(), None, instruction=birds.instruction
    )
    (first, *_) = make_examples(loaded, birds, template, choice, Objective())
    read = loaded.tokenizer.decode(first.high.context + first.high.inputs[:1])
    assert read.startswith("<|im_start|>user\nAsk about this text.\n\n")
    assert read.endswith("<|im_end|>\n<|im_start|>assistant\n")


# Tokens


def test_the_tokens_are_those_of_the_text_as_a_whole(chatty: Chatty, birds: PairSet) -> None:
    loaded = chatty(CHATML)
    template, choice = choose_rendering(
        loaded, find_protocol("native"), Chat(), None, instruction=birds.instruction
    )
    assert choice.template is not None
    (prompt,) = render(template, [StoredContext(CONTEXTS[0], {"paragraph": CONTEXTS[0]})])
    (row,) = encoded(loaded, choice.template, [(prompt.context, "the cat")])
    message = {"role": "user", "content": f"Ask about this text.\n\n{CONTEXTS[0]}"}
    expected = loaded.tokenizer.apply_chat_template([message], add_generation_prompt=True)
    assert [*row.context, row.inputs[0]] == expected["input_ids"]


def test_a_cut_takes_data_and_leaves_the_words(chatty: Chatty) -> None:
    loaded = chatty(CHATML)
    words = {"": "Ask for {answer} about {paragraph}, please."}
    instruction = Instruction((words,), "invented")
    template, choice = choose_rendering(
        loaded, find_protocol("native"), Chat(), None, instruction=instruction
    )
    parts = {"answer": "the river", "paragraph": "the cat sat on the mat. " * 20}
    (prompt,) = render(template, [StoredContext("stored", parts)])
    assert choice.template is not None
    (chat,) = choice.template.render([prompt.context])
    for side in ("beginning", "end"):
        cut = cut_chat(loaded.tokenizer, chat, 60, side)  # type: ignore[arg-type] # of a loop
        assert cut is not None
        assert cut.truncated
        text = loaded.tokenizer.decode(cut.ids)
        assert text.startswith("<|im_start|>user\nAsk for the river about ")
        assert text.endswith(", please.<|im_end|>\n<|im_start|>assistant\n")


TRIMS = CHATML.replace("m.content }}", "m.content|trim }}")


@pytest.mark.parametrize("words", [" Ask: {paragraph} ", "{paragraph}\n"])
def test_a_template_may_trim_the_words(chatty: Chatty, birds: PairSet, words: str) -> None:
    instruction = Instruction(({"": words},), "invented")
    found = run(chatty(TRIMS), replace(birds, instruction=instruction))
    text = words.format(paragraph=CONTEXTS[0]).strip()
    assert context_of(found) == f"<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n"


# Dialogues

DIALOGUE = Instruction(({"": "Answer as B would, in one sentence."},), "invented")
TALK = {"context": "A: Hi\nB: Hello\nA: And you?", "candidate_high": "Fine.", "candidate_low": "x"}


def test_words_without_a_placeholder_are_the_systems_before_a_dialogue(
    chatty: Chatty, talk: PairSet
) -> None:
    assert context_of(run(chatty(CHATML), talk)) == (
        "<|im_start|>system\nAnswer as B would, in one sentence.<|im_end|>\n"
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello<|im_end|>\n"
        "<|im_start|>user\nAnd you?<|im_end|>\n<|im_start|>assistant\n"
    )
    # A system text of the user takes their place.
    own = run(chatty(CHATML), talk, chat=Chat(system="Be B."))
    assert context_of(own).startswith("<|im_start|>system\nBe B.<|im_end|>\n")
    assert (own.results[0].template, own.results[0].instruction) == ("chat-turns", None)


def test_an_export_has_the_same_system_turn(chatty: Chatty) -> None:
    loaded = chatty(CHATML)
    template = find_template("instruction", DIALOGUE)
    chat = find_chat(loaded.tokenizer, Chat(), name="chatty", template=template)
    (rendered,) = chat.render([TALK["context"]])
    assert rendered.pieces[0].startswith("<|im_start|>system\nAnswer as B would")


def test_a_template_without_a_system_turn_is_refused_for_them(
    chatty: Chatty, talk: PairSet
) -> None:
    refuses = "{% if messages[0].role == 'system' %}{{ raise_exception('no') }}{% endif %}" + CHATML
    with refusal("template.chat", "chatty"):
        run(chatty(refuses), talk)
    assert template_of(run(chatty(refuses), talk, template="chat-turns")) == "chat-turns"


# Runs together


def test_a_kept_run_with_other_words_is_refused(
    chatty: Chatty, birds: PairSet, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    run(chatty(CHATML, name="first"), birds, out)
    other = replace(birds, instruction=Instruction(WORDINGS[1:], "invented"))
    with refusal("place.holds-a-run", "run"):
        run(chatty(CHATML, name="second"), other, out)
    with refusal("place.holds-a-run", "run"):
        run(chatty(CHATML, name="second"), birds, out, template="default")
    found = run(chatty(None, name="base"), birds, out)
    assert found.readings() == (
        "Contexts were read as chats with the instruction by first, as plain text by base."
    ) or found.readings() == (
        "Contexts were read as plain text by base, as chats with the instruction by first."
    )


@pytest.fixture(scope="module")
def written(
    chatty: Chatty, birds: PairSet, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Path]:
    """`written(name, template)`: the run of a chat model of that name, made once."""
    place = tmp_path_factory.mktemp("written")

    @cache
    def write(name: str, template: str | None = None, *, chat: str = "auto") -> Path:
        out = place / f"{name}-{template}-{chat}"
        run(chatty(CHATML, name=name), birds, out, template=template, chat=Chat(chat))
        return out

    return write


def test_readings_of_one_model_are_compared(written: Callable[..., Path]) -> None:
    found = compare([written("a"), written("a", "default"), written("a", chat="none")])
    assert {(each.first, each.second) for each in found} == {
        ("chats with the instruction", "chats without an instruction"),
        ("chats with the instruction", "plain text"),
        ("chats without an instruction", "plain text"),
    }
    assert "All are readings of one model, a." in found.remarks()


@pytest.mark.parametrize("other", ["default", "instruction-2"])
def test_two_chat_models_that_were_asked_differently_are_not_compared(
    written: Callable[..., Path], other: str
) -> None:
    runs = [written("a"), written("b", other)]
    with refusal("run.different-rules"):
        compare(runs)
    assert compare(runs, mixed_rules=True).remarks()[0].startswith("Contexts were read as chats wi")


def test_words_of_different_datasets_are_no_mixture(
    chatty: Chatty, birds: PairSet, written: Callable[..., Path], tmp_path: Path
) -> None:
    rows = [{**TALK, "context": f"A: {number}"} for number in range(3)]
    for data in (
        replace(load_pairs(rows), name="none"),
        replace(birds, name="other", instruction=Instruction(WORDINGS[1:], "x")),
    ):
        runs = [tmp_path / f"{data.name}-{model}" for model in "ab"]
        for model, out in zip("ab", runs, strict=True):
            run(chatty(CHATML, name=model), data, out)
        check_runs([written("a"), written("b"), *runs])


def test_agreement_is_over_models_and_not_over_readings(written: Callable[..., Path]) -> None:
    runs = [written("a"), written("a", chat="none")]
    people = [
        {"system": system, "aspect": "question", "category": "overall", "score": score, "n": 4}
        for system, score in (("left", 0.2), ("right", 0.5))
    ]
    with refusal("run.too-few-models", str(runs[0])):
        agree(runs, human_scores=people, systems={"a": "left"})


def test_workers_ask_the_same(chatty: Chatty, birds: PairSet, tmp_path: Path) -> None:
    loaded = chatty(CHATML)
    (whole,) = run(loaded, birds).results
    evaluate(loaded, birds, worker=(1, 1), out=tmp_path / "run", scoring=Scoring(cache=False))
    (merged,) = merge(tmp_path / "run").results
    assert merged.instruction == whole.instruction == digest_wording(WORDINGS[0])
    assert merged.signature == whole.signature
    assert merged.request == whole.request


@pytest.mark.parametrize("kind", [["en"], b"\xff", 3])
def test_columns_of_other_types_are_no_kinds_of_contexts(
    chatty: Chatty, birds: PairSet, kind: object
) -> None:
    rows = [{**row, "language": kind} for row in pair_rows().to_dicts()]
    assert run(chatty(CHATML), replace(load_pairs(rows), instruction=birds.instruction)).results


def test_what_models_read_by_themselves_is_no_mixture(
    chatty: Chatty, birds: PairSet, written: Callable[..., Path], tmp_path: Path
) -> None:
    run(chatty(None, name="b"), birds, tmp_path / "b")
    found = compare([written("a"), tmp_path / "b"])
    assert found.remarks()[0] == (
        "Contexts were read as chats with the instruction by a, as plain text by b."
    )


def test_a_chat_run_of_an_older_version_is_named(
    chatty: Chatty, birds: PairSet, written: Callable[..., Path], tmp_path: Path
) -> None:
    run(chatty(CHATML, name="old"), birds, tmp_path / "old", template="default")
    file = tmp_path / "old" / "result.json"
    stored = json.loads(file.read_text())
    for name in ("instruction", "request"):
        del stored["results"][0][name]
    write_sealed(file, stored)
    runs = [tmp_path / "old", written("new")]
    with refusal("run.different-rules"):
        compare(runs)
    assert compare(runs, mixed_rules=True).remarks()[0] == (
        "Contexts were read as chats without an instruction by old, as chats with the instruction "
        "by new."
    )


def test_vary_counts_what_depends_on_the_wording(chatty: Chatty, birds: PairSet) -> None:
    loaded = chatty(CHATML)
    found = vary(loaded, birds, ["template"], scoring=Scoring(cache=False))
    assert found.default.choices == {"template": "instruction"}
    assert [each.choice for each in found.choices] == [
        *("default", "instruction-2", "instruction-3"),
    ]
    digests = [each.scored.results[0].instruction for each in found.choices]
    assert digests == [None, *(digest_wording(wording) for wording in WORDINGS[1:])]
    without = vary(loaded, replace(birds, instruction=None), ["template"])
    assert without.left_out[0].dimension == "template"


def test_a_report_shows_readings_of_one_model_side_by_side(
    chatty: Chatty, birds: PairSet, written: Callable[..., Path], tmp_path: Path
) -> None:
    page = report([written("a"), written("a", chat="none")], out=tmp_path / "report.html")
    assert {*page.models} == {"chats with the instruction", "plain text"}
    assert "All are readings of one model, a." in Page(page.page).words()
    same = tmp_path / "same"
    run(chatty(CHATML, name="a"), birds, same)
    with refusal("name.twice"):
        report([written("a"), same], out=tmp_path / "other.html")
