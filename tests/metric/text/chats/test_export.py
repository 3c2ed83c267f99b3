"""`nnd export --to lm-eval --model` writes chats as the model reads them, and no delimiter."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import yaml
from lm_eval import simple_evaluate
from lm_eval.models.huggingface import HFLM
from lm_eval.tasks import TaskManager
from support.chat.rendered import CHATML, chosen
from support.refusals import check_refusal
from typer.testing import CliRunner

import nnd
from nnd.metric.cli.command import app
from nnd.metric.data import contexts_of, load_pairs
from nnd.metric.likelihood import LoadedModel, Scoring
from nnd.metric.text import Chat, find_template, render
from nnd.schemas import NNDError

Chatty = Callable[..., LoadedModel]


def save(loaded: LoadedModel, folder: Path) -> str:
    loaded.model.config.save_pretrained(folder)
    loaded.tokenizer.save_pretrained(folder)
    return str(folder)


def test_contexts_are_rendered_and_the_delimiter_is_empty(
    chatty: Chatty, sample: Path, tmp_path: Path
) -> None:
    loaded, tasks = chatty(CHATML), tmp_path / "tasks"
    model = save(loaded, tmp_path / "tiny-chat")
    command = ["export", str(sample), "--to", "lm-eval", "--out", str(tasks), "--model", model]

    done = CliRunner().invoke(app, [*command, "--system-prompt", "Be kind."])

    assert done.exit_code == 0, done.output
    common = yaml.load((tasks / "_common").read_text(), yaml.BaseLoader)  # noqa: S506 - it makes texts only
    assert common["target_delimiter"] == ""
    assert "without `--apply_chat_template`" in (tasks / "README.md").read_text()
    pairs = load_pairs(sample)
    asked = render(find_template("instruction", pairs.instruction), contexts_of(pairs.pairs))
    head = "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\n"
    tail = "<|im_end|>\n<|im_start|>assistant\n"
    exported = pl.read_parquet(tasks / "pairs.parquet")["context"]
    assert {*exported} == {f"{head}{''.join(prompt.context)}{tail}" for prompt in asked}
    chat = chosen(loaded, Chat(system="Be kind."))
    assert "".join(chat.render(["Hi"])[0].pieces) == f"{head}Hi{tail}"


def test_the_harness_finds_the_pass_rate_of_protocol_sum(
    chatty: Chatty, sample: Path, tmp_path: Path
) -> None:
    loaded, tasks = chatty("{{ bos_token }}" + CHATML), tmp_path / "tasks"
    nnd.export(sample, tasks, to="lm-eval", model=save(loaded, tmp_path / "tiny-chat"))
    found = simple_evaluate(
        model=HFLM(pretrained=loaded.model, tokenizer=loaded.tokenizer, device="cpu"),
        tasks=["nnd_sample_overall"],
        task_manager=TaskManager(include_path=str(tasks), include_defaults=False),
        bootstrap_iters=0,
        log_samples=False,
    )
    scoring = Scoring("sum", unconditional=False, cache=False)
    (result,) = nnd.evaluate(loaded, sample, scoring=scoring).results
    assert found["results"]["nnd_sample_overall"]["acc,none"] == result.rates.overall.pass_rate
    assert result.signature.endswith("|bos:yes")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--to", "lm-eval", "--system-prompt", "a"], "option.needs-another"),
        (["--to", "lm-eval", "--template", "chat-turns"], "template.chat"),
        (["--to", "trl", "--model", "gpt2"], "option.conflict"),
        (["--to", "lm-eval", "--model", "PLAIN"], "template.chat"),
    ],
)
def test_options_that_cannot_be_used(
    options: list[str], code: str, chatty: Chatty, sample: Path, tmp_path: Path
) -> None:
    plain = save(chatty(None), tmp_path / "plain")
    given = [plain if option == "PLAIN" else option for option in options]
    done = CliRunner().invoke(app, ["export", str(sample), "--out", str(tmp_path / "x"), *given])
    assert isinstance(done.exception, NNDError)
    check_refusal(done.exception, code)
    assert not (tmp_path / "x").exists()
