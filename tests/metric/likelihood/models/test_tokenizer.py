"""The tokenizer of a model: beside the weights, or in a subfolder."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nnd.metric.likelihood import Loading, tokenizer_digest
from nnd.metric.likelihood.engine.engine import Engine
from nnd.metric.likelihood.models.load_model import load_model

CPU = Loading(device="cpu")
REQUESTS = [("Who wrote the book?", "the cat"), ("the river", "a dog in London")]


@pytest.mark.parametrize("name", ["gpt2", "bart", "t5", "llama"])
def test_a_tokenizer_in_a_subfolder_is_found(
    name: str, below: Callable[[str], Path], saved: Callable[[str], Path]
) -> None:
    loaded, whole = (load_model(each, CPU) for each in (below(name), saved(name)))
    assert type(loaded.tokenizer) is type(whole.tokenizer)
    assert tokenizer_digest(loaded.tokenizer) == tokenizer_digest(whole.tokenizer)
    assert Engine(loaded)(REQUESTS).log_likelihood.tolist() == (
        Engine(whole)(REQUESTS).log_likelihood.tolist()
    )


def test_a_tokenizer_beside_the_weights_comes_first(folder: Callable[[str], Path]) -> None:
    mine = folder("gpt2")
    (mine / "tokenizer").mkdir()
    (mine / "tokenizer" / "tokenizer_config.json").write_text("{")
    load_model(mine, CPU)
