"""Stored outlines: what an estimate of the model itself says, without torch and transformers."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest
import transformers as hf
from support.models.gguf_files import write_gguf
from support.screens.commands import run_apart
from support.tiny_models import Family, rope_shape, seeded

from nnd.metric.data import load_pairs
from nnd.metric.likelihood import Loading, Scoring, load_model, load_skeleton
from nnd.metric.likelihood.models import load_model as load_model_module
from nnd.metric.run import estimate, evaluate, model_scoring
from nnd.metric.run.cost import measured_speeds, stored_outlines
from nnd.metric.run.cost.measured_speeds import keep_speed, known_speed, speed_key
from nnd.metric.run.cost.model_needs import find_needs
from nnd.metric.run.cost.outlining import outline_of
from nnd.metric.run.cost.stored_outlines import keep_outline, stored_outline
from nnd.metric.run.launchers import here
from nnd.schemas import cache_folder

Saved = Callable[[str], Path]

CPU = Loading(device="cpu")
CHAT = (
    "{% for m in messages %}{{ '<|' ~ m['role'] ~ '|>' ~ m['content'] ~ eos_token }}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)

STORED = ("gpt2", "llama", "gemma2", "qwen2", "bloom", "mamba", "xglm", "t5", "bart", "fsmt")


def keep(model: Path) -> None:
    keep_outline(model, CPU, load_model(model, CPU), 1.0)


@pytest.fixture
def chat(saved: Saved, tmp_path: Path) -> Path:
    """A model of one's own, with a chat template."""
    folder = tmp_path / "llama"
    shutil.copytree(saved("llama"), folder)
    (folder / "chat_template.jinja").write_text(CHAT, encoding="utf-8")
    return folder


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", STORED)
def test_the_needs_are_those_of_the_model(saved: Saved, birds: Path, name: str) -> None:
    keep(saved(name))
    check_needs(saved(name), birds, "native", "pmi", "laban2022")


def test_a_chat_is_rendered_without_the_tokenizer(chat: Path, birds: Path) -> None:
    keep(chat)
    check_needs(chat, birds, "native")


def test_a_gguf_file_is_known_by_its_tokenizer(
    tiny: Callable[[str], Family], birds: Path, tmp_path: Path
) -> None:
    tokenizer = tiny("gpt2").tokenizer
    with seeded():
        model = hf.LlamaForCausalLM(hf.LlamaConfig(**rope_shape(len(tokenizer), 160)))
    file = write_gguf(model, tokenizer, tmp_path / "tiny.gguf")
    assert estimate(file, birds, loading=CPU).models[0].notes == ()  # weights are unpacked
    keep(file)
    check_needs(file, birds, "native", "laban2022")


def check_needs(model: Path, data: Path, *protocols: str) -> None:
    stored, whole = stored_outline("it", model, CPU), outline_of(load_skeleton(model, CPU))
    assert stored is not None
    assert stored.outline == whole.outline
    pairs = {"birds": load_pairs(data)}
    for protocol in protocols:
        scoring = Scoring(protocol)
        assert [*find_needs(stored, pairs, scoring)] == [*find_needs(whole, pairs, scoring)]


@pytest.mark.parametrize("name", ["mbart50", "prophetnet"])
def test_what_reads_texts_in_its_own_way_is_not_stored(saved: Saved, name: str) -> None:
    """MBart-50 puts another language before texts to generate; ProphetNet has a slow tokenizer."""
    keep(saved(name))
    assert stored_outline("it", saved(name), CPU) is None


def test_an_estimate_after_a_run_loads_no_model(
    chat: Path, birds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (measured_speeds, stored_outlines):
        monkeypatch.setattr(module, "ENOUGH_S", 0.0)
    work = evaluate(chat, birds, loading=CPU).results[0].work
    speed = known_speed(speed_key(load_model(chat, CPU)))
    monkeypatch.setattr(load_model_module, "load_skeleton", refuse)
    found = estimate(chat, birds, loading=CPU)
    (model,) = found.models
    (need,) = model.needs.values()
    assert (need.tokens, model.is_measured) == (work.tokens, True)
    assert need.seconds == need.flops / speed


@pytest.mark.parametrize("change", ["weights", "tokenizer", "damage"])
def test_another_state_of_the_files_is_not_known(chat: Path, change: str) -> None:
    keep(chat)
    assert stored_outline("it", chat, CPU) is not None
    if change == "damage":
        (file,) = (cache_folder() / "tokenizers").iterdir()
        file.write_text(file.read_text(encoding="utf-8").replace("a", "b"), encoding="utf-8")
    else:
        name = {"weights": "model.safetensors", "tokenizer": "tokenizer.json"}[change]
        content = (chat / name).read_bytes()
        (chat / name).write_bytes(content)
        assert stored_outline("it", chat, CPU) is not None  # the time of a file says nothing
        (chat / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert stored_outline("it", chat, CPU) is None


def test_a_tokenizer_that_was_deleted_is_stored_again(chat: Path) -> None:
    keep(chat)
    (file,) = (cache_folder() / "tokenizers").iterdir()
    file.unlink()
    assert stored_outline("it", chat, CPU) is None
    keep(chat)
    assert stored_outline("it", chat, CPU) is not None


def test_other_ways_to_load_and_compute_are_not_known(
    chat: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(chat)
    assert stored_outline("it", chat, Loading(device="cpu", dtype="bfloat16")) is None
    assert stored_outline("it", load_model(chat, CPU), CPU) is None
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    assert stored_outline("it", chat, CPU) is None


def test_a_model_without_an_outline_is_scored(
    chat: Path, birds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_scoring, "flop_shape", refuse)
    monkeypatch.setattr(here, "keep_outline", refuse)
    assert evaluate(chat, birds, loading=CPU).results


def refuse(*_: object) -> NoReturn:
    raise AttributeError


def test_the_command_loads_no_torch(chat: Path, birds: Path) -> None:
    keep(chat)
    keep_speed(speed_key(load_model(chat, CPU)), 10**9, 1.0)
    command = ["evaluate", "--model", chat, "--data", birds, "--device", "cpu", "--dry-run"]
    (ran,) = run_apart(command, folder=chat.parent, missing=["torch"])
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("1 model on 1 dataset: ")
