"""One training with several seeds: what it reports, that it resumes, and what it refuses."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple, get_args

import pytest
from support.refusals import refusal
from support.training.runs import make_model, sample_pairs

from nnd.metric.train.fine_tuning import train
from nnd.metric.train.objective import Loss, Objective, Schedule
from nnd.metric.train.pair_trainer import PairTrainer
from nnd.metric.train.seeds import TrainedSeeds
from nnd.schemas import NNDError

BRIEF = Schedule(steps=2, batch_size=4, learning_rate=3e-3, seed=4)
SEEDS = (4, 5, 6)


class Done(NamedTuple):
    folder: Path
    found: TrainedSeeds


def begin(folder: Path, **options: object) -> TrainedSeeds:
    how = {"out": folder / "out", "split": 0.6, "schedule": BRIEF, "repeats": 3} | options
    found = train(str(folder / "gpt2"), folder / "birds.parquet", **how)  # type: ignore[arg-type]
    assert isinstance(found, TrainedSeeds)
    return found


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    folder = tmp_path_factory.mktemp("seeds")
    sample_pairs().write_parquet(folder / "birds.parquet")
    model, tokenizer = make_model("gpt2")
    model.save_pretrained(folder / "gpt2")
    tokenizer.save_pretrained(folder / "gpt2")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NND_CACHE", str(folder / "cache"))
        return Done(folder, begin(folder))


def passed(folder: Path) -> float:
    (result,) = json.loads((folder / "result.json").read_text(encoding="utf-8"))["results"]
    return float(result["pass_rate"])


def test_mean_and_spread_are_of_the_stored_runs(done: Done) -> None:
    out = done.folder / "out"
    after = [passed(out / str(seed) / "after") for seed in SEEDS]
    before = {passed(out / str(seed) / "before") for seed in SEEDS}
    ((_, spread),) = done.found.spread().items()
    assert (spread.after, {spread.before}) == (tuple(after), before)
    assert spread.mean == pytest.approx(mean(after))
    assert spread.deviation == pytest.approx(stdev(after))
    frame = done.found.to_frame()
    assert frame["seed"].to_list() == [*SEEDS]
    assert frame["difference"].to_list() == pytest.approx([each - spread.before for each in after])
    assert done.found.headline() == (
        f"Over 3 seeds, the mean pass rate goes from {100 * spread.before:.1f} % to "
        f"{100 * mean(after):.1f} % (sd {100 * stdev(after):.1f} points)."
    )


def test_finished_trainings_are_read_and_others_are_added(done: Done) -> None:
    kept = (done.folder / "out" / "5" / "training.json").stat().st_mtime_ns
    found = begin(done.folder, schedule=replace(BRIEF, seed=5), resume=True)
    assert [*found.seeds] == [5, 6, 7]
    assert found.seeds[5].to_dict() == done.found.seeds[5].to_dict()
    assert (done.folder / "out" / "5" / "training.json").stat().st_mtime_ns == kept
    with refusal("place.holds-training", "out/4"):
        begin(done.folder, resume=True, schedule=replace(BRIEF, steps=3))
    with pytest.raises(NNDError, match="out/4: "):  # without resume, nothing is replaced
        begin(done.folder)


def weights(out: Path) -> dict[str, bytes]:
    return {seed.name: (seed / "model.safetensors").read_bytes() for seed in out.iterdir()}


@pytest.mark.parametrize("loss", get_args(Loss))
def test_every_loss_is_repeated_and_resumed_to_the_same_bytes(
    loss: Loss, done: Done, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interrupted twice: in the first training, and before the second has written anything."""
    how: dict[str, Any] = {"repeats": 2, "objective": Objective(loss)}
    whole = begin(done.folder, out=done.folder / f"{loss}-whole", **how)

    out, compute = done.folder / loss, PairTrainer.compute_loss
    monkeypatch.setattr(PairTrainer, "compute_loss", stop_at(1, compute))
    with pytest.raises(KeyboardInterrupt):
        begin(done.folder, out=out, **how)
    monkeypatch.setattr(PairTrainer, "compute_loss", compute)
    start = PairTrainer.train
    monkeypatch.setattr(PairTrainer, "train", stop_second(start))
    with pytest.raises(KeyboardInterrupt):
        begin(done.folder, out=out, resume=True, **how)
    monkeypatch.setattr(PairTrainer, "train", start)
    shutil.rmtree(out / "5")
    (out / "5" / "checkpoints").mkdir(parents=True)  # as a kill leaves it before the first file
    resumed = begin(done.folder, out=out, resume=True, **how)

    assert weights(out) == weights(done.folder / f"{loss}-whole")
    assert [*resumed.seeds] == [4, 5]
    assert resumed.spread()[""].after == whole.spread()[""].after
    assert resumed.to_frame().equals(whole.to_frame())


def stop_at(step: int, compute: Callable[..., Any]) -> Callable[..., Any]:
    def stop(self: PairTrainer, *arguments: Any, **options: Any) -> Any:
        if self.state.global_step == step:
            raise KeyboardInterrupt
        return compute(self, *arguments, **options)

    return stop


def stop_second(start: Callable[..., Any]) -> Callable[..., Any]:
    def stop(self: PairTrainer, **options: Any) -> Any:
        if self.args.seed == 5:
            raise KeyboardInterrupt
        return start(self, **options)

    return stop


def test_another_loss_is_refused_before_anything_is_trained(done: Done) -> None:
    with refusal("place.holds-training", "out/4"):
        begin(done.folder, resume=True, repeats=5, objective=Objective("mle"))
    assert not (done.folder / "out" / "8").exists()


def test_what_cannot_be_trained_several_times(done: Done) -> None:
    with refusal("option.bad-value", "--repeats 0"):
        begin(done.folder, repeats=0)
    model, tokenizer = make_model("gpt2")
    data, out = done.folder / "birds.parquet", done.folder / "loaded"
    with refusal("option.conflict", "--repeats"):
        train(model, data, out=out, tokenizer=tokenizer, repeats=2)
    assert not out.exists()
