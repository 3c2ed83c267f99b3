"""One training with several seeds: what it reports, that it resumes, and what it refuses."""

import json
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev
from typing import NamedTuple

import pytest
from support.refusals import refusal
from support.training.runs import make_model, sample_pairs

from nnd.metric.train.fine_tuning import train
from nnd.metric.train.objective import Schedule
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


def test_what_cannot_be_trained_several_times(done: Done) -> None:
    with refusal("option.bad-value", "--repeats 0"):
        begin(done.folder, repeats=0)
    model, tokenizer = make_model("gpt2")
    data, out = done.folder / "birds.parquet", done.folder / "loaded"
    with refusal("option.conflict", "--repeats"):
        train(model, data, out=out, tokenizer=tokenizer, repeats=2)
    assert not out.exists()
