"""Training: what it leaves, that it goes on where it stopped, and what it refuses."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import peft
import polars as pl
import pytest
from support.refusals import refusal
from support.screens.commands import Nnd
from support.stored_folders import read_facts
from support.training.runs import bits, make_model, sample_pairs

from nnd.metric.data import read_run
from nnd.metric.likelihood import config_digest, load_model
from nnd.metric.numbers import compare
from nnd.metric.run import evaluate
from nnd.metric.train import training_folder as place
from nnd.metric.train.fine_tuning import train
from nnd.metric.train.history import HISTORY, read_history
from nnd.metric.train.objective import Objective, Schedule
from nnd.metric.train.pair_trainer import PairTrainer
from nnd.metric.train.trained import TrainedModel
from nnd.metric.train.training_folder import TRAINING, training_place
from nnd.schemas import ScoringWarning, check_rows, put_in_place

BRIEF = Schedule(steps=3, batch_size=4, learning_rate=3e-3)


class Done(NamedTuple):
    data: Path
    model: Any
    out: Path
    found: TrainedModel


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """A GPT-2 trained for three steps, and tested on other data too."""
    folder = tmp_path_factory.mktemp("done")
    sample_pairs().write_parquet(folder / "birds.parquet")
    pl.DataFrame(
        {
            "source": "other",
            "context_id": ["a", "b"],
            "context": ["What floats?", "What sinks?"],
            "candidate_high": ["A cork.", "A stone."],
            "candidate_low": ["A stone.", "A cork."],
        }
    ).write_parquet(folder / "other.parquet")
    model, tokenizer = make_model("gpt2")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NND_CACHE", str(folder / "cache"))
        found = begin(folder, folder / "out", model=model, tokenizer=tokenizer)
    return Done(folder, model, folder / "out", found)


def begin(folder: Path, out: Path, **options: Any) -> TrainedModel:
    """Train a tiny GPT-2 on the birds of a folder."""
    model, tokenizer = make_model("gpt2")
    how: dict[str, Any] = {
        "model": model,
        "data": folder / "birds.parquet",
        "tests": [folder / "other.parquet"],
        "tokenizer": tokenizer,
        "split": 0.6,
        "schedule": BRIEF,
    }
    return train(**how | options, out=out)


# What it leaves


def test_the_folder_holds_the_model_the_runs_the_history_and_what_was_done(done: Done) -> None:
    held = {path.name for path in done.out.iterdir()}
    assert held >= {"before", "after", HISTORY, TRAINING, "config.json", "tokenizer.json"}
    assert "checkpoints" not in held
    trained, untrained = load_model(done.out).model, make_model("gpt2")[0]
    assert bits(trained) == bits(done.model)
    assert bits(trained) != bits(untrained)
    assert config_digest(trained.config) == config_digest(untrained.config)
    stored = json.loads((done.out / TRAINING).read_text(encoding="utf-8"))
    assert list(check_rows("training", [stored])) == []
    assert read_facts(done.out / TRAINING) == json.loads(json.dumps(done.found.to_dict()))
    assert [entry.step for entry in read_history(done.out / HISTORY)] == [0, 1, 2, 3]


def test_the_runs_are_those_of_the_model_on_the_held_out_contexts(done: Done) -> None:
    found = evaluate(str(done.out), str(done.data / "birds.parquet"), held_out=0.6)
    scored = found.scored
    assert "|held-out:0.6|" in found.results[0].signature
    stored = read_run(done.out / "after" / "birds")
    assert 0 < stored.height < sample_pairs().height
    assert stored["pair_id"].to_list() == scored["pair_id"].to_list()
    assert stored["ll_high"].to_list() == pytest.approx(scored["ll_high"].to_list(), abs=1e-5)
    assert read_run(done.out / "before" / "other").height == 2


def test_the_result_is_the_comparison_of_the_runs(done: Done) -> None:
    runs = [done.out / when / name for when in ("before", "after") for name in ("birds", "other")]
    assert done.found.comparisons.to_dict() == compare(runs).to_dict()
    assert done.found.headline() == compare(runs).headline()
    assert [each.second for each in done.found.comparisons] == [str(done.out)] * 2


def test_it_says_what_it_was_trained_on_and_that_the_held_out_pairs_are_of_that_kind(
    done: Done,
) -> None:
    remarks = "\n".join(done.found.remarks())
    counts = done.found.facts.counts
    assert f"Trained for 3 steps on {counts.examples} distinct pairs in" in remarks
    assert (
        "birds (--held-out 0.6) has the origin of the training pairs (human pairs of s" in remarks
    )
    assert "transfers" not in remarks  # the other data is human, and of another source
    assert counts.contexts + counts.held_out_contexts == 14
    assert counts.pairs + counts.held_out_pairs == 72


def test_losses_are_logged_with_their_terms(done: Done) -> None:
    losses = done.found.facts.losses
    assert [each.step for each in losses] == [1, 2, 3]
    for each in losses:
        expected = each.mle + 0.1 * (each.unlikelihood or 0)
        assert each.loss == pytest.approx(expected, abs=1e-5)


def test_the_signature_says_how(done: Done) -> None:
    signature = done.found.facts.signature
    assert "|split:0.6|split-seed:0|loss:unlikelihood|alpha:0.1|tokens:all|" in signature
    assert "|steps:3|batch:4|lr:0.003|seed:0|" in signature


# Interrupted and resumed


@pytest.fixture(scope="module")
def left(done: Done, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is left by an interrupt in the last of three steps."""
    compute, out = PairTrainer.compute_loss, tmp_path_factory.mktemp("left") / "out"

    def stop(self: PairTrainer, *arguments: Any, **options: Any) -> Any:
        if self.state.global_step == 2:
            raise KeyboardInterrupt
        return compute(self, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PairTrainer, "compute_loss", stop)
        with pytest.raises(KeyboardInterrupt):
            begin(done.data, out)
    return out


