"""Judged systems of a dataset, scored from the Hub by calls that are killed and started again."""

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.hub.server import Hub
from support.models.stand_ins import FIB, QGEVAL, stand_in_files

from nnd.converters.folder.conversion import convert
from nnd.converters.source import load_source

pytestmark = pytest.mark.full

Ask = Callable[..., dict[str, Any]]


def converted_fixture(out: Path) -> Path:
    """FIB's fixture: 18 pairs in two contexts."""
    source = load_source("fib").folder
    convert(source, origin=source / "fixture", out=out)
    return out


def score(ask: Ask, data: Path, place: Path, **death: int) -> dict[str, Any]:
    """Score the judged systems of a dataset into `place/out`, in a child."""
    arguments = {"judged": str(data), "out": str(place / "out"), "limit": 24}
    return ask({"call": "judged", "place": str(place), "arguments": arguments}, **death)


def check_twice_killed(ask: Ask, data: Path, tmp_path: Path, n: int) -> dict[str, Any]:
    """Kill a run twice, and check that it ends like an undisturbed one; return its result."""
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    for place in (killed, whole):
        place.mkdir()
    scored = []
    for at in (30, 90):  # while results of some of the models are written
        assert score(ask, data, killed, at=at) == {"killed": signal.SIGKILL}
        path = killed / "out" / "result.json"
        scored.append(len(json.loads(path.read_text())["results"]) if path.exists() else 0)
    assert scored[0] <= scored[1] < n
    assert "error" not in score(ask, data, killed)
    assert "error" not in score(ask, data, whole)
    for name in ("result.json", "log_likelihoods.parquet"):
        assert (killed / "out" / name).read_bytes() == (whole / "out" / name).read_bytes()
    result: dict[str, Any] = json.loads((whole / "out" / "result.json").read_text())
    return result


def test_the_seven_models_of_fib(hub: Hub, ask: Ask, tmp_path: Path) -> None:
    for seed, (model, family) in enumerate(FIB.items()):
        hub.commit("models", model, stand_in_files(tmp_path / model, family, seed))

    result = check_twice_killed(ask, converted_fixture(tmp_path / "fib"), tmp_path, len(FIB))

    assert [each["model"] for each in result["results"]] == [*FIB]
    assert result["templates"] == dict.fromkeys(FIB, "{article}")
    overall = result["agreement"]["by_category"]["overall"]
    assert (overall["n"], overall["human_noise"]["pairs"]) == (7, 21)
    assert all(0 < n < 18 for n in overall["without_own"]["n"].values())


def test_the_six_small_models_of_qgeval(hub: Hub, ask: Ask, tmp_path: Path, nnd_data: Path) -> None:
    for seed, (model, family) in enumerate(QGEVAL.items()):
        files = stand_in_files(tmp_path / model, family, seed, subfolder="tokenizer")
        hub.commit("models", model, files)
    data = tmp_path / "qgeval"
    convert("qgeval", set_name="hotpotqa", origin=nnd_data / "qgeval", out=data)

    result = check_twice_killed(ask, data, tmp_path, len(QGEVAL))

    assert [each["model"] for each in result["results"]] == [*QGEVAL]
    of_answers = result["agreement"]["by_category"]["answer_consistency"]
    noise = of_answers["human_noise"]
    assert (noise["pairs"], noise["separable"]) == (15, 4)  # as the source's own counts have it
    assert noise["ceiling"]["halves_of"] == "annotators"
    assert of_answers["without_own"]["n"].keys() == {*QGEVAL}
