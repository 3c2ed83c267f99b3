"""Estimates: as many tokens as a real run reads, without its weights, and nothing written."""

import itertools
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import polars as pl
import pytest
import torch
from support.refusals import refusal
from support.screens.commands import Nnd

from nnd.metric.likelihood import Loading, Scoring, load_model, load_skeleton
from nnd.metric.run import estimate, evaluate
from nnd.metric.run.cost import measured_speeds, probe
from nnd.metric.run.cost.measured_speeds import keep_speed, speed_key
from nnd.metric.run.cost.model_needs import Need
from nnd.schemas import cache_folder, read_facts

Saved = Callable[[str], Path]

CPU = Loading(device="cpu")
CONTEXTS = ("Who wrote the book about the river?", "What is the capital of France?")
CANDIDATES = ("The cat sat on the mat.", "Tesla was born in 1856.", "a dog", "Paris")


def rows(*contexts: str) -> list[dict[str, Any]]:
    """Every candidate with the next one as its worse one, for each context."""
    return [
        {"context": context, "candidate_high": high, "candidate_low": low}
        for context in contexts
        for high, low in itertools.pairwise(CANDIDATES)
    ]


def needs(model: Any, data: Any, scoring: Scoring = Scoring()) -> list[Need]:
    (found,) = estimate(model, data, scoring=scoring, loading=CPU).models
    return [*found.needs.values()]


@pytest.fixture
def bare(saved: Saved, tmp_path: Path) -> Callable[[str], Path]:
    """`bare(name)`: a checkpoint without the file of its weights."""

    def strip(name: str) -> Path:
        folder = tmp_path / name
        shutil.copytree(saved(name), folder)
        (folder / "model.safetensors").unlink()
        return folder

    return strip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["gpt2", "llama", "bart", "t5"])
@pytest.mark.parametrize("protocol", ["native", "pmi"])
def test_a_run_reads_as_many_tokens(
    saved: Saved, bare: Callable[[str], Path], name: str, protocol: str
) -> None:
    for unconditional in (True, False):
        scoring = Scoring(protocol, unconditional=unconditional)
        done = evaluate(saved(name), rows(*CONTEXTS), scoring=scoring, loading=CPU).results[0].work
        shutil.rmtree(cache_folder())
        (need,) = needs(bare(name) if unconditional else saved(name), rows(*CONTEXTS), scoring)
        assert (done.path, done.tokens) == ("packed", need.tokens)
        assert not cache_folder().exists()


def test_a_context_that_outgrows_the_budget_is_read_again(saved: Saved) -> None:
    whole, parts = (
        Scoring(unconditional=False, token_budget=budget, cache=False) for budget in (None, 24)
    )
    done = evaluate(saved("gpt2"), rows(*CONTEXTS), scoring=parts, loading=CPU).results[0].work
    (need,) = needs(saved("gpt2"), rows(*CONTEXTS), parts)
    assert done.tokens == need.tokens > needs(saved("gpt2"), rows(*CONTEXTS), whole)[0].tokens


def test_the_baseline_is_read_once_for_all_datasets(saved: Saved, tmp_path: Path) -> None:
    data = [tmp_path / f"{number}.parquet" for number in range(2)]
    for file, context in zip(data, CONTEXTS, strict=True):
        pl.DataFrame(rows(context)).write_parquet(file)
    one, other = needs(saved("gpt2"), data)
    assert one.baseline_tokens > 0 == other.baseline_tokens
    assert one.baseline_flops > 0 == other.baseline_flops
    swept = evaluate(saved("gpt2"), data, loading=CPU).evaluations.values()
    assert [each.results[0].work.tokens for each in swept] == [one.tokens, other.tokens]
    again = needs(saved("gpt2"), data, Scoring(cache=False))
    assert [each.baseline_tokens for each in again] == [one.baseline_tokens] * 2


def test_leaving_out_the_baseline_saves_what_it_says(saved: Saved) -> None:
    (with_it,) = needs(saved("bart"), rows(*CONTEXTS))
    (without,) = needs(saved("bart"), rows(*CONTEXTS), Scoring(unconditional=False))
    assert without.baseline_tokens == without.baseline_flops == 0
    assert with_it.tokens - with_it.baseline_tokens == without.tokens
    assert with_it.flops - with_it.baseline_flops == without.flops


def test_a_skeleton_is_the_model_without_its_weights(
    saved: Saved, bare: Callable[[str], Path]
) -> None:
    loading = Loading(device="cpu", dtype="bfloat16")
    whole, shape = load_model(saved("t5"), loading), load_skeleton(bare("t5"), loading)
    with refusal("model.damaged", "t5"):
        load_model(shape.name, loading)
    for fact in ("parameters", "weight_bytes", "dtype", "device", "decoder_window"):
        assert getattr(shape, fact) == getattr(whole, fact)
    assert all(weight.is_meta for weight in shape.model.parameters())


