"""Languages that models are told, where they are given: in a list of runs, or to the metric."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.models.told_models import told_model

from nnd.metric.app import evaluate_runs
from nnd.metric.likelihood import Scoring
from nnd.metric.run import evaluate
from nnd.metric.space.metric import NND

ROW = {
    "context": "The cat sat on the mat.",
    "candidate_high": "Pisica a stat pe covor.",
    "candidate_low": "Cine a scris covor rau",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("nllb")
    told_model("nllb", place)
    (place / "p.jsonl").write_text(json.dumps(ROW) + "\n", encoding="utf-8")
    return place


def likelihood(folder: Path, out: Path, **languages: str) -> Any:
    evaluate(folder / "model", [ROW], scoring=Scoring(**languages), out=out)  # type: ignore[arg-type]
    return pl.read_parquet(next(out.rglob("log_likelihoods.parquet")))["ll_high"][0]


def test_an_entry_of_a_list_says_languages(folder: Path, tmp_path: Path) -> None:
    entries = [
        {"model": str(folder / "model"), "data": str(folder / "p.jsonl"), "language": code}
        for code in ("de", "ro")
    ]
    entries[1]["context_language"] = "de"
    (tmp_path / "runs.yaml").write_text(json.dumps(entries), encoding="utf-8")
    found = evaluate_runs(tmp_path / "runs.yaml", out=tmp_path / "out").evaluations
    names = ["native+language-de", "native+language-ro+context_language-de"]
    assert [*found] == [f"{name}/p" for name in names]
    told = [each.results[0].languages for each in found.values()]
    assert [each and each.given for each in told] == [
        ("eng_Latn>deu_Latn",),
        ("deu_Latn>ron_Latn",),
    ]
    alone = likelihood(folder, tmp_path / "alone", language="ro", context_language="de")
    out = next((tmp_path / "out" / names[1]).rglob("log_likelihoods.parquet"))
    assert pl.read_parquet(out)["ll_high"][0] == alone


def test_the_store_never_serves_the_numbers_of_another_language(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NND_CACHE", str(tmp_path / "one"))
    first = likelihood(folder, tmp_path / "first", language="de")
    after = likelihood(folder, tmp_path / "after", language="ro")
    source = likelihood(folder, tmp_path / "source", language="ro", context_language="de")
    monkeypatch.setenv("NND_CACHE", str(tmp_path / "other"))
    assert after == likelihood(folder, tmp_path / "alone", language="ro")
    assert len({first, after, source}) == 3


def test_the_metric_takes_a_language_or_a_column_of_them(folder: Path) -> None:
    columns = {name: [text] for name, text in ROW.items()}
    metric = NND(model_id=folder / "model")
    by_option = metric.compute(language="ro", context_language="de", **columns)
    by_column = metric.compute(language=["ro"], context_language=["de"], **columns)
    assert by_option is not None
    assert by_column is not None
    for found in (by_option, by_column):
        assert found["languages"]["given"] == ["deu_Latn>ron_Latn"]
