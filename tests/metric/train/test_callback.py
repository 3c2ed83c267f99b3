"""Watching training: what is found is right and kept, and the training does not notice."""

# ruff: noqa: ARG002 - transformers says what callbacks are given
# ruff: noqa: NPY002 - and seeds numpy's global state

import contextlib
import copy
import hashlib
import io
import json
import math
import os
import random
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import peft
import polars as pl
import pytest
import torch
from support.places import SUPPORT
from support.refusals import refusal
from support.training import histories
from support.training.examples import Family
from support.training.runs import bits, make_trainer, sample_pairs
from transformers import EarlyStoppingCallback, Trainer, TrainerCallback

from nnd.metric.data.pairs import load_pairs
from nnd.metric.data.subset import choose_contexts
from nnd.metric.likelihood import wrap_model
from nnd.metric.likelihood.engine.engine import Engine
from nnd.metric.likelihood.models.load_model import load_model
from nnd.metric.run import evaluate
from nnd.metric.train.callback import NNDCallback
from nnd.metric.train.history import HISTORY, HistoryEntry, log_of, read_history
from nnd.metric.train.isolation import undisturbed
from nnd.schemas import ScoringWarning

FULL = bool(os.environ.get("NND_TEST_FULL"))


class Recorder(TrainerCallback):
    """Stands where TensorBoard's or W&B's callback stands."""

    def __init__(self) -> None:
        self.logs: list[tuple[int, dict[str, Any]]] = []

    def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.logs.append((state.global_step, dict(kwargs["logs"])))


def watch(trainer: Trainer, **options: Any) -> NNDCallback:
    watcher = NNDCallback(trainer, sample_pairs(), **{"every": 2, "contexts": 5} | options)
    trainer.add_callback(watcher)
    return watcher


def train(family: Family, folder: Path, *, watched: dict[str, Any] | None, **how: Any) -> Trainer:
    """Make a trainer, which seeds everything, and let it train, watched or not."""
    trainer = make_trainer(family, folder, **how)
    if watched is not None:
        watch(trainer, **watched)
    trainer.train()
    return trainer


class Counting(Trainer):
    """Logs what it has counted since it last logged, as TRL's do."""

    counted = 0

    def training_step(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        self.counted += 1
        return super().training_step(*args, **kwargs)

    def log(self, logs: dict[str, float], *args: Any) -> None:
        super().log({**logs, "counted": self.counted}, *args)
        self.counted = 0


class Finished(NamedTuple):
    """A training of 6 steps that was watched at every second one, and what it said."""

    trainer: Trainer
    watcher: NNDCallback
    recorder: Recorder
    said: str


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    trainer = make_trainer("gpt2", tmp_path_factory.mktemp("finished"), trainer=Counting)
    recorder, said = Recorder(), io.StringIO()
    trainer.add_callback(recorder)
    watcher = watch(trainer, contexts=None)
    with contextlib.redirect_stderr(said):
        trainer.train()
    return Finished(trainer, watcher, recorder, said.getvalue())


def rates(entries: list[HistoryEntry]) -> list[tuple[int, float | None]]:
    return [(entry.step, entry.overall.pass_rate) for entry in entries]


# The training does not notice


@pytest.mark.full
def test_200_steps_of_a_bart_end_in_the_same_weights_and_the_curve_rises(tmp_path: Path) -> None:
    how: dict[str, Any] = {"max_steps": 200, "learning_rate": 1e-4}
    plain = train("bart", tmp_path / "plain", watched=None, **how)
    often = {"every": 20, "contexts": None}
    watched = train("bart", tmp_path / "watched", watched=often, **how)
    assert bits(watched.model) == bits(plain.model)
    assert bits(watched.model) != bits(make_trainer("bart", tmp_path, **how).model)
    found = read_history(tmp_path / "watched" / HISTORY)
    assert [entry.step for entry in found] == list(range(0, 201, 20))
    first, last = found[0].overall, found[-1].overall
    assert first.interval is not None
    assert last.interval is not None
    assert first.pass_rate is not None
    assert last.pass_rate is not None
    assert first.interval[1] < last.pass_rate
    assert first.pass_rate < last.interval[0]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("family", "how"),
    [
        ("bart", {"gradient_accumulation_steps": 2}),
        ("bart", {"bf16": True}),
        ("gpt2", {}),
        ("gpt2", {"gradient_accumulation_steps": 2, "activation_checkpointing": True}),
    ],
    ids=["bart, accumulating", "bart, mixed precision", "gpt2", "gpt2, accumulating, checkpointed"],
)
def test_the_weights_and_losses_are_those_of_training_unwatched(
    family: Family, how: dict[str, Any], tmp_path: Path
) -> None:
    plain = train(family, tmp_path / "plain", watched=None, **how)
    watched = train(family, tmp_path / "watched", watched={}, **how)
    assert bits(watched.model) == bits(plain.model)
    losses = [
        [(log["step"], log["loss"]) for log in trainer.state.log_history if "loss" in log]
        for trainer in (plain, watched)
    ]
    assert losses[0] == losses[1]
    assert [step for step, _ in losses[0]] == [4]  # a step at which both log


