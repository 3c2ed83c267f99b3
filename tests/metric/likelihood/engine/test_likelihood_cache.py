"""What earlier runs kept: a killed run's work is not lost, and nothing is taken for another's."""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch
from support.engine.cases import LONG
from support.engine.passes import watching
from support.engine.processes import BUDGET
from support.flat_options import gathered
from support.places import SUPPORT
from support.screens.commands import Nnd
from support.tiny_models import SENTENCES
from transformers import GPT2LMHeadModel

from nnd.metric.likelihood import Loading
from nnd.metric.likelihood.engine.likelihood_cache import LikelihoodCache, fingerprint
from nnd.metric.likelihood.engine.proof import Proof, score_alone
from nnd.metric.likelihood.engine.store import Store, default_store
from nnd.metric.likelihood.models.load_model import load_model
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.run import Evaluation, evaluate as evaluate_models
from nnd.metric.text.encoding.requests import Encoded
from nnd.schemas import ScoringWarning

Saved = Callable[[str], Path]

SCRIPT = SUPPORT / "engine" / "processes.py"

WORDS = " ".join(SENTENCES).split()
ROWS = [
    (f"{number} {LONG[: 10 + number % 60]}", " ".join(WORDS[number % 30 :][:5]), WORDS[number % 40])
    for number in range(150)
]
PAIRS = pl.DataFrame(ROWS, ["context", "candidate_high", "candidate_low"], orient="row")
FEW = PAIRS[:6]


def evaluate(model: Path | LoadedModel, pairs: pl.DataFrame = FEW, **options: Any) -> Evaluation:
    return evaluate_models(model, pairs, **gathered(token_budget=BUDGET, **options))


def stored(found: Evaluation) -> tuple[int, int]:
    """How many requests came from the store, and how many there were."""
    (result,) = found.results
    return result.work.stored, result.work.requests


def likelihoods(found: Evaluation) -> list[float]:
    return [value for row in found.scored.select("ll_high", "ll_low").rows() for value in row]


def assert_equal(found: Evaluation, undisturbed: Evaluation) -> None:
    assert likelihoods(found) == pytest.approx(likelihoods(undisturbed), abs=1e-6, rel=0)
    verdicts = ("pair_id", "tokens_high", "tokens_low", "truncated", "passed", "tie")
    assert found.scored.select(verdicts).equals(undisturbed.scored.select(verdicts))


# A second run


def test_a_second_run_computes_nothing_and_says_the_same(saved: Saved) -> None:
    loaded = load_model(saved("gpt2"), Loading(device="cpu"))
    passes: list[int] = []
    with watching(lambda: passes.append(1)):
        first = evaluate(loaded)
        assert passes
        made = len(passes)
        second = evaluate(loaded)
    assert len(passes) == made
    asked = {(context, text) for row in FEW.rows() for text in row[1:] for context in (row[0], "")}
    assert stored(first) == (0, len(asked))
    assert stored(second) == (stored(first)[1],) * 2
    (work,) = (result.work for result in second.results)
    assert (work.tokens, work.token_budget) == (0, 0)
    assert second.to_dict() == first.to_dict()
    assert second.scored.equals(first.scored)


def test_a_run_on_more_pairs_computes_the_others_only(saved: Saved) -> None:
    # With the baseline, a candidate that both parts have would be read once.
    score = partial(evaluate, saved("bart"), unconditional=False)
    score()
    found = score(PAIRS[:9])
    assert stored(found) == (12, 18)
    assert found.results[0].work.tokens == score(PAIRS[6:9], cache=False).results[0].work.tokens
    assert_equal(found, score(PAIRS[:9], cache=False))


def test_candidates_without_contexts_are_read_once_over_all_data(saved: Saved) -> None:
    evaluate(saved("gpt2"))
    found = evaluate(saved("gpt2"), FEW.with_columns(pl.col("context") + " again"))
    assert stored(found) == (12, 24)
    alone = found.scored.select("ll_alone_high", "ll_alone_low")
    fresh = evaluate(saved("gpt2"), cache=False).scored.select(alone.columns)
    assert alone.to_numpy() == pytest.approx(fresh.to_numpy(), abs=1e-6)


