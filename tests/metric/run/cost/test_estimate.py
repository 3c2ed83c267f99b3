"""Estimates: as many tokens as a real run reads, without its weights, and nothing written."""

import itertools
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.refusals import check_refusal, refusal
from typer.testing import CliRunner

from nnd.metric.cli.command import app
from nnd.metric.likelihood import Loading, Scoring, load_model, load_skeleton
from nnd.metric.run import estimate, evaluate
from nnd.metric.run.cost.measured_speeds import keep_speed
from nnd.metric.run.cost.model_needs import Need
from nnd.schemas import NNDError, cache_folder

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


def test_the_time_is_that_of_an_earlier_run(saved: Saved, monkeypatch: pytest.MonkeyPatch) -> None:
    before = estimate(saved("gpt2"), rows(*CONTEXTS), loading=CPU)
    assert before.models[0].tokens_per_second is None
    assert "no run of 20,000 tokens or more has been measured on this cpu" in str(before)
    evaluate(saved("gpt2"), rows(*CONTEXTS), loading=CPU)  # too few tokens to tell
    assert estimate(saved("gpt2"), rows(*CONTEXTS), loading=CPU) == before
    keep_speed(load_skeleton(saved("gpt2"), CPU), 20_000, 40.0)
    after = estimate(saved("gpt2"), rows(*CONTEXTS), loading=CPU)
    (model,) = after.models
    (need,) = model.needs.values()
    assert need.seconds == need.tokens / 500
    assert after.headline().endswith("of memory, about 0 s.")
    monkeypatch.setattr("nnd.metric.run.cost.measured_speeds.ENOUGH", 1)
    shutil.rmtree(cache_folder())
    evaluate(saved("gpt2"), rows(*CONTEXTS), loading=CPU, scoring=Scoring(cache=False))
    assert estimate(saved("gpt2"), rows(*CONTEXTS), loading=CPU) == before
    evaluate(saved("gpt2"), rows(*CONTEXTS), loading=CPU)
    assert estimate(saved("gpt2"), rows(*CONTEXTS), loading=CPU) != before


@pytest.mark.parametrize(
    "speed", ["-1.0", "0.0", "NaN", "Infinity", "1e999", '"fast"', "true", "{"]
)
def test_a_speed_that_cannot_be_one_is_not_believed(saved: Saved, speed: str) -> None:
    skeleton = load_skeleton(saved("gpt2"), CPU)
    keep_speed(skeleton, 20_000, 40.0)
    file = cache_folder() / "speeds.json"
    (key,) = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(f"{{{json.dumps(key)}: {speed}}}", encoding="utf-8")
    assert estimate(saved("gpt2"), rows(*CONTEXTS), loading=CPU).models[0].tokens_per_second is None


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
    bare: Callable[[str], Path], tmp_path: Path
) -> None:
    data, out = tmp_path / "tests.parquet", tmp_path / "run"
    pl.DataFrame(rows(*CONTEXTS)).write_parquet(data)
    options = [
        "evaluate",
        "--model",
        str(bare("bart")),
        "--data",
        str(data),
        "--device",
        "cpu",
        "--dry-run",
    ]
    done = CliRunner().invoke(app, [*options, "--out", str(out), "--json"])
    assert done.exit_code == 0
    expected = estimate(tmp_path / "bart", data, loading=CPU)
    assert json.loads(done.stdout) == expected.to_dict()
    assert [out.exists(), cache_folder().exists()] == [False, False]
    refused = CliRunner().invoke(app, [*options, "--vary", "protocol"])
    assert isinstance(refused.exception, NNDError)
    check_refusal(refused.exception, "option.conflict")
