"""Metrics on several datasets: each as it is alone, and means in which each counts once."""

import json
from pathlib import Path

import polars as pl
import pytest
from support.judged_cases import write_judged
from support.refusals import refusal
from support.screens.tables import lines

from nnd.metric.other_metrics import MetricTables, Text
from nnd.metric.other_metrics.on_datasets import metrics


def words(texts: list[Text]) -> list[float]:
    return [float(len(text.candidate.split())) for text in texts]


@pytest.fixture
def data(tmp_path: Path) -> list[Path]:
    """Two datasets; on the second, people find the shortest texts best."""
    folders = [write_judged(tmp_path / name) for name in ("first", "second")]
    path = folders[1] / "annotations.parquet"
    reverse = pl.read_parquet(path).with_columns(score=-pl.col("score"))
    reverse.write_parquet(path)
    path = folders[1] / "pairs.parquet"
    sides = {f"{what}_{a}": f"{what}_{b}" for what in ("candidate", "system") for a, b in SIDES}
    sides |= {f"{a}_id": f"{b}_id" for a, b in SIDES}
    swapped = pl.read_parquet(path).rename(sides).with_columns(pair_id="s" + pl.col("pair_id"))
    swapped.write_parquet(path)
    return folders


SIDES = (("high", "low"), ("low", "high"))


def test_each_dataset_is_as_it_is_alone_counts_once_and_has_rows_of_its_own(
    data: list[Path], tmp_path: Path
) -> None:
    found = metrics(data=data, scorers=["length", words], out=tmp_path / "out")

    assert isinstance(found, MetricTables)
    for folder in data:
        alone = metrics(data=folder, scorers=["length", words]).to_dict()
        assert found.to_dict()["datasets"][folder.name] == alone
        written = json.loads((tmp_path / "out" / folder.name / "metrics.json").read_text())
        assert {key: written[key] for key in alone} == alone
    # Lengths 11 7 5 pass all three pairs of the first and none of the second; words 3 2 2 pass two,
    # and tie on the third.
    assert found.mean()["length"]["pass_rate"] == 0.5
    assert found.mean()["words"]["pass_rate"] == pytest.approx(1 / 3)
    # The first has 3 systems, too few for a correlation, and so has no mean; on candidates the
    # second is the first with the sign turned.
    assert found.mean()["length"]["gap_r"] is None
    assert found.mean()["length"]["candidate_spearman"] == pytest.approx(0, abs=1e-12)
    assert found.headline() == (
        "Mean over 2 datasets, each counting once: length passes 50.0 % of tests, the highest of "
        "2 metrics."
    )
    rows = [row for row in lines(found.table()) if row]

    assert rows[0].startswith("dataset metric pass rate, %")
    assert [" ".join(row.split()[:2]) for row in rows[2:6]] == [
        *("first length", "first words", "second length", "second words")
    ]
    assert rows[6].startswith("mean over 2 datasets length 50.0 n/a")
    assert found.to_frame().select("dataset", "metric").rows() == [
        *(("first", "length"), ("first", "words"), ("second", "length"), ("second", "words"))
    ]
    assert str(found.remarks()[-1]).startswith(
        "second: Correlations of 3 systems are printed where "
    )


def test_the_dataset_that_lacks_something_is_named(data: list[Path]) -> None:
    path = data[0] / "annotations.parquet"
    reference = pl.struct(key=pl.lit("reference"), value=pl.lit("the cat"))
    rows = pl.read_parquet(path).with_columns(pl.concat_list("inputs", reference))
    rows.write_parquet(path)
    with refusal("scorer.references", "second"):
        metrics(data=data, scorers="rouge1")


def test_what_does_not_fit(data: list[Path], tmp_path: Path) -> None:
    with refusal("option.conflict"):
        metrics(data=data, references=tmp_path / "r.jsonl")  # type: ignore[call-overload]
    (tmp_path / "out" / "second").mkdir(parents=True)
    (tmp_path / "out" / "second" / "mine.txt").write_text("")
    with refusal("place.foreign-files", "second"):
        metrics(data=data, scorers="length", out=tmp_path / "out")
    assert not (tmp_path / "out" / "first").exists()