def test_a_model_loaded_anew_in_another_place_is_the_same(saved: Saved, tmp_path: Path) -> None:
    first = evaluate(saved("gpt2"))
    moved = evaluate(shutil.copytree(saved("gpt2"), tmp_path / "elsewhere"))
    assert stored(moved) == (24, 24)
    assert likelihoods(moved) == likelihoods(first)


def test_a_proof_is_made_once_for_all_runs(saved: Saved, monkeypatch: pytest.MonkeyPatch) -> None:
    """The requests of the second run are new, and no longer than those of the first."""
    alone: list[object] = []

    def watched(loaded: LoadedModel, row: Encoded) -> float:
        alone.append(row)
        return score_alone(loaded, row)

    monkeypatch.setattr("nnd.metric.likelihood.engine.proof.score_alone", watched)
    longest_first = PAIRS.sort(pl.col("context").str.len_chars(), descending=True)
    evaluate(saved("gpt2"), longest_first[:6])
    assert alone
    alone.clear()
    found = evaluate(saved("gpt2"), longest_first[-6:])
    assert stored(found)[0] == 0
    assert alone == []


def test_numbers_of_a_path_found_wrong_are_not_taken(saved: Saved) -> None:
    """What the store says of a path holds for the numbers that it stored before."""
    loaded = load_model(saved("gpt2"), Loading(device="cpu"))
    evaluate(loaded)
    with Store(default_store(), warn=pytest.fail) as store:
        kept = LikelihoodCache(store, fingerprint(loaded, loaded.version()), [])
        proof = kept.find_proof()
        assert proof is not None
        assert proof.path == "packed"
        kept.add({}, Proof("cached", 0.0, 0, switched_off=("packed: it leaks",)))
    found = evaluate(loaded)
    assert stored(found)[0] == 0
    assert found.results[0].work.path == "cached"
    assert found.results[0].work.switched_off == ("packed: it leaks",)


# What must not be taken


def reweigh(folder: Path) -> None:
    model = GPT2LMHeadModel.from_pretrained(folder)
    with torch.no_grad():
        for weight in model.transformer.ln_f.parameters():
            weight.add_(torch.linspace(0, 1, 32))
    model.save_pretrained(folder)


def reconfigure(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    config["layer_norm_epsilon"] *= 1e4
    (folder / "config.json").write_text(json.dumps(config))


def reorder(folder: Path) -> None:
    """Let the letters e and a, and all that has their ids, change places."""
    told = json.loads((folder / "tokenizer.json").read_text())
    vocab = told["model"]["vocab"]
    vocab["e"], vocab["Ġthe"] = vocab["Ġthe"], vocab["e"]
    (folder / "tokenizer.json").write_text(json.dumps(told))


@pytest.mark.parametrize("change", [reweigh, reconfigure, reorder])
def test_nothing_is_taken_from_another_model_in_the_same_folder(
    change: Callable[[Path], None], saved: Saved, tmp_path: Path
) -> None:
    folder = shutil.copytree(saved("gpt2"), tmp_path / "model")
    before = evaluate(folder)
    change(folder)
    after = evaluate(folder)
    fresh = evaluate(folder, cache=False)
    assert_equal(after, fresh)
    assert likelihoods(after) != pytest.approx(likelihoods(before), abs=1e-3)
    if change is not reorder:  # some texts have neither of the two tokens
        assert stored(after)[0] == 0


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("options", "taken"),
    [
        ({"dtype": "bfloat16"}, 0),
        ({"protocol": "laban2022"}, 0),
        ({"template": "Read: {context}"}, 12),  # the candidates without contexts
        ({"protocol": "sum"}, 24),  # the same sums, divided by something else
        ({"protocol": "bytes"}, 24),
        ({"keep": "beginning"}, 24),  # nothing is cut
    ],
)
def test_what_is_taken_is_what_would_be_computed(
    options: dict[str, Any], taken: int, saved: Saved
) -> None:
    before = evaluate(saved("gpt2"))
    after = evaluate(saved("gpt2"), **options)
    assert stored(after) == (taken, 24)
    assert_equal(after, evaluate(saved("gpt2"), cache=False, **options))
    if "keep" not in options:
        assert likelihoods(after) != pytest.approx(likelihoods(before), abs=1e-3)