@pytest.fixture
def interrupted(left: Path, tmp_path: Path) -> Path:
    """A copy of it, to be resumed or changed."""
    return Path(shutil.copytree(left, tmp_path / "out"))


def test_an_interrupted_training_resumes_as_it_was_started_and_ends_the_same(
    interrupted: Path, done: Done
) -> None:
    with refusal("place.holds-training", "out"):
        begin(done.data, interrupted)
    with refusal("place.holds-training", "out"):
        begin(done.data, interrupted, resume=True, objective=Objective(alpha=0.2))
    with refusal("place.holds-training", "out"):
        begin(done.data, interrupted, resume=True, split_seed=1)

    checkpoints = interrupted / "checkpoints"
    assert [path.name for path in checkpoints.glob("checkpoint-*")] == ["checkpoint-2"]
    begin(done.data, interrupted, resume=True)
    assert bits(load_model(interrupted).model) == bits(done.model)
    assert [entry.step for entry in read_history(interrupted / HISTORY)] == [0, 1, 2, 3]


# What is not nnd's own


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder, byte for byte."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.parametrize(
    "name",
    [
        "checkpoints/notes.txt",
        "checkpoints/checkpoint-1/model.safetensors",
        "checkpoints/checkpoint-2/notes.txt",
        "checkpoints/final/config.json",
        "config.json",
        "thesis.tex",
    ],
)
def test_a_training_with_files_of_others_is_not_resumed(
    name: str, interrupted: Path, done: Done
) -> None:
    (interrupted / name).parent.mkdir(exist_ok=True)
    (interrupted / name).write_text("mine")
    before = contents(interrupted)
    with refusal("place.foreign-files", "out"):
        begin(done.data, interrupted, resume=True)
    assert contents(interrupted) == before


@pytest.mark.parametrize("name", ["trainer_state.json", "model.safetensors"])
def test_a_training_with_a_changed_checkpoint_is_not_resumed(
    name: str, interrupted: Path, done: Done
) -> None:
    file = interrupted / "checkpoints" / "checkpoint-2" / name
    file.write_bytes(file.read_bytes() + b" ")
    before = contents(interrupted)
    with refusal("place.foreign-files", "out"):
        begin(done.data, interrupted, resume=True)
    assert contents(interrupted) == before


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"split": 0.6', '"split": 0.7'),
        lambda text: text.replace("{", '{"note": "mine",', 1),
        lambda text: text[:-3],
        lambda _: "[1]",
        lambda _: '{"split": 0.6}',  # as nnd wrote it before it listed files
    ],
)
def test_changed_settings_are_refused(
    change: Callable[[str], str], interrupted: Path, done: Done
) -> None:
    file = interrupted / "checkpoints" / "settings.json"
    file.write_text(change(file.read_text()))
    before = contents(interrupted)
    with refusal("contract.broken", "settings.json"):
        begin(done.data, interrupted, resume=True)
    assert contents(interrupted) == before


