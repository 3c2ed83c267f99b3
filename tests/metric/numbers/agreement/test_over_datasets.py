"""Agreement on several datasets: each as it is alone, and a mean in which each counts once."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.refusals import refusal
from support.screens.tables import lines
from support.two_models import people, scored, write_run

from nnd.metric.numbers import Agreements, agree
from nnd.schemas import check_rows

MODELS = ("a", "b", "c", "d")


def dataset(folder: Path, prefix: str, scores: dict[str, float]) -> Path:
    """Ten pairs, and human scores of systems that are called as the models are."""
    folder.mkdir(parents=True)
    ids = [f"{prefix}{n}" for n in range(10)]
    texts = {"context": "c", "candidate_high": ids, "candidate_low": "l"}
    pl.DataFrame({"pair_id": ids, "context_id": ids, **texts}).write_parquet(
        folder / "pairs.parquet"
    )
    people({"question": scores}).write_parquet(folder / "human_scores.parquet")
    return folder


def run(folder: Path, prefix: str, passes: tuple[int, ...]) -> Path:
    """A run in which each of MODELS passes so many of the ten pairs."""
    ids = [f"{prefix}{n}" for n in range(10)]
    frames = [
        scored(model, "+" * n + "-" * (10 - n), pair_id=ids, context_id=ids)
        for model, n in zip(MODELS, passes, strict=False)
    ]
    return write_run(folder, *frames)


@pytest.fixture
def data(tmp_path: Path) -> list[Path]:
    """People rank a < b < c < d, on quiz and on frank."""
    scores = dict(zip(MODELS, (0.1, 0.2, 0.3, 0.4), strict=True))
    return [dataset(tmp_path / name, name[0], scores) for name in ("quiz", "frank")]


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """On quiz models rank as people do; on frank d, a, b, c."""
    return [
        run(tmp_path / "run-frank", "f", (4, 5, 6, 3)),
        run(tmp_path / "run-quiz", "q", (1, 2, 3, 4)),
    ]


def test_each_dataset_is_as_it_is_alone_and_counts_once(runs: list[Path], data: list[Path]) -> None:
    found = agree(runs, data)

    assert isinstance(found, Agreements)
    alone = {
        "quiz": agree(runs[1], data[0]).to_dict(),
        "frank": agree(runs[0], data[1]).to_dict(),
    }
    assert found.to_dict()["datasets"] == alone
    assert list(check_rows("agreement", found.to_dict()["datasets"].values())) == []
    # quiz: tau 1, r 1. frank: 3 of 6 pairs of systems in order, tau 0; the ranks 2, 3, 4, 1
    # against 1, 2, 3, 4 have r = 1 - 6 * (1 + 1 + 1 + 9) / (4 * 15) = -0.2.
    assert found.mean()["tau_b"] == pytest.approx(0.5)
    assert found.mean()["pearson"] == pytest.approx(0.4)
    assert found.headline() == (
        "Mean over 2 datasets, each counting once: pass rates and human scores correlate with "
        "tau-b 0.500 and Pearson r 0.400 (overall)."
    )
    rows = lines(found.table())

    # Rates of ten tests each, which are 0.1 apart, do not show the order: no interval.
    for name in ("quiz", "frank"):
        against = found.datasets[name].main().interval_reasons["pearson"]
        assert against == "the systems differ too little for so few contexts"
    assert rows[0] == "dataset systems tau-b gap r p"
    assert "quiz 4 1.000 1.000 0.0833" in rows  # 2/4!
    assert "frank 4 0.000 -0.200 0.9167" in rows
    assert "mean over 2 datasets 0.500 0.400" in rows
    frame = found.to_frame().filter(category="overall", statistic="tau_b")
    assert frame.select("dataset", "n", "value").rows() == [("quiz", 4, 1.0), ("frank", 4, 0.0)]


def test_there_is_no_mean_where_a_dataset_has_too_few_systems(
    runs: list[Path], data: list[Path], tmp_path: Path
) -> None:
    few = run(tmp_path / "few", "f", (4, 5, 6))
    found = agree([runs[1], few], data)

    assert (
        found.headline()
        == "The mean over the 2 datasets is undefined: the correlation is undefined on frank."
    )
    assert found.mean()["tau_b"] is None
    assert "frank 3 n/a n/a n/a" in lines(found.table())


def test_systems_are_of_the_datasets_that_have_them(
    runs: list[Path], tmp_path: Path, data: list[Path]
) -> None:
    other = dataset(tmp_path / "other" / "frank", "f", {"a": 0.1, "e": 0.2})
    found = agree(runs, [data[0], other], systems={"b": "e"})

    assert found.datasets["quiz"].systems == {model: model for model in MODELS}
    assert found.datasets["frank"].systems == {"a": "a", "b": "e"}
    assert found.remarks() == ["frank: Without a human score: c, d."]
    for systems in ({"b": "e"}, {"e": "a"}):
        with refusal("name.unknown") as caught:
            agree(runs, data, systems=systems)
        assert '"e"' in caught.value.what


def test_runs_and_datasets_must_belong_together(
    runs: list[Path], data: list[Path], tmp_path: Path
) -> None:
    strange = run(tmp_path / "strange", "s", (1, 2))
    twice = dataset(tmp_path / "twice", "f", {"a": 0.1})

    for folders, datasets, code, where in (
        ([*runs, strange], data, "run.another-data", str(strange)),
        (runs, [*data, twice], "run.another-data", str(runs[0])),
        (runs[:1], data, "run.another-dataset", "quiz"),
        (runs[1:], [data[0], twice], "run.another-dataset", "twice"),
    ):
        with refusal(code, where):
            agree(folders, datasets)


@pytest.mark.parametrize("more", [{"human_scores": "mine.parquet"}, {"order": ["a"]}])
def test_what_is_of_one_dataset(more: dict[str, Any], runs: list[Path], data: list[Path]) -> None:
    with refusal("option.conflict"):
        agree(runs, data, **more)


def test_a_dataset_without_human_scores(runs: list[Path], data: list[Path]) -> None:
    (data[1] / "human_scores.parquet").unlink()

    with refusal("option.conflict", "frank"):
        agree(runs, data)


def test_too_few_systems_on_one_are_named(
    runs: list[Path], data: list[Path], tmp_path: Path
) -> None:
    alone = run(tmp_path / "alone", "f", (4,))

    with refusal("agreement.undefined", "frank"):
        agree([alone, runs[1]], data)