def test_a_model_that_is_trained_between_two_runs_is_another(saved: Saved) -> None:
    loaded = load_model(saved("gpt2"), Loading(device="cpu"))
    evaluate(loaded)
    with torch.no_grad():
        for weight in loaded.model.get_input_embeddings().parameters():
            weight.mul_(1.01)
    after = evaluate(loaded)
    assert stored(after)[0] == 0
    assert_equal(after, evaluate(loaded, cache=False))


def test_one_commit_in_two_precisions_is_two_models(saved: Saved) -> None:
    """Weights from the Hub go by their commit, which says nothing of the precision."""
    whole, half = (
        replace(load_model(saved("gpt2"), Loading(dtype=dtype, device="cpu")), commit="0" * 40)
        for dtype in ("float32", "bfloat16")
    )
    evaluate(whole)
    after = evaluate(half)
    assert stored(after)[0] == 0
    assert_equal(after, evaluate(half, cache=False))


# Without a store, and with a bad one


def test_without_cache_nothing_is_read_and_nothing_written(saved: Saved) -> None:
    evaluate(saved("gpt2"), cache=False)
    assert not default_store().parent.exists()
    evaluate(saved("gpt2"))
    filled = default_store().read_bytes()
    again = evaluate(saved("gpt2"), cache=False)
    assert stored(again) == (0, 24)
    assert default_store().read_bytes() == filled


@pytest.fixture
def command(nnd: Nnd, saved: Saved, pairs: Path) -> Callable[..., tuple[str, str]]:
    """`command("--no-cache")`: `nnd evaluate --json`; what it says on both outputs."""

    def run(*options: str) -> tuple[str, str]:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            ran = nnd("evaluate", "--model", saved("gpt2"), "--data", pairs, "--json", *options)
        assert ran.code == 0
        return ran.out, ran.err

    return run


def test_the_command_takes_what_is_kept_or_does_without(
    command: Callable[..., tuple[str, str]],
) -> None:
    fresh, _ = command("--no-cache")
    assert not default_store().parent.exists()
    kept, _ = command()
    assert default_store().is_file()
    again, _ = command()
    assert json.loads(fresh) == json.loads(kept) == json.loads(again)


def test_a_damaged_store_costs_one_line_and_the_numbers_nothing(
    command: Callable[..., tuple[str, str]],
) -> None:
    fresh, quiet = command()
    default_store().write_bytes(b"no database" * 1_000)
    found, said = command()
    assert json.loads(found) == json.loads(fresh)
    told = [line for line in said.splitlines() if line not in quiet.splitlines()]
    assert len(told) == 1
    assert told[0].startswith(f"nnd: {default_store()}: ")
    assert "damaged" in told[0]
    (aside,) = default_store().parent.glob("*.corrupt-*")
    assert aside.read_bytes() == b"no database" * 1_000
    again, said = command()
    assert (json.loads(again), said) == (json.loads(fresh), quiet)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "proof",
    [
        "I am a diary",
        "[]",
        "{}",
        '{"path": "packed", "deviation": 0}',
        json.dumps(asdict(Proof("packed", 0.0, 1)) | {"path": 7}),
        json.dumps(asdict(Proof("packed", 0.0, 1)) | {"more": 7}),
        json.dumps(asdict(Proof("packed", 0.0, 1)) | {"deviation": -1}),
    ],
)
def test_a_proof_that_is_none_is_a_damaged_store(saved: Saved, proof: str) -> None:
    loaded = load_model(saved("gpt2"), Loading(device="cpu"))
    first = evaluate(loaded)
    with Store(default_store(), warn=pytest.fail) as store:
        store.put_proof(fingerprint(loaded, loaded.version()), proof)

    with pytest.warns(ScoringWarning, match="damaged"):
        second = evaluate(loaded)

    assert stored(second) == (0, stored(first)[1])
    assert_equal(second, first)


