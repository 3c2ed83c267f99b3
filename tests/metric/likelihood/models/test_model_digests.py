"""Digests of tokenizers and configs: the same wherever they come from, other after a change."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.tiny_models import Family
from transformers import AutoTokenizer

from nnd.metric.likelihood.models.model_digests import config_digest, tokenizer_digest

Tiny = Callable[[str], Family]


def as_loaded(tokenizer: Any, folder: Path) -> Any:
    tokenizer.save_pretrained(folder)
    return type(tokenizer).from_pretrained(folder)


@pytest.mark.parametrize("name", ["gpt2", "llama", "t5", "marian", "prophetnet"])
def test_a_tokenizer_is_the_same_wherever_it_comes_from(
    name: str, tiny: Tiny, tmp_path: Path
) -> None:
    tokenizer = copy.deepcopy(tiny(name).tokenizer)
    found = [tokenizer_digest(as_loaded(tokenizer, tmp_path / place)) for place in "ab"]
    assert found[0] == found[1]


def test_how_a_tokenizer_was_last_called_does_not_matter(tiny: Tiny) -> None:
    tokenizer = copy.deepcopy(tiny("gpt2").tokenizer)
    before = tokenizer_digest(tokenizer)
    tokenizer.pad_token = tokenizer.eos_token
    padded = tokenizer_digest(tokenizer)
    tokenizer("the cat", padding="max_length", truncation=True, max_length=40)
    assert tokenizer_digest(tokenizer) == padded != before  # a special token more is a change


def test_each_part_of_a_fast_tokenizer_counts(tiny: Tiny, tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    tiny("llama").tokenizer.save_pretrained(saved)
    before = AutoTokenizer.from_pretrained(saved)
    shorter = AutoTokenizer.from_pretrained(saved, model_max_length=40)
    ended = AutoTokenizer.from_pretrained(saved, add_eos_token=True)
    found = {tokenizer_digest(each) for each in (before, shorter, ended, tiny("gpt2").tokenizer)}
    assert len(found) == 4


def test_the_files_of_a_slow_tokenizer_count(tiny: Tiny, tmp_path: Path) -> None:
    marian = tiny("marian").tokenizer
    assert not marian.is_fast
    marian.save_pretrained(tmp_path)
    before = tokenizer_digest(type(marian).from_pretrained(tmp_path))
    (tmp_path / "target.spm").write_bytes((tmp_path / "source.spm").read_bytes())
    assert tokenizer_digest(type(marian).from_pretrained(tmp_path)) != before


def test_a_config_is_the_same_from_memory_and_from_files(tiny: Tiny, tmp_path: Path) -> None:
    model = copy.deepcopy(tiny("llama").model)
    before = config_digest(model.config)
    model.save_pretrained(tmp_path)
    again = type(model).from_pretrained(tmp_path)
    assert config_digest(again.config) == before
    again.config.rms_norm_eps *= 10
    assert config_digest(again.config) != before


def test_precision_is_not_a_part_of_it(tiny: Tiny) -> None:
    model = tiny("gpt2").model
    assert config_digest(copy.deepcopy(model).bfloat16().config) == config_digest(model.config)
