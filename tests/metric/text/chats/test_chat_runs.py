"""Runs with chat templates: signature, result, store, kept runs, and the command's first line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.chat.rendered import CHATML, chosen, encoded
from support.metric_runs import CONTEXTS
from support.refusals import refusal
from support.stored_folders import write_sealed
from typer.testing import CliRunner

from nnd.metric.cli.command import app
from nnd.metric.likelihood import Engine, LoadedModel, Scoring
from nnd.metric.run import Evaluation, evaluate, vary
from nnd.metric.space import NND
from nnd.metric.text import Chat
from nnd.schemas import check_rows, plain

Chatty = Callable[..., LoadedModel]
RENDERED = f"<|im_start|>user\n{CONTEXTS[0]}<|im_end|>\n<|im_start|>assistant\n"


def run(model: LoadedModel, data: Path, out: Path | None = None, **more: Any) -> Evaluation:
    return evaluate(model, data, out=out, scoring=Scoring(**more))


def values(found: Evaluation) -> list[tuple[float, ...]]:
    return found.scored.select("ll_high", "ll_low", "ll_alone_high", "ll_alone_low").rows()


def test_none_changes_no_number(chatty: Chatty, birds: Path) -> None:
    plain = run(chatty(None), birds, cache=False)
    none = run(chatty(CHATML), birds, cache=False, chat=Chat("none"))
    assert values(none) == values(plain)
    assert none.results[0].signature == plain.results[0].signature
    assert "|chat:" not in plain.results[0].signature


def test_a_result_says_how_contexts_were_rendered(chatty: Chatty, birds: Path) -> None:
    (result,) = run(chatty(CHATML), birds, cache=False, chat=Chat(system="Be kind.")).results
    chat = chosen(chatty(CHATML), Chat(system="Be kind."))
    begin = f"<|im_start|>system\nBe kind.<|im_end|>\n{RENDERED}"
    assert plain(result.chat) == {
        "template": chat.digest,
        "asked": {"template": "auto", "system": "Be kind.", "arguments": {}},
        "reason": (
            "contexts are rendered as a user's turns and candidates as the answers, with "
            f"its tokenizer's chat template (chat:{chat.digest}); use --chat-template "
            "none for plain text"
        ),
        "source": "tokenizer",
        "system": "Be kind.",
        "arguments": {},
        "date": None,
        "bos": False,
        "end": "<|im_end|>\n",
        "end_scored": False,
        "neutralised": 0,
    }
    assert plain(result.request) == {"context": begin, "candidate": "Who sat on the mat?"}
    assert f"|template:default|chat:{chat.digest}|" in result.signature
    assert result.signature.endswith("|sep:''|bos:no")
    assert result.n_crossing == 0
    document = {"results": [result.to_dict()], "agreement": None, "agreement_reason": "few"}
    assert list(check_rows("result", [document])) == []


def test_the_engine_scores_what_is_encoded(chatty: Chatty) -> None:
    loaded = chatty(CHATML)
    chat = chosen(loaded)
    request = (CONTEXTS[0], "the cat")
    found = Engine(loaded, separator=chat.separator, chat=chat)([request]).log_likelihood
    (row,) = encoded(loaded, chat, [request])
    whole = Engine(loaded, separator="")([((RENDERED,), "the cat")])
    assert found == pytest.approx(whole.log_likelihood, abs=1e-6)
    assert loaded.tokenizer.decode(row.context + row.inputs[:1]) == RENDERED


def test_the_module_of_evaluate_takes_the_options_one_by_one(chatty: Chatty, birds: Path) -> None:
    loaded = chatty(CHATML)
    options: dict[str, Any] = {"system_prompt": "Be kind.", "template_args": {"a": 1}}
    found = NND().compute(
        dataset=birds, model=loaded.model, tokenizer=loaded.tokenizer, cache=False, **options
    )
    assert found is not None
    assert found["chat"]["asked"] == {
        "template": "auto",
        "system": "Be kind.",
        "arguments": {"a": 1},
    }


def test_the_store_does_not_mix_renderings(chatty: Chatty, birds: Path) -> None:
    loaded = chatty(CHATML)
    plain = run(loaded, birds, chat=Chat("none"))
    chats = run(loaded, birds)
    again = run(loaded, birds)
    assert plain.results[0].work.stored == chats.results[0].work.stored == 0
    assert again.results[0].work.stored == again.results[0].work.requests
    assert values(again) == values(chats) == values(run(loaded, birds, cache=False))
    assert set(values(chats)).isdisjoint(values(plain))


def test_a_kept_run_of_another_rendering_is_refused(
    chatty: Chatty, birds: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    run(chatty(CHATML, name="first"), birds, out, cache=False)
    for asked in Chat("none"), Chat(system="a"), Chat(arguments={"a": 1}):
        with refusal("place.holds-a-run", "run"):
            run(chatty(CHATML, name="second"), birds, out, cache=False, chat=asked)
    found = run(chatty(None, name="second"), birds, out, cache=False)
    assert [each.chat.template == "none" for each in found.results if each.chat] == [False, True]


def test_a_run_of_an_older_version_read_plain_text(
    chatty: Chatty, birds: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    run(chatty(None, name="first"), birds, out, cache=False)
    file = out / "result.json"
    stored = json.loads(file.read_text())
    del stored["results"][0]["chat"]
    write_sealed(file, stored)

    with refusal("place.holds-a-run", "run"):
        run(chatty(CHATML, name="second"), birds, out, cache=False)
    found = run(chatty(CHATML, name="second"), birds, out, cache=False, chat=Chat("none"))
    assert [each.chat is None for each in found.results] == [True, False]


def test_contexts_that_spell_control_tokens_are_counted(chatty: Chatty) -> None:
    rows = [
        {"context": context, "candidate_high": "the cat", "candidate_low": "a dog"}
        for context in ("Hi <|im_end|>", "</s>", "Hi")
    ]
    (result,) = evaluate(chatty(CHATML), rows, scoring=Scoring(cache=False)).results
    assert result.chat is not None
    assert result.chat.neutralised == 2


def test_details_say_why_contexts_are_plain_and_show_the_first_request(
    chatty: Chatty, birds: Path
) -> None:
    why = "plain: contexts are read as plain text, because its tokenizer has no chat template"
    shown = run(chatty(None, name="plain"), birds, cache=False).details()
    assert why in shown
    assert shown[shown.index(why) + 2] == CONTEXTS[0]
    as_chat = run(chatty(CHATML, name="chatty"), birds, cache=False).details()
    assert RENDERED in as_chat
    assert as_chat[as_chat.index(RENDERED) + 1].startswith("and the candidate: ")  # type: ignore[union-attr]


def test_a_long_request_is_shown_by_its_ends(chatty: Chatty) -> None:
    row = {"context": "a " * 600, "candidate_high": "the cat", "candidate_low": "a dog"}
    (result,) = evaluate(chatty(CHATML), [row], scoring=Scoring(cache=False)).results
    assert result.request is not None
    request = result.request.context
    begin, _middle, end = request.partition(" […")
    assert len(begin) == 500
    assert begin.startswith("<|im_start|>user\na a ")
    assert len(end.partition("…] ")[2]) == 500
    assert request.endswith("<|im_start|>assistant\n")
    assert result.request.candidate == "the cat"


def test_the_command_says_in_a_line_how_contexts_were_read(
    chatty: Chatty, birds: Path, tmp_path: Path
) -> None:
    loaded, model, file = chatty(CHATML), tmp_path / "tiny-chat", tmp_path / "own.jinja"
    loaded.model.save_pretrained(model)
    loaded.tokenizer.save_pretrained(model)
    file.write_text("{{ mood }}: {% for m in messages %}{{ m.content }}\n{% endfor %}")
    command = ["evaluate", "--model", str(model), "--data", str(birds), "--no-cache"]

    def lines(*options: str) -> list[str]:
        done = CliRunner().invoke(app, [*command, *options], env={"COLUMNS": "300"})
        assert done.exit_code == 0, done.output
        return done.stdout.splitlines()

    assert "Contexts were read as chats without an instruction." in lines()
    assert "Contexts were read as plain text." in lines("--chat-template", "none")
    own = ["--chat-template", str(file), "--template-arg", "mood=glad", "--details"]
    shown = "\n".join(lines(*own, "--out", str(tmp_path / "run")))
    assert "with the given chat template (chat:" in shown
    (result,) = json.loads((tmp_path / "run" / "result.json").read_text())["results"]
    assert result["chat"]["arguments"] == {"mood": "glad"}
    assert result["request"]["context"] == f"glad: {CONTEXTS[0]}\n"


def test_vary_compares_chats_with_plain_text(chatty: Chatty, birds: Path) -> None:
    loaded = chatty(CHATML)
    found = vary(loaded, birds, ["chat-template", "separator"])
    (plain,) = found.choices
    assert (found.default.choices, plain.choice) == ({"chat-template": "auto"}, "none")
    expected = run(loaded, birds, cache=False, unconditional=False, chat=Chat("none"))
    assert plain.scored.scored.equals(expected.scored)
    assert [each.dimension for each in found.left_out] == ["separator"]
    none = vary(loaded, birds, ["chat-template"], scoring=Scoring(chat=Chat("none")))
    assert (none.default.choices, none.choices[0].choice) == ({"chat-template": "none"}, "auto")
    without = vary(chatty(None), birds, ["chat-template"])
    assert without.choices == ()
    assert [each.dimension for each in without.left_out] == ["chat-template"]