def test_an_adapter_is_watched_as_its_training_makes_it(tmp_path: Path) -> None:
    def adapted(model: Any, **how: Any) -> Trainer:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(1)
            config = peft.LoraConfig(task_type="CAUSAL_LM", target_modules=["c_attn"])
            wrapped = peft.get_peft_model(model, config)
        return Trainer(model=wrapped, **how)

    plain = train("gpt2", tmp_path / "plain", watched=None, trainer=adapted, learning_rate=1.0)
    watched = train("gpt2", tmp_path / "watched", watched={}, trainer=adapted, learning_rate=1.0)
    assert bits(watched.model) == bits(plain.model)
    first, *_, last = read_history(tmp_path / "watched" / HISTORY)
    loaded = wrap_model(watched.model, watched.processing_class)
    found = evaluate(loaded, choose_contexts(load_pairs(sample_pairs()), 5)).results[0]
    assert last.overall.pass_rate == found.rates.overall.pass_rate != first.overall.pass_rate
    assert "|model:GPT2LMHeadModel+default@6|" in last.signature


def test_everything_is_given_back_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = make_trainer("bart", tmp_path)
    model: Any = trainer.model
    watcher = watch(trainer)
    model.train()
    model.model.encoder.eval()  # a frozen part stays as its owner wants it
    for weights in model.model.shared.parameters():
        weights.grad = torch.ones_like(weights)
    tokenizer: Any = trainer.processing_class
    tokenizer("the", truncation=True, max_length=4, padding="max_length")
    trainer.state.is_world_process_zero = True
    torch.manual_seed(3)
    before = everything(model, tokenizer)
    monkeypatch.setattr(Engine, "__call__", drawing(Engine.__call__))
    watcher.on_train_begin(trainer.args, trainer.state, trainer.control)
    assert everything(model, tokenizer) == before
    assert len(read_history(watcher.history)) == 1
    assert not any(tensor.is_inference() for tensor in model.state_dict().values())


def drawing(call: Any) -> Any:
    """No engine draws random numbers, but a model's own code may."""

    def draw_and_call(self: Engine, requests: Any) -> Any:
        torch.rand(3)
        np.random.rand(3)
        random.random()
        return call(self, requests)

    return draw_and_call


def everything(model: Any, tokenizer: Any) -> list[Any]:
    """Whatever scoring might leave changed, in a form that can be compared."""
    return [
        bits(model),
        [
            (name, sorted(module.__dict__), module.training)
            for name, module in model.named_modules()
        ],
        [None if each.grad is None else each.grad.tolist() for each in model.parameters()],
        [(each.requires_grad, each.dtype, each.data_ptr()) for each in model.parameters()],
        sorted((name, repr(value)) for name, value in vars(model.config).items()),
        [len(module._forward_hooks) for module in model.modules()],
        torch.get_rng_state().tolist(),
        random.getstate(),
        repr(np.random.get_state()),
        (tokenizer.backend_tokenizer.truncation, tokenizer.backend_tokenizer.padding),
        tokenizer.backend_tokenizer.encode_special_tokens,
        (torch.is_grad_enabled(), torch.get_default_dtype(), torch.is_autocast_enabled("cpu")),
    ]


