"""Results of a sweep are on disk before its end, without much time being spent on it."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from nnd.metric.data import load_pairs
from nnd.metric.likelihood import Scoring, load_model
from nnd.metric.likelihood.engine.engine import Engine
from nnd.metric.run import arriving_results as outputs, evaluate
from nnd.metric.run.evaluation import Evaluation
from nnd.metric.run.model_result import ScoredModel
from nnd.metric.run.model_scoring import evaluate_model
from nnd.metric.run.scoring_task import ScoredShard

Saved = Callable[[str], Path]


@pytest.fixture
def on_disk(tmp_path: Path, models: list[str], monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The models in `tmp_path/run` at each moment at which the second model scores something."""
    seen: list[list[str]] = []
    call = Engine.__call__

    def looking(self: Engine, requests: Any) -> Any:
        if self.loaded.name == models[1]:
            result = json.loads((tmp_path / "run/result.json").read_text(encoding="utf-8"))
            seen.append([each["model"] for each in result["results"]])
        return call(self, requests)

    monkeypatch.setattr(Engine, "__call__", looking)
    return seen


def test_a_model_is_on_disk_before_the_next_is_scored(
    models: list[str], birds: Path, tmp_path: Path, on_disk: list[list[str]]
) -> None:
    evaluate(models, birds, out=tmp_path / "run")
    assert on_disk
    assert set(map(tuple, on_disk)) == {(models[0],)}


def test_what_an_earlier_run_wrote_stays_until_it_is_replaced(
    models: list[str], birds: Path, tmp_path: Path, on_disk: list[list[str]]
) -> None:
    evaluate(models[0], birds, out=tmp_path / "run")
    evaluate(models[1], birds, out=tmp_path / "run")
    on_disk.clear()
    found = evaluate(models, birds, out=tmp_path / "run", scoring=Scoring(cache=False))
    assert on_disk
    assert {frozenset(each) for each in on_disk} == {frozenset(models)}
    assert [each.model for each in found.results] == models


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_two_hundred_checkpoints_are_written_in_a_tenth_of_the_time(
    scored: ScoredModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each takes a second; a write takes a tenth of a second for each model that it holds."""
    clock, writes = Clock(), list[int]()
    monkeypatch.setattr(outputs.time, "perf_counter", clock)

    def join(_: str, found: Sequence[ScoredModel]) -> Evaluation:
        clock.now += 0.1 * len(found)
        writes.append(len(found))
        return Evaluation("birds", (scored.result,), scored.pairs, None, None)

    before_end = list[int]()

    def shards() -> Iterator[ScoredShard]:
        for _ in range(200):
            clock.now += 1
            yield ScoredShard("birds", 0, scored)
        before_end.extend(writes)

    written = outputs.write_arriving(shards(), join, {"birds": tmp_path / "run"})

    # Of 200 s, 20 s and the last write that began before they were spent.
    assert sum(before_end) * 0.1 <= 0.1 * clock.now + 0.1 * before_end[-1]
    assert before_end[:2] == [1, 2]
    assert len(before_end) > 5
    assert writes[-1] == 200
    assert list(written) == ["birds"]


@pytest.fixture
def scored(saved: Saved, birds: Path) -> ScoredModel:
    """What some model did; which one does not matter."""
    return evaluate_model(load_model(saved("gpt2")), load_pairs(birds), Scoring(), None)