def at_step(monkeypatch: pytest.MonkeyPatch, step: int, act: Callable[[], object]) -> None:
    """Do something when a step of a training begins."""
    compute = PairTrainer.compute_loss

    def compute_loss(self: PairTrainer, *arguments: Any, **options: Any) -> Any:
        if self.state.global_step == step:
            act()
        return compute(self, *arguments, **options)

    monkeypatch.setattr(PairTrainer, "compute_loss", compute_loss)


def test_files_that_are_added_or_changed_during_a_training_are_kept(
    done: Done, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoints = tmp_path / "out" / "checkpoints"

    def change() -> None:
        (checkpoints / "notes.txt").write_text("mine")
        (checkpoints / "checkpoint-2" / "trainer_state.json").write_text("{}")

    at_step(monkeypatch, 2, change)
    begin(done.data, tmp_path / "out")
    assert bits(load_model(tmp_path / "out").model) == bits(done.model)
    assert contents(checkpoints) == {
        "notes.txt": b"mine",
        "checkpoint-2/trainer_state.json": b"{}",
    }


def test_a_file_in_the_way_of_the_model_is_named_and_nothing_is_lost(
    done: Done, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    at_step(monkeypatch, 2, lambda: (out / "config.json").write_text("mine"))
    with refusal("place.foreign-files", "out"):
        begin(done.data, out)
    assert (out / "config.json").read_text() == "mine"
    assert not (out / "model.safetensors").exists()
    (out / "config.json").unlink()
    begin(done.data, out, resume=True)
    assert bits(load_model(out).model) == bits(done.model)
    assert not (out / "checkpoints").exists()


KILLED_AT = (0, 5, 14, 23, 5, 7)
"""How many files each run has moved when it is killed; the next begins at the last checkpoint."""


def test_a_training_that_is_killed_again_and_again_while_files_are_moved_is_resumed(
    done: Done, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the first file, within the first checkpoint, the second, and the model at the end."""
    out = tmp_path / "out"
    for number, moves in enumerate(KILLED_AT):
        left = iter(range(moves))

        def move(fresh: Path, target: Path, left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                raise KeyboardInterrupt
            put_in_place(fresh, target)

        with monkeypatch.context() as patch:
            patch.setattr(place, "put_in_place", move)
            with pytest.raises(KeyboardInterrupt):
                begin(done.data, out, resume=number > 0)
    begin(done.data, out, resume=True)
    assert bits(load_model(out).model) == bits(done.model)
    assert {*contents(out)} == {*contents(done.out)}


# Two at once


def test_a_second_training_in_the_folder_is_refused_until_the_first_ends_or_is_killed(
    done: Done, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from nnd.metric.train.training_folder import training_place\n"
        "with training_place(Path(sys.argv[1]), {}, resume=False):\n"
        "    print('running', flush=True)\n"
        "    time.sleep(600)\n"
    )
    command = [sys.executable, "-c", code, str(out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as first:
        try:
            assert first.stdout is not None
            assert first.stdout.readline() == "running\n"
            before = contents(out)
            for resume in (False, True):
                with refusal("place.holds-training", "out"):
                    begin(done.data, out, resume=resume)
            assert contents(out) == before
        finally:
            first.kill()
    with training_place(out, {}, resume=True):
        pass


def test_of_two_trainings_that_start_at_once_one_is_refused(tmp_path: Path) -> None:
    with (
        training_place(tmp_path / "out", {}, resume=False),
        refusal("place.holds-training", "out"),
        training_place(tmp_path / "out", {}, resume=False),
    ):
        pytest.fail("both run")


def test_a_training_that_was_killed_before_it_had_settings_starts_again(
    done: Done, tmp_path: Path
) -> None:
    checkpoints = tmp_path / "out" / "checkpoints"
    checkpoints.mkdir(parents=True)
    (checkpoints / ".lock").touch()
    begin(done.data, tmp_path / "out")
    assert {*contents(tmp_path / "out")} == {*contents(done.out)}


# Adapters


def test_lora_leaves_the_weights_as_they_are_and_is_watched(done: Done, tmp_path: Path) -> None:
    model, tokenizer = make_model("gpt2")
    config = peft.LoraConfig(target_modules=["c_attn"], r=2, fan_in_fan_out=True)
    adapted = peft.get_peft_model(model, config)
    objective = Objective("margin", margin=1)
    how = {"model": adapted, "tokenizer": tokenizer, "tests": [], "objective": objective}
    found = begin(done.data, tmp_path / "out", **how)
    before, after = bits(make_model("gpt2")[0]), bits(adapted.get_base_model())
    plain = {
        name: after.get(name, after.get(name.replace("c_attn", "c_attn.base_layer")))
        for name in before
    }
    assert plain == before
    assert (tmp_path / "out" / "adapter_model.safetensors").is_file()
    assert not (tmp_path / "out" / "model.safetensors").exists()
    scored = [
        read_run(tmp_path / "out" / when)["ll_high"].to_list() for when in ("before", "after")
    ]
    assert scored[0] != scored[1]
    last = read_history(tmp_path / "out" / HISTORY)[-1].overall
    assert last.pass_rate == found.comparisons[0].overall.other


def test_adapters_outside_the_model_are_refused(done: Done, tmp_path: Path) -> None:
    model, tokenizer = make_model("gpt2")
    config = peft.PromptTuningConfig(num_virtual_tokens=2, task_type="CAUSAL_LM")
    adapted = peft.get_peft_model(model, config)
    with refusal("adapter.unsupported"):
        begin(done.data, tmp_path / "out", model=adapted, tokenizer=tokenizer)


# What is refused


def test_a_loss_that_is_not_a_number_ends_the_training(done: Done, tmp_path: Path) -> None:
    wild = Schedule(steps=3, batch_size=4, learning_rate=1e38)
    with (
        pytest.warns(ScoringWarning, match="step 1: .* returns NaN"),
        refusal("train.diverged", "step 2"),
    ):
        begin(done.data, tmp_path / "out", schedule=wild)
    assert not (tmp_path / "out" / TRAINING).exists()


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"split": 0.001}, "data.too-few-contexts"),
        (
            {"sets": ["typos"]},
            "name.unknown",
        ),
        ({"tokenizer": None}, "option.needs-another"),
        ({"template": "Q: {question"}, "template.placeholder"),
        ({"resume": True}, "place.holds-training"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(
    options: dict[str, Any], code: str, done: Done, tmp_path: Path
) -> None:
    with refusal(code):
        begin(done.data, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "options",
    [
        {"steps": 0},
        {"epochs": 0.0},
        {"batch_size": 0},
        {"learning_rate": float("nan")},
        {"seed": -1},
    ],
)
def test_a_schedule_that_cannot_be_is_refused(options: dict[str, Any]) -> None:
    with refusal("option.bad-value"):
        Schedule(**options)


def test_a_folder_with_something_else_is_left_alone(done: Done, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("x")
    with refusal("place.foreign-files", "out"):
        begin(done.data, tmp_path / "out")
    with refusal("place.holds-a-run", "out"):
        begin(done.data, done.out)
    with refusal("place.wrong-kind", "thesis.tex"):
        begin(done.data, tmp_path / "out" / "thesis.tex")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.tex"]


def test_data_without_pairs_is_refused(done: Done, tmp_path: Path) -> None:
    with refusal("train.no-texts", "frame"):
        begin(done.data, tmp_path / "out", data=sample_pairs().clear())


# The command


def test_the_command_trains_and_prints_the_comparison(done: Done, tmp_path: Path, nnd: Nnd) -> None:
    out = tmp_path / "again"
    options = ["--loss", "mle", "--steps", 1, "--batch-size", 2, "--device", "cpu", "--json"]
    code, shown, _ = nnd(
        "train", "--model", done.out, "--data", done.data / "birds.parquet", "--out", out, *options
    )
    assert code == 0
    printed = json.loads(shown)
    assert printed == read_facts(out / TRAINING)
    assert (printed["objective"]["loss"], printed["steps"]) == ("mle", 1)
    assert printed["comparisons"][0]["first"] == str(done.out)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--alpha", "-1"], "nnd: alpha is -1.0; give 0 or more\n"),
        (["--loss", "dpo"], 'nnd: unknown loss "dpo"; known: mle, unlikelihood, margin\n'),
        (["--split", "1"], "nnd: split 1.0: give a share between 0 and 1, such as 0.8\n"),
        (["--device", "cuda:7"], 'nnd: device "cuda:7"'),
    ],
)
def test_the_command_refuses_in_one_line(
    options: list[str], said: str, done: Done, tmp_path: Path, nnd: Nnd
) -> None:
    common = ["--model", done.out, "--data", done.data / "birds.parquet", "--out", tmp_path / "no"]
    code, _, err = nnd("train", *common, *options)
    assert code == 2
    assert err.startswith(said)
    assert err.count("\n") == 1
    assert not (tmp_path / "no").exists()
