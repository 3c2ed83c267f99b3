"""Values that other metrics gave to candidates elsewhere."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.judged_cases import annotations, write_judged
from support.refusals import refusal

from nnd.converters.folder import convert
from nnd.metric.other_metrics import MetricTable
from nnd.metric.other_metrics.judged_candidates import read_judged
from nnd.metric.other_metrics.measuring_metrics import prefer
from nnd.metric.other_metrics.on_datasets import metrics
from nnd.metric.other_metrics.stored_values import read_values

# Pairs of the judged case: 1/a over 1/b, 1/a over 1/c, 1/b over 1/c.
VALUES = {"1/a": 0.9, "1/b": 0.5, "1/c": 0.5, "2/a": 0.1, "2/b": 0.2}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_judged(tmp_path / "judged")


def rows(**more: Any) -> list[dict[str, Any]]:
    return [{"candidate_id": key, "comet": value} | more for key, value in VALUES.items()]


def compared(data: Path, scores: Any, **options: Any) -> MetricTable:
    return metrics(data=data, scores=scores, scorers=["length"], **options)


def passes(found: MetricTable) -> dict[str, int]:
    return {row.name: row.rates.overall.passes for row in found.rows if row.rates is not None}


def test_values_by_id_count_like_any_metric(data: Path, tmp_path: Path) -> None:
    # 0.9 beats 0.5 twice, and 0.5 against 0.5 is a tie, which fails.
    table = pl.DataFrame(rows())
    table.write_csv(tmp_path / "comet.csv")
    table.write_parquet(tmp_path / "comet.parquet")
    for scores in (table, tmp_path / "comet.csv", str(tmp_path / "comet.parquet"), rows()):
        assert passes(compared(data, scores))["comet"] == 2
    # The other way round none of them passes.
    assert passes(compared(data, table, lower=["comet"]))["comet"] == 0


def test_values_by_context_and_system_or_by_text(data: Path) -> None:
    systems = [
        {"context_id": context, "system": system, "comet": VALUES[f"{context}/{system}"]}
        for context, system in (("1", "a"), ("1", "b"), ("1", "c"), ("2", "a"), ("2", "b"))
    ]
    texts = {"the cat sat": 0.9, "the cat": 0.5, "a dog": 0.5, "two birds sing": 0.1, "birds": 0.2}
    by_text = [{"candidate": text, "comet": value} for text, value in texts.items()]
    assert passes(compared(data, systems)) == passes(compared(data, rows()))
    assert passes(compared(data, by_text)) == passes(compared(data, rows()))


def test_a_metric_of_several_dimensions_has_a_column_for_each(data: Path) -> None:
    wide = [row | {"fluency": -row["comet"], "note": "by hand"} for row in rows()]
    found = compared(data, wide)
    assert passes(found) == {"length": 3, "comet": 2, "fluency": 0}
    assert "scores: columns without numbers were not read: note." in found.notes


def test_rows_of_no_candidate_are_counted(data: Path) -> None:
    strangers = [{"candidate_id": f"9/{n}", "comet": 1.0} for n in range(2)]
    found = compared(data, [*rows(), *strangers])
    assert "2 rows of scores are of no candidate of the data." in found.notes
    many = [{"candidate_id": f"9/{n}", "comet": 1.0} for n in range(9)]
    with refusal("scores.other-candidates", "scores"):
        compared(data, [*rows(), *many])


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"comet": "nan"}, "cell.not-a-number"),
        ({"comet": "good"}, "cell.not-a-number"),
    ],
)
def test_a_cell_that_is_wrong_is_named(
    change: dict[str, str], code: str, data: Path, tmp_path: Path
) -> None:
    table = [{key: str(value) for key, value in row.items()} for row in rows()]
    pl.DataFrame([table[0] | change, *table[1:]]).write_csv(tmp_path / "x.csv")
    with refusal(code):
        compared(data, tmp_path / "x.csv")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "9" * 400])
def test_a_number_of_json_that_is_not_finite_is_named(
    number: str, data: Path, tmp_path: Path
) -> None:
    lines = [json.dumps(row) for row in rows()]
    lines[1] = f'{{"candidate_id": "1/b", "comet": {number}}}'
    (tmp_path / "x.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with refusal("cell.not-finite", "x.jsonl:2"):
        compared(data, tmp_path / "x.jsonl")


def test_two_values_of_one_candidate_are_refused(data: Path) -> None:
    again = {"candidate_id": "1/a", "comet": 0.8}
    with refusal("row.twice", "scores: row 5"):
        compared(data, [*rows(), again])
    assert passes(compared(data, [*rows(), rows()[0]]))["comet"] == 2  # the same value is one


def test_tables_that_do_not_fit_are_refused(data: Path) -> None:
    with refusal("scores.other-candidates", "scores"):
        compared(data, [{"text": "the cat", "comet": 1.0}])
    with refusal("name.unknown", "lower"):
        compared(data, rows(), lower=["gemba"])
    with refusal("scores.other-candidates", "lower"):
        compared(data, None, lower=["gemba"])
    with refusal("option.conflict"):
        metrics(data=[data], scores=rows())  # type: ignore[call-overload] # as the command does


def test_the_published_metrics_of_bump(nnd_data: Path, tmp_path: Path) -> None:
    convert("bump", origin=nnd_data / "bump", out=tmp_path / "bump")
    table: list[dict[str, Any]] = []
    wins: dict[str, int] = {}
    for task in ("task1", "task2"):
        text = (nnd_data / "bump" / "data" / f"{task}_dataset.json").read_text(encoding="utf-8")
        for row in json.loads(text):
            sides = {}
            for side, name in (("high", "_reference"), ("low", "_edited")):
                values = {
                    key.removesuffix(name): value
                    for key, value in row["scores"].items()
                    if key.endswith(name)
                }
                sides[side] = values
                table.append({"candidate_id": f"{task}/{row['id']}/{side}"} | values)
            for metric in sides["high"]:
                won = sides["high"][metric] > sides["low"][metric]
                wins[metric] = wins.get(metric, 0) + won
    judged = read_judged(tmp_path / "bump")
    found = read_values(table, judged.candidates).metrics
    passed = {
        name: prefer(of_metric.values, judged.pairs.pairs)["passed"].sum()
        for name, of_metric in found.items()
    }
    assert passed == wins
    assert (len(wins), wins["BARTScore"], wins["FactCC"]) == (12, 820, 506)


def test_a_table_of_too_many_metrics_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {"candidate_id": ["1/a"]} | {f"metric {n}": [1.0] for n in range(101)}
    with refusal("scores.too-many", "scores") as refused:
        read_values(pl.DataFrame(table), annotations())
    assert "NND_MAX_METRICS" in str(refused.value)

    monkeypatch.setenv("NND_MAX_METRICS", "101")
    assert len(read_values(pl.DataFrame(table), annotations()).metrics) == 101
