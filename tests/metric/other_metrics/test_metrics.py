"""The public function: what it takes is what the command takes, and functions."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.judged_cases import REFERENCES, write_judged, write_references
from support.refusals import refusal
from support.shown import check_shown

from nnd.metric.other_metrics import MetricTable, Text, TextScorer
from nnd.metric.other_metrics.on_datasets import metrics

PLAIN = ["length", "overlap"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_judged(tmp_path_factory.mktemp("judged") / "data")


@pytest.fixture(scope="module")
def found(data: Path) -> MetricTable:
    table = metrics(data=data, scorers=[shortness, "length"])
    assert isinstance(table, MetricTable)
    return table


def shortness(texts: Sequence[Text]) -> list[float | None]:
    return [-len(text.candidate) for text in texts]


def names(found: MetricTable) -> list[str]:
    return [row.name for row in found.rows]


@pytest.mark.parametrize(
    ("scorers", "expected"),
    [
        (None, PLAIN),
        ("overlap", ["overlap"]),
        (["overlap", "length"], ["overlap", "length"]),
        (shortness, ["shortness"]),
        (
            ["length", shortness, TextScorer("mine", shortness), "overlap"],
            ["length", "shortness", "mine", "overlap"],
        ),
        ((), []),
    ],
    ids=["none", "name", "names", "function", "mixed", "nothing"],
)
def test_scorers_are_names_or_functions(scorers: Any, expected: list[str], data: Path) -> None:
    assert names(metrics(data=str(data), scorers=scorers)) == expected


def test_a_function_is_asked(found: MetricTable) -> None:
    short, long = found.rows
    assert short.rates is not None
    assert long.rates is not None
    # The better candidate is the longer one of all three pairs.
    assert (short.rates.overall.passes, long.rates.overall.passes) == (0, 3)


@pytest.mark.parametrize("form", ["polars", "pandas", "rows"])
def test_references_are_a_path_or_a_table(form: str, data: Path, tmp_path: Path) -> None:
    rows = [{"context_id": key, "references": texts} for key, texts in REFERENCES.items()]
    table = {
        "polars": pl.DataFrame(rows),
        "pandas": pl.DataFrame(rows).to_pandas(),
        "rows": rows,
    }[form]
    found, by_path = (
        metrics(data=data, scorers=["rouge1"], references=each)
        for each in (table, write_references(tmp_path / "references.jsonl"))
    )
    assert found.rows == by_path.rows
    assert found.scores["score"].null_count() == 0


def test_a_table_of_references_that_says_not_whose_they_are_is_refused(data: Path) -> None:
    with refusal("column.missing", "references"):
        metrics(data=data, references=[{"reference": "the cat"}])


@pytest.mark.parametrize(
    ("scorers", "code"),
    [
        (7, "option.unknown-value"),
        ([None], "option.unknown-value"),
        (["rouge1", 7], "option.unknown-value"),
        ([shortness, shortness], "name.twice"),
    ],
)
def test_what_is_not_a_scorer_or_there_twice_is_refused(
    scorers: Any, code: str, data: Path
) -> None:
    with refusal(code):
        metrics(data=data, scorers=scorers)


def test_what_nnd_did_not_write_is_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "scores.parquet").write_bytes(b"mine")

    with refusal("place.foreign-files", str(tmp_path)):
        metrics(data=tmp_path / "nowhere", out=tmp_path)

    assert (tmp_path / "scores.parquet").read_bytes() == b"mine"


def test_metrics_show_themselves(found: MetricTable, data: Path) -> None:
    check_shown(found)
    assert found.headline() == (
        "length passes 100.0 % of 3 tests, the highest of 2 metrics. People's judgement of a "
        f"candidate: {found.judgement}."
    )
    nothing = metrics(data=data, scorers=[])
    check_shown(nothing)
    assert nothing.headline() == "No test was judged by 0 metrics."
    assert nothing.to_frame().height == 0


def test_a_row_of_the_frame_is_a_metric(found: MetricTable) -> None:
    frame = found.to_frame()
    assert frame.select("metric", "kind", "n", "pass_rate", "ties", "systems").rows() == [
        ("shortness", "scorer", 3, 0.0, 0, 3),
        ("length", "scorer", 3, 1.0, 0, 3),
    ]
    # Means of lengths rank the systems as people do (test_table); with the sign turned, tau is -1.
    assert frame["tau_a"].to_list() == [-1, 1]
    low, high = frame.select("candidate_pearson", "candidate_spearman").rows()
    assert low == pytest.approx([-value for value in high])