def test_a_store_in_no_folder_is_one_warning(
    saved: Saved, tmp_path: Path, monkeypatch: Any
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NND_CACHE", str(tmp_path / "file" / "folder"))
    with pytest.warns(ScoringWarning, match="cannot be used") as warned:
        found = evaluate(saved("gpt2"))
    assert len(warned) == 1
    assert_equal(found, evaluate(saved("gpt2"), cache=False))


# Processes


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    PAIRS.write_parquet(tmp_path / "pairs.parquet")
    return tmp_path / "pairs.parquet"


def process(what: str, model: Path, pairs: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, SCRIPT, what, model, pairs],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


def kept_before_each_pass(loaded: LoadedModel) -> list[int]:
    """How many likelihoods an undisturbed run has kept when each of its forward passes begins."""
    found: list[int] = []

    def look() -> None:
        with closing(sqlite3.connect(default_store())) as database:
            found.extend(database.execute("SELECT count(*) FROM likelihoods").fetchone())

    with watching(look):
        evaluate(loaded, PAIRS)
    return found


def kill_in_pass(number: int, seconds: float, model: Path, pairs: Path) -> int:
    """Kill an evaluation so long after a forward pass began; return how many had begun by then."""
    with process("tell", model, pairs) as running:
        assert running.stdout is not None
        begun = [running.stdout.readline() for _ in range(number)]
        time.sleep(seconds)
        running.kill()
        begun += running.stdout.readlines()
    assert running.returncode == -signal.SIGKILL
    assert set(begun) == {"forward\n"}
    return len(begun)


@pytest.mark.full
def test_what_was_computed_outlasts_a_kill(
    saved: Saved, pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = load_model(saved("gpt2"), Loading(device="cpu"))
    undisturbed, kept = evaluate(loaded, PAIRS, cache=False), kept_before_each_pass(loaded)
    kept += [stored(undisturbed)[1]] * 2
    assert len(set(kept)) > 50  # many batches: most moments are in the middle
    chance = random.Random()
    for number in range(20):
        monkeypatch.setenv("NND_CACHE", str(tmp_path / str(number)))
        # Not in the last ones: they are over before the signal arrives.
        first = chance.randrange(1, len(kept) * 2 // 3)
        begun = kill_in_pass(first, chance.uniform(0, 0.01), saved("gpt2"), pairs)
        found = evaluate(loaded, PAIRS)
        # All of the batches before the last begun one, and that one too if it was just finished.
        assert kept[begun - 1] <= stored(found)[0] <= kept[begun]
        assert found.scored.equals(undisturbed.scored)  # to the bit
        assert stored(evaluate(loaded, PAIRS))[0] == kept[-1]


@pytest.mark.full
def test_two_processes_at_once(saved: Saved, pairs: Path) -> None:
    both = [process("together", saved("gpt2"), pairs) for _ in range(2)]
    assert [one.stdout.readline() for one in both if one.stdout] == ["ready\n"] * 2
    for one in both:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()
    said = [one.communicate() for one in both]
    assert [one.returncode for one in both] == [0, 0], said
    assert [err for _, err in said] == ["", ""]
    found = evaluate(saved("gpt2"), PAIRS)
    assert stored(found)[0] == stored(found)[1]
    for out, _ in said:
        values = [value for row in json.loads(out) for value in row]
        assert values == pytest.approx(likelihoods(found), abs=1e-6, rel=0)
