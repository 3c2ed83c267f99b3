"""Digests that are found once: the same as those of the weights, and looked up by their files."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import torch

from nnd.metric.likelihood import Loading, Scoring, load_model, pin_version
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.likelihood.models.model_digests import tensors_digest, weights_digest
from nnd.metric.run import evaluate
from nnd.schemas import cache_folder

CPU = Loading(device="cpu")
PAIR = {"context": "Who wrote the book?", "candidate_high": "the cat", "candidate_low": "a dog"}


@pytest.fixture
def folder(saved: Callable[[str], Path], tmp_path: Path) -> Path:
    """A checkpoint of this test's own."""
    return Path(shutil.copytree(saved("gpt2"), tmp_path / "model"))


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The digests that were made of weights, and not looked up."""
    made: list[str] = []
    original = LoadedModel.base_digest

    def base_digest(loaded: LoadedModel) -> str:
        made.append(original(loaded))
        return made[-1]

    monkeypatch.setattr(LoadedModel, "base_digest", base_digest)
    return made


def remembered(folder: Path, loading: Loading = CPU) -> str:
    return pin_version(load_model(folder, loading), remember=True).version()


def edit(folder: Path) -> None:
    """Change the last byte of the weights, and nothing that a file system says of them."""
    file = folder / "model.safetensors"
    state = file.stat()
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))


def test_the_digest_is_the_same_whether_it_is_looked_up_or_made(
    folder: Path, hashed: list[str]
) -> None:
    fresh = load_model(folder, CPU)
    found = [remembered(folder) for _ in range(3)]
    assert found == [weights_digest(fresh.model)] * 3
    assert len(hashed) == 1


def test_each_precision_has_a_digest_of_its_own(folder: Path, hashed: list[str]) -> None:
    half = Loading(device="cpu", dtype="bfloat16")
    found = [remembered(folder, loading) for loading in (CPU, half, CPU, half)]
    assert found[:2] == found[2:] == hashed
    assert found[1] == weights_digest(load_model(folder, half).model) != found[0]


def test_the_time_of_a_file_says_nothing(folder: Path, hashed: list[str]) -> None:
    before = remembered(folder)
    os.utime(folder / "model.safetensors", ns=(1, 1))
    assert remembered(folder) == before
    assert len(hashed) == 1


def test_a_changed_byte_is_another_version(folder: Path) -> None:
    before = remembered(folder)
    edit(folder)
    assert remembered(folder) == load_model(folder, CPU).version() != before


@pytest.mark.parametrize(
    "damage",
    [b"", b"\x00\xff", b"[1]", b'{"KEY": 3}', b'{"KEY": "0"}', b'{"KEY": null}'],
)
def test_a_damaged_file_of_digests_is_ignored_and_replaced(
    folder: Path, hashed: list[str], damage: bytes
) -> None:
    before = remembered(folder)
    file = cache_folder() / "digests.json"
    whole = file.read_bytes()
    key = whole.split(b'"')[1]
    file.write_bytes(damage.replace(b"KEY", key))
    assert remembered(folder) == before
    assert len(hashed) == 2
    assert file.read_bytes() == whole


def test_a_model_that_was_trained_is_hashed_again(folder: Path, hashed: list[str]) -> None:
    loaded = load_model(folder, CPU)
    rows = [PAIR]
    before = evaluate(loaded, rows).results[0].version
    next(loaded.model.parameters()).data.mul_(2)
    after = evaluate(loaded, rows).results[0].version
    assert [before, after] == hashed
    assert after == weights_digest(loaded.model) != before


@pytest.mark.parametrize("cache", [True, False])
def test_one_model_on_several_datasets_is_hashed_once(
    folder: Path,
    hashed: list[str],
    cache: bool,  # noqa: FBT001
) -> None:
    data = [folder.with_name(f"{name}.parquet") for name in ("one", "other")]
    for file in data:
        pl.DataFrame([PAIR]).write_parquet(file)
    swept = evaluate(str(folder), data, loading=CPU, scoring=Scoring(cache=cache))
    versions = {found.results[0].version for found in swept.evaluations.values()}
    assert versions == {*hashed}
    assert len(hashed) == len(versions) == 1
    assert cache_folder().exists() == cache


def test_parts_and_ties_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tensor in many parts counts each of them; a tied one counts under each of its names."""
    monkeypatch.setattr("nnd.metric.likelihood.models.model_digests._PART_BYTES", 8)
    weights = torch.arange(12.0).reshape(3, 4)
    whole = tensors_digest({"a": weights, "b": weights})
    assert tensors_digest({"b": weights.clone(), "a": weights.clone()}) == whole
    assert tensors_digest({"a": weights.T.contiguous().T, "b": weights}) == whole
    for at in range(12):
        changed = weights.clone()
        changed.view(-1)[at] += 1
        assert tensors_digest({"a": weights, "b": changed}) != whole
    assert tensors_digest({"a": weights}) != whole
