"""A process that was forked after nnd was used ends with a reason instead of waiting forever."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

from support.training.runs import make_model, sample_pairs

from nnd.metric.data import read_run
from nnd.metric.likelihood import load_model, wrap_model
from nnd.metric.likelihood.engine.engine import Engine
from nnd.metric.run import evaluate
from nnd.schemas import NNDError


def reasons_of_a_child(place: Path, *tasks: Callable[[], object]) -> list[str]:
    """Fork; return why the child cannot do the tasks."""
    place.touch()
    if child := os.fork():
        os.waitpid(child, 0)
        return place.read_text(encoding="utf-8").splitlines()
    try:
        signal.alarm(20)
        for task in tasks:
            try:
                task()
            except NNDError as error:
                with place.open("a", encoding="utf-8") as file:
                    file.write(f"{error}\n")
    finally:
        os._exit(0)


def test_a_forked_child_says_why_it_cannot_work(tmp_path: Path) -> None:
    loaded, pairs, out = wrap_model(*make_model("gpt2"), name="tiny"), sample_pairs(), tmp_path
    before = evaluate(loaded, pairs, out=out / "run")

    reasons = reasons_of_a_child(
        tmp_path / "reasons",
        lambda: evaluate(loaded, pairs, out=out / "run"),
        lambda: Engine(loaded)([("Who wrote it?", "the cat")]),
        lambda: load_model(out / "run"),
        lambda: read_run(out / "run"),
    )

    assert len(reasons) == 4
    for reason in reasons:
        assert reason.startswith("this process was forked from one that has used nnd")
        assert 'multiprocessing.get_context("spawn")' in reason
    assert evaluate(loaded, pairs, out=out / "again").to_dict() == before.to_dict()