def test_the_time_is_that_of_an_earlier_run(saved: Saved) -> None:
    """A run of a model's second at 500 operations per second."""
    key = speed_key(load_skeleton(saved("gpt2"), CPU))
    keep_speed(key, 500, 0.19)  # too short to tell
    assert not estimate(saved("gpt2"), rows(*CONTEXTS), loading=CPU).models[0].is_measured
    keep_speed(key, 500, 1.0)
    after = estimate(saved("gpt2"), rows(*CONTEXTS), loading=CPU)
    (model,) = after.models
    (need,) = model.needs.values()
    assert (model.is_measured, model.operations_per_second) == (True, 500)
    assert need.seconds == need.flops / 500


def test_a_run_teaches_the_speed(saved: Saved, monkeypatch: pytest.MonkeyPatch) -> None:
    """However few its tokens are, if the model works long enough."""
    monkeypatch.setattr(measured_speeds, "ENOUGH_S", 0.0)
    for cache in (False, True):
        evaluate(saved("gpt2"), rows(*CONTEXTS), loading=CPU, scoring=Scoring(cache=cache))
        (model,) = estimate(saved("gpt2"), rows(*CONTEXTS), loading=CPU).models
        assert model.is_measured == cache
    (work,) = (
        each.work
        for each in evaluate(saved("gpt2"), rows("Where is the river?"), loading=CPU).results
    )
    (known,) = read_facts("operation_speeds.json").values()
    (need,) = needs(saved("gpt2"), rows("Where is the river?"))
    # The baseline of these candidates was read by the first run.
    assert known == pytest.approx((need.flops - need.baseline_flops) / work.seconds)


@pytest.mark.parametrize("name", ["gpt2", "mistral", "bart", "prophetnet"])
def test_what_no_run_has_measured_is_tried(saved: Saved, name: str) -> None:
    before = torch.get_rng_state()
    found = estimate(saved(name), rows(*CONTEXTS), loading=CPU)
    assert torch.equal(torch.get_rng_state(), before)
    (model,) = found.models
    (need,) = model.needs.values()
    assert model.operations_per_second is not None
    assert need.seconds == need.flops / model.operations_per_second
    assert "of memory, about " in found.headline()
    assert f"tiny-{name}: the time may be off by a third" in str(found)
    assert not cache_folder().exists()


def test_a_model_that_cannot_be_tried_has_no_time(
    saved: Saved, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> NoReturn:
        raise RuntimeError

    monkeypatch.setattr(probe, "_shallow", fail)
    found = estimate(saved("gpt2"), rows(*CONTEXTS), loading=CPU)
    assert found.models[0].operations_per_second is None
    assert "the time is unknown, because no run has been measured on this cpu" in str(found)


@pytest.mark.parametrize(
    "speed", ["-1.0", "0.0", "NaN", "Infinity", "1e999", '"fast"', "true", "{"]
)
def test_a_speed_that_cannot_be_one_is_not_believed(saved: Saved, speed: str) -> None:
    skeleton = load_skeleton(saved("gpt2"), CPU)
    keep_speed(speed_key(skeleton), 500, 40.0)
    file = cache_folder() / "operation_speeds.json"
    (key,) = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(f"{{{json.dumps(key)}: {speed}}}", encoding="utf-8")
    assert not estimate(saved("gpt2"), rows(*CONTEXTS), loading=CPU).models[0].is_measured


def test_several_models_are_a_table(saved: Saved) -> None:
    found = estimate([saved("gpt2"), saved("t5")], rows(CONTEXTS[0]), loading=CPU)
    needed = [need for each in found.models for need in each.needs.values()]
    tokens, saving = (
        sum(getattr(n, name) for n in needed) for name in ("tokens", "baseline_tokens")
    )
    assert found.headline().startswith(f"2 models on 1 dataset: {tokens:,} tokens, ")
    text = str(found)
    assert [name in text for name in ("tiny-gpt2", "tiny-t5", "all")] == [True] * 3
    assert f"it saves {saving:,} tokens" in found.remarks()[0]


def test_the_command_prints_it_and_writes_nothing(
    bare: Callable[[str], Path], nnd: Nnd, tmp_path: Path
) -> None:
    data, out = tmp_path / "tests.parquet", tmp_path / "run"
    pl.DataFrame(rows(*CONTEXTS)).write_parquet(data)
    asked = ["evaluate", "--model", bare("bart"), "--data", data, "--device", "cpu", "--dry-run"]
    done = nnd(*asked, "--out", out, "--json")
    assert done.code == 0
    told = json.loads(done.out)
    expected = estimate(tmp_path / "bart", data, loading=CPU).to_dict()
    for each in (*told["models"], *expected["models"]):
        assert each.pop("operations_per_second") > 0  # of two probes
        assert each["datasets"]["tests"].pop("seconds") > 0
    assert told == expected
    assert [out.exists(), cache_folder().exists()] == [False, False]
    nnd.refuses(*asked, "--vary", "protocol", code="option.conflict")
