"""Workers and merges killed at any moment, 20 of each; tests of parts end workers in process."""

import random
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.metric_runs import save_model

KILLS = 20

KILLED = {"killed": signal.SIGKILL}

LIKELIHOODS = "log_likelihoods.parquet"

NUMBERS = ["ll_high", "ll_low", "ll_alone_high", "ll_alone_low"]

ROUNDING = 1e-6


@pytest.mark.full
def test_killed_workers_and_merges_lose_nothing(
    tmp_path: Path, converted: list[Path], ask: Callable[..., dict[str, Any]]
) -> None:
    """A worker is killed, three others go on, and the merge is killed: the rows are all there."""
    asked = {"models": save_model("gpt2", tmp_path), "data": str(converted[0])}
    chance, place, out = random.Random(1), tmp_path / "place", tmp_path / "place/out"

    def work(number: int, of: int) -> dict[str, Any]:
        return call("evaluate a share", **asked, out=out, worker=[number, of])

    def call(name: str, **arguments: Any) -> dict[str, Any]:
        return {"call": name, "place": place, "arguments": arguments}

    place.mkdir()
    events = ask(work(1, 1))["events"], ask(call("merge", run=out))["events"]
    whole = pl.read_parquet(out / LIKELIHOODS)
    for _ in range(KILLS):
        shutil.rmtree(out)
        assert ask(work(1, 2), at=chance.randint(1, events[0] // 2)) == KILLED
        finished = {path: path.read_bytes() for path in out.glob("parts/*/*.parquet")}
        for number in (1, 2, 3):
            assert "error" not in ask(work(number, 3))
        assert {path: path.read_bytes() for path in finished} == finished

        assert ask(call("merge", run=out), at=chance.randint(1, events[1])) == KILLED
        if (out / "parts").is_dir():
            assert "error" not in ask(call("merge", run=out))
            assert [path.name for path in place.iterdir()] == ["out"]
        rows = pl.read_parquet(out / LIKELIHOODS)
        assert rows.drop(NUMBERS).equals(whole.drop(NUMBERS))
        for name in NUMBERS:
            assert (rows[name] - whole[name]).abs().to_numpy().max() < ROUNDING
