"""`metrics` over what contexts share: copies of a context in a cluster add no information."""

import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.card_folders import make_folder, row
from support.stored_folders import write_sealed
from support.two_models import scored, write_run

from nnd.metric.other_metrics import MetricTable
from nnd.metric.other_metrics.on_datasets import metrics

QUESTIONS = 12
SYSTEMS = ("heron", "wren", "plover")


def folder(place: Path, copies: int, *, questions: int = QUESTIONS, **facts: Any) -> Path:
    """Contexts with three candidates of random length; each stands there some times."""
    draw, rows = random.Random(5), list[dict[str, Any]]()
    for number in range(questions):
        texts = {name: "sings " * draw.randint(1, 9) + name for name in SYSTEMS}
        labels = dict(zip(SYSTEMS, draw.sample(["good", "wrong", "good", "rude"], 3), strict=True))
        for copy in range(copies):
            inputs = {"question": f"Who sings {number}?", "copy": f"{copy}"}
            at = {
                "context_id": f"c{number}.{copy}",
                "context": " ".join(inputs.values()),
                "inputs": inputs,
            }
            rows += [
                row(f"{name}{number}.{copy}", name, labels[name], candidate=texts[name], **at)
                for name in SYSTEMS
            ]
    return make_folder(place, rows, **facts)


def table(data: Path, *runs: Path) -> MetricTable:
    found = metrics(
        [*runs],
        data=data,
        scorers=["length"],
        statistics="acc_eq,acc_eq_star,system_accuracy,auc,auc_within",
    )
    assert isinstance(found, MetricTable)
    return found


def intervals(found: MetricTable) -> list[dict[str, Any]]:
    """Every interval of the row of length."""
    (of_length,) = [each for each in found.rows if each.name == "length"]
    (pairs,), (candidates,) = of_length.pairs.values(), of_length.candidates.values()
    assert of_length.rates is not None
    found_in = (pairs.intervals, candidates.sample_intervals, candidates.by_context_intervals)
    return [{"rate": of_length.rates.overall.interval}, *map(dict, found_in)]


def widths(found: list[dict[str, Any]]) -> list[float]:
    ends = [bounds for each in found for bounds in each.values() if bounds is not None]
    return [high - low for low, high in ends]


def test_every_interval_is_drawn_by_cluster(tmp_path: Path) -> None:
    single = intervals(table(folder(tmp_path / "single", 1)))
    shared = intervals(table(folder(tmp_path / "shared", 4, cluster="question")))
    alone = intervals(table(folder(tmp_path / "alone", 4)))

    assert len(widths(shared)) >= 6
    for one, copied in zip(single, shared, strict=True):
        assert one.keys() == copied.keys()
        for name, bounds in one.items():
            expected = None if bounds is None else pytest.approx(bounds, abs=1e-9)
            assert copied[name] == expected, name
    # As if independent, four copies would make intervals about half as wide.
    assert sum(widths(alone)) < 0.8 * sum(widths(shared))


def test_few_clusters_are_said(tmp_path: Path) -> None:
    few = table(folder(tmp_path / "few", 4, questions=7, cluster="question"))
    many = table(folder(tmp_path / "many", 4, cluster="question"))

    said = "The tests come from only 7 questions; with fewer than 10, intervals are rough"
    assert any(note.startswith(said) for note in few.notes)
    assert not any("fewer than 10" in note for note in many.notes)


def test_older_runs_take_clusters_from_the_data(tmp_path: Path) -> None:
    data = folder(tmp_path, 4, cluster="question")
    pairs = pl.read_parquet(data / "pairs.parquet")
    same = ("pair_id", "split", "context_id", "high_id", "low_id", "aspect", "error_category")
    columns = {name: pairs[name].to_list() for name in same}
    run = write_run(tmp_path / "run", scored("m", "+-+" * (pairs.height // 3), **columns))
    signature = "nnd|v:0.3.0|model:m@1|data:birds@ab12|protocol:native"
    results = [{"model": "m", "signature": signature, "protocol": "native"}]
    write_sealed(run / "result.json", {"results": results})

    (of_model,) = [each for each in table(data, run).rows if each.kind == "model"]
    assert of_model.rates is not None
    assert of_model.rates.overall.clusters == pairs["cluster"].n_unique()
    assert of_model.rates.overall.contexts > of_model.rates.overall.clusters