def test_a_scoring_that_draws_random_numbers_does_not_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = train("bart", tmp_path / "plain", watched=None)
    monkeypatch.setattr(Engine, "__call__", drawing(Engine.__call__))
    watched = train("bart", tmp_path / "watched", watched={})
    assert bits(watched.model) == bits(plain.model)


@pytest.mark.slow
@pytest.mark.skipif(not FULL, reason="two processes that train take a while: NND_TEST_FULL=1")
def test_of_several_processes_the_first_scores_and_the_weights_stay_the_same(
    tmp_path: Path,
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    common = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2"}
    processes = [
        subprocess.Popen(
            [sys.executable, SUPPORT / "training" / "process.py", tmp_path],
            env=os.environ
            | common
            | {"RANK": rank, "LOCAL_RANK": rank, "PYTHONPATH": str(SUPPORT.parent)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in ("0", "1")
    ]
    told = [process.communicate(timeout=300)[0].splitlines() for process in processes]
    weights = [line for lines in told for line in lines if line.startswith("weights")]
    assert len(weights) == 4
    assert len(set(weights)) == 1
    assert [lines[-1] for lines in told] == ["scorings 4", "scorings 0"]
    assert [entry.step for entry in read_history(tmp_path / "True" / HISTORY)] == [0, 2, 4, 6]


# What is found is right


def test_with_mixed_precision_the_model_computes_in_the_precision_of_its_weights(
    tmp_path: Path,
) -> None:
    model: Any = train("gpt2", tmp_path, watched=None, bf16=True).model.eval()
    same = type(model)(model.config).eval()
    same.load_state_dict(model.state_dict())
    ids = torch.tensor([[5, 6, 7]])
    with torch.no_grad():
        expected = same(ids).logits
        with undisturbed(model):
            found = model(ids).logits
        assert torch.equal(found, expected)
        assert not torch.equal(model(ids).logits, expected)  # accelerate's is in place again


@pytest.mark.parametrize("how", [{}, {"bf16": True}], ids=["float32", "mixed precision"])
def test_the_numbers_are_those_of_evaluating_the_checkpoint(
    how: dict[str, Any], tmp_path: Path
) -> None:
    trainer = make_trainer("bart", tmp_path / "run", **how)
    watcher = watch(trainer, contexts=None)
    trainer.train()
    trainer.save_model(str(tmp_path / "model"))
    (result,) = evaluate(tmp_path / "model", sample_pairs()).results
    last = read_history(watcher.history)[-1]
    overall = result.rates.overall
    assert (last.overall.pass_rate, last.overall.n) == (overall.pass_rate, overall.n)
    assert last.overall.interval == overall.interval
    found = {category: (each.pass_rate, each.n) for category, each in last.by.items()}
    by = result.rates.by["error_category"]
    assert found == {category: (each.pass_rate, each.n) for category, each in by.items()}
    loaded = load_model(tmp_path / "model")
    assert loaded.dtype == "float32"
    parts = [part for part in result.signature.split("|") if not part.startswith("model:")]
    assert last.recipe == "|".join(parts)
    assert "|model:BartForConditionalGeneration@6|" in last.signature


def test_whatever_the_trainer_logs_to_gets_it(finished: Finished) -> None:
    logged = [(step, logs) for step, logs in finished.recorder.logs if "nnd/pass_rate" in logs]
    found = read_history(finished.watcher.history)
    assert [step for step, _ in logged] == [entry.step for entry in found] == [0, 2, 4, 6]
    for (_, logs), entry in zip(logged, found, strict=True):
        own = {name: value for name, value in logs.items() if name.startswith("nnd/")}
        share = entry.seconds / (entry.seconds + entry.training_seconds)
        assert own == {
            "nnd/pass_rate": entry.overall.pass_rate,
            **{f"nnd/{category}": rate.pass_rate for category, rate in entry.by.items()},
            "nnd/seconds": entry.seconds,
            "nnd/share_of_time": share,
        }
    history = finished.trainer.state.log_history
    assert [log["step"] for log in history if "nnd/pass_rate" in log] == [0, 2, 4, 6]


def test_a_category_called_like_a_number_of_ours_does_not_take_its_place() -> None:
    odd = histories.entry(4, 0.5, pass_rate=0.1, seconds=0.2, share_of_time=0.3, rude=0.4)
    assert log_of(odd) == {
        'nnd/"pass_rate"': 0.1,
        'nnd/"seconds"': 0.2,
        'nnd/"share_of_time"': 0.3,
        "nnd/pass_rate": 0.5,
        "nnd/rude": 0.4,
        "nnd/seconds": 1.0,
        "nnd/share_of_time": 0.25,  # 1 s of 4 s
    }


def test_a_model_that_is_made_when_training_begins_is_the_one_that_is_scored(
    tmp_path: Path,
) -> None:
    model = make_trainer("gpt2", tmp_path).model

    def make(**arguments: Any) -> Trainer:
        del arguments["model"]
        return Trainer(model_init=lambda: copy.deepcopy(model), **arguments)

    watchers = []
    for name, how in (("given", Trainer), ("made", make)):
        trainer = make_trainer("gpt2", tmp_path / name, trainer=how)
        watchers.append(watch(trainer, contexts=None))
        trainer.train()
    given, made = (rates(read_history(each.history)) for each in watchers)
    assert given[0][1] != given[-1][1]
    assert made == given
    trainer.train()  # a search for hyperparameters trains again and again
    assert rates(read_history(watchers[1].history)) == given


def test_numbers_that_a_trainer_adds_to_its_losses_stay_with_them(finished: Finished) -> None:
    history = finished.trainer.state.log_history
    assert [(log["step"], log["counted"]) for log in history if "counted" in log] == [
        *((4, 4), (6, 2))
    ]


def test_a_fixed_set_of_whole_contexts_is_scored() -> None:
    whole = load_pairs(sample_pairs())
    few = choose_contexts(whole, 5)
    keys = whole.pairs.select("split", "context_id").unique().rows()
    digests = {key: hashlib.sha256(f"{key[0]}\0{key[1]}".encode()).hexdigest() for key in keys}
    chosen = sorted(keys, key=digests.__getitem__)[:5]
    expected = [
        row["pair_id"]
        for row in whole.pairs.iter_rows(named=True)
        if (row["split"], row["context_id"]) in chosen
    ]
    assert few.pairs["pair_id"].to_list() == expected
    shuffled = load_pairs(sample_pairs().sample(fraction=1, shuffle=True, seed=4))
    again = choose_contexts(shuffled, 5)
    assert again.version == few.version != whole.version
    assert set(again.pairs["pair_id"]) == set(expected)
    assert set(choose_contexts(whole, 6).pairs["pair_id"]) > set(expected)
    assert choose_contexts(whole, 14) is whole


def test_contexts_without_a_split_are_chosen_too() -> None:
    pairs = load_pairs(sample_pairs().with_columns(split=pl.lit(None, pl.String)))
    assert choose_contexts(pairs, 3).pairs["context_id"].n_unique() == 3


# Steps


@pytest.mark.parametrize(
    ("steps", "every", "scored"),
    [(5, 2, [0, 2, 4, 5]), (2, 500, [0, 2])],
)
def test_the_start_and_the_end_are_scored_too(
    steps: int, every: int, scored: list[int], tmp_path: Path
) -> None:
    trainer = make_trainer("gpt2", tmp_path, max_steps=steps)
    watcher = watch(trainer, every=every)
    trainer.train()
    assert [entry.step for entry in read_history(watcher.history)] == scored


def test_an_end_that_another_callback_decides_on_is_scored(tmp_path: Path) -> None:
    class Stopper(TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            control.should_training_stop = state.global_step == 3

    trainer = make_trainer("gpt2", tmp_path)
    watcher = watch(trainer)
    trainer.add_callback(Stopper())  # after the watcher, which hears of it an event later
    trainer.train()
    assert [entry.step for entry in read_history(watcher.history)] == [0, 2, 3]


@pytest.mark.parametrize("strategy", ["epoch", "steps"])
def test_an_end_that_an_evaluation_decides_on_is_scored(strategy: str, tmp_path: Path) -> None:
    data = make_trainer("gpt2", tmp_path).train_dataset
    trainer = make_trainer(
        "gpt2",
        tmp_path,
        trainer=partial(Trainer, eval_dataset=data),
        max_steps=-1,
        num_train_epochs=4,
        per_device_train_batch_size=8,
        eval_strategy=strategy,
        eval_steps=3,
        save_strategy=strategy,
        save_steps=3,
        load_best_model_at_end=True,
        greater_is_better=True,  # so that no loss is better than the first
    )
    trainer.add_callback(EarlyStoppingCallback())
    watcher = watch(trainer, every=100)
    trainer.train()
    # The second evaluation, which is no better than the first, ends it.
    last = 2 * (3 if strategy == "steps" else -(-len(data) // 8))
    assert [entry.step for entry in read_history(watcher.history)] == [0, last]
    best = trainer.state.best_model_checkpoint
    assert best is not None
    assert int(best.rpartition("-")[2]) < last  # it was the last step that was scored, not the best


class Crash(TrainerCallback):
    """Ends a training as a crash does."""

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.global_step == 7:
            raise RuntimeError("the power is out")


@pytest.mark.parametrize("save_steps", [4, 3], ids=["at-a-scoring", "between-scorings"])
def test_a_training_that_resumes_goes_on_with_its_history(save_steps: int, tmp_path: Path) -> None:
    how: dict[str, Any] = {"max_steps": 8, "save_strategy": "steps", "save_steps": save_steps}
    whole = make_trainer("bart", tmp_path / "whole", **how)
    expected = watch(whole)
    whole.train()

    broken = make_trainer("bart", tmp_path / "broken", **how)
    watcher = watch(broken)
    broken.add_callback(Crash())
    with pytest.raises(RuntimeError, match="the power is out"):
        broken.train()
    assert [entry.step for entry in read_history(watcher.history)] == [0, 2, 4, 6]

    resumed = make_trainer("bart", tmp_path / "broken", **how)
    before = read_history(watcher.history)[:2]
    watcher = watch(resumed)
    resumed.train(resume_from_checkpoint=str(tmp_path / "broken" / f"checkpoint-{save_steps}"))
    assert bits(resumed.model) == bits(whole.model)
    found = read_history(watcher.history)
    assert found[:2] == before  # kept as they were, times and all
    assert rates(found) == rates(read_history(expected.history))
    assert [entry.step for entry in found] == [0, 2, 4, 6, 8]


def test_a_training_that_starts_anew_starts_its_history_anew(tmp_path: Path) -> None:
    for steps in (4, 2):
        trainer = make_trainer("gpt2", tmp_path, max_steps=steps)
        watcher = watch(trainer, history=tmp_path / "deep" / "h.jsonl")
        trainer.train()
    assert [entry.step for entry in read_history(watcher.history)] == [0, 2]
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["h.jsonl"]


def test_a_file_that_is_no_history_is_not_replaced_by_one(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    trainer = make_trainer("gpt2", tmp_path)
    watch(trainer, history=tmp_path / "thesis.tex")
    with refusal("train.history", "thesis.tex line 1"):
        trainer.train()
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_what_it_cost_is_printed_at_the_end(finished: Finished) -> None:
    last, history = finished.said.splitlines()[-1], finished.watcher.history
    assert last.startswith("nnd: 4 scorings of 72 tests took ")
    assert last.endswith(f" % of the time of training; `nnd curve {history}`")
    entries = read_history(history)
    scoring = sum(entry.seconds for entry in entries)
    share = scoring / (scoring + sum(entry.training_seconds for entry in entries))
    assert f" {scoring:.1f} s, {100 * share:.1f} % " in last


# Trouble


def test_what_cannot_work_shows_before_the_first_step(tmp_path: Path) -> None:
    trainer = make_trainer("gpt2", tmp_path)
    watch(trainer, protocol="bartscore")
    with refusal("protocol.another-model", "GPT2LMHeadModel"):
        trainer.train()
    assert trainer.state.global_step == 0


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"every": 0}, "option.bad-value"),
        ({"contexts": 0}, "option.bad-value"),
        ({"template": "mixgq"}, "template.unknown"),
    ],
    ids=str,
)
def test_an_option_that_cannot_be(options: dict[str, Any], code: str, tmp_path: Path) -> None:
    with refusal(code):
        watch(make_trainer("gpt2", tmp_path), **options)


def test_a_trainer_without_a_tokenizer_or_a_model_of_transformers(tmp_path: Path) -> None:
    trainer = make_trainer("gpt2", tmp_path)
    tokenizer, trainer.processing_class = trainer.processing_class, None
    with refusal("train.trainer"):
        watch(trainer)
    watch(trainer, tokenizer=tokenizer)
    trainer.model = torch.nn.Linear(1, 1)
    with refusal("train.trainer"):
        watch(trainer, tokenizer=tokenizer)


def test_a_model_that_answers_with_nan_is_a_warning_and_training_goes_on(tmp_path: Path) -> None:
    class Spoil(TrainerCallback):
        def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if state.global_step == 2:
                kwargs["model"].transformer.ln_f.weight.data.fill_(math.nan)

    trainer = make_trainer("gpt2", tmp_path)
    watcher = watch(trainer)
    trainer.add_callback(Spoil())
    with pytest.warns(ScoringWarning, match="returns NaN .*; training continues") as told:
        trainer.train()
    assert trainer.state.global_step == 6
    assert [entry.step for entry in read_history(watcher.history)] == [0, 2]
    assert len([each for each in told if each.category is ScoringWarning]) == 2  # at 4 and 6


def test_trouble_of_any_kind_is_a_warning_and_training_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = Engine.__call__

    def failing(self: Engine, requests: Any) -> Any:
        if trainer.state.global_step == 4:
            raise RuntimeError("CUDA error: misaligned address")
        return call(self, requests)

    monkeypatch.setattr(Engine, "__call__", failing)
    trainer = make_trainer("gpt2", tmp_path)
    watcher = watch(trainer)
    said = r"step 4: RuntimeError\('CUDA error: misaligned address'\); training continues"
    with pytest.warns(ScoringWarning, match=said):
        trainer.train()
    assert [entry.step for entry in read_history(watcher.history)] == [0, 2, 6]


def test_a_history_of_other_pairs_is_not_gone_on_with(tmp_path: Path) -> None:
    how: dict[str, Any] = {"save_strategy": "steps", "save_steps": 4}
    first = make_trainer("gpt2", tmp_path, **how)
    watcher = watch(first)
    first.train()
    before = watcher.history.read_bytes()
    second = make_trainer("gpt2", tmp_path, **how)
    watch(second, contexts=6)
    with refusal("train.history", "nnd_history.jsonl"):
        second.train(resume_from_checkpoint=True)
    assert watcher.history.read_bytes() == before


def test_the_history_is_json_lines(finished: Finished) -> None:
    history = finished.watcher.history
    assert history == Path(str(finished.trainer.args.output_dir)) / "nnd_history.jsonl"
    first, second, *_ = map(json.loads, history.read_text(encoding="utf-8").splitlines())
    assert (first["step"], second["step"]) == (0, 2)
    assert first["column"] == "error_category"
    assert set(first["overall"]) == {"pass_rate", "n", "interval"}
