"""The tokenizer of a model: beside the weights, or in a subfolder."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support.hub.asking import Ask
from support.hub.server import Hub

from nnd.metric.likelihood import Loading, tokenizer_digest
from nnd.metric.likelihood.engine.engine import Engine
from nnd.metric.likelihood.models.load_model import load_model

Saved = Callable[[str], Path]
CPU = Loading(device="cpu")
REQUESTS = [("Who wrote the book?", "the cat"), ("the river", "a dog in London")]
FILES = ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja")


@pytest.fixture
def folder(saved: Saved, tmp_path: Path) -> Callable[[str], Path]:
    """`folder("gpt2")`: a saved family of this test's own."""

    def copied(name: str) -> Path:
        return Path(shutil.copytree(saved(name), tmp_path / name))

    return copied


def moved(folder: Path) -> Path:
    """A model whose tokenizer is in a subfolder, as those of QGEval2024 on the Hub."""
    (folder / "tokenizer").mkdir()
    for name in FILES:
        if (folder / name).is_file():
            (folder / name).rename(folder / "tokenizer" / name)
    return folder


@pytest.mark.parametrize("name", ["gpt2", "bart", "t5", "llama"])
def test_a_tokenizer_in_a_subfolder_is_found(
    name: str, folder: Callable[[str], Path], saved: Saved
) -> None:
    loaded, whole = (load_model(each, CPU) for each in (moved(folder(name)), saved(name)))
    assert type(loaded.tokenizer) is type(whole.tokenizer)
    assert tokenizer_digest(loaded.tokenizer) == tokenizer_digest(whole.tokenizer)
    assert Engine(loaded)(REQUESTS).log_likelihood.tolist() == (
        Engine(whole)(REQUESTS).log_likelihood.tolist()
    )


def test_a_tokenizer_in_a_subfolder_on_the_hub_is_found(
    folder: Callable[[str], Path], saved: Saved, hub: Hub, ask: Ask
) -> None:
    mine = moved(folder("bart"))
    files = {
        str(path.relative_to(mine)): path.read_bytes() for path in mine.rglob("*") if path.is_file()
    }
    hub.commit("models", "org/below", files)
    ids = ask("load('nnd.metric.likelihood').load_tokenizer('org/below').encode('The cat sat.')")
    assert ids == load_model(saved("bart"), CPU).tokenizer.encode("The cat sat.")


def test_a_tokenizer_beside_the_weights_comes_first(folder: Callable[[str], Path]) -> None:
    mine = folder("gpt2")
    (mine / "tokenizer").mkdir()
    (mine / "tokenizer" / "tokenizer_config.json").write_text("{")
    load_model(mine, CPU)
