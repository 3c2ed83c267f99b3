"""Agreement of the rates at equal length: for each model its own fit, over the same contexts."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.special import expit
from support.refusals import refusal
from support.screens.tables import lines, row
from support.two_models import people, scored, write_run

from nnd.metric.numbers import agree
from nnd.metric.numbers.rates.pass_rates import pass_rates
from nnd.metric.numbers.statistics.correlations import STATISTICS

KNOWN = {"ant": 0.55, "bee": 0.65, "cat": 0.75, "dog": 0.85}
"""Model → its true rate at equal length; the raw rates are nearly in the opposite order."""

SLOPES = {"ant": 6.0, "bee": 4.0, "cat": 0.0, "dog": -4.0}


def pretend(model: str, **columns: Any) -> pl.DataFrame:
    """300 tests of 60 contexts, whose better text has 1.35 times as many tokens."""
    rng = np.random.default_rng(0)
    low = rng.integers(6, 25, 300)
    high = np.maximum(1, np.round(low * np.exp(rng.normal(0.3, 0.3, 300)))).astype(int)
    odds = np.log(KNOWN[model] / (1 - KNOWN[model]))
    chance = expit(odds + SLOPES[model] * np.log(high / low))
    verdicts = "".join("+" if u < p else "-" for u, p in zip(rng.random(300), chance, strict=True))
    return scored(
        model,
        verdicts,
        **{
            "context_id": [f"c{number // 5}" for number in range(300)],
            "tokens_high": high.tolist(),
            "tokens_low": low.tolist(),
            "end_tokens": [0] * 300,
            "aspect": "quality",
            "error_category": "wrong",
        }
        | columns,
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("runs")
    return [write_run(folder / model, pretend(model)) for model in KNOWN]


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("people") / "human_scores.parquet"
    people({"quality": KNOWN}).write_parquet(path)
    return path


def test_length_turns_the_order_round(runs: list[Path], scores: Path) -> None:
    found = agree(runs, human_scores=scores)
    raw, equal = found.by_category["overall"], found.equal_length["overall"]
    assert raw.statistics["tau_b"] == pytest.approx(-2 / 3)
    assert equal.statistics["tau_b"] == 1
    assert (equal.n, equal.dropped) == (4, 0)
    rates = [pass_rates(pretend(model).drop("model")).overall.equal_length for model in KNOWN]
    fitted = [each.pass_rate for each in rates if each is not None]
    expected = STATISTICS["pearson"](fitted, [*KNOWN.values()])
    assert equal.statistics["pearson"] == pytest.approx(expected)
    low, high = equal.intervals["pearson"] or (0, 0)
    assert low < (equal.statistics["pearson"] or 0) <= high
    (line,) = [each for each in found.details() if str(each).startswith("at equal tokens")]
    assert str(line).startswith("at equal tokens, 4 systems: tau-b 1.000, gap r 0.9")


def test_a_model_without_a_fit_is_dropped(runs: list[Path], scores: Path, tmp_path: Path) -> None:
    same = write_run(tmp_path / "dog", pretend("dog", tokens_high=[5] * 300, tokens_low=[5] * 300))
    found = agree([*runs[:3], same], human_scores=scores).equal_length["overall"]
    assert (found.n, found.dropped) == (3, 1)


def test_without_numbers_of_tokens_there_is_none(
    runs: list[Path], scores: Path, tmp_path: Path
) -> None:
    older = write_run(tmp_path / "dog", pretend("dog", end_tokens=None))
    assert agree([*runs[:3], older], human_scores=scores).equal_length == {}


def test_columns_are_chosen(runs: list[Path], scores: Path) -> None:
    table = agree(runs, human_scores=scores, statistics="wmt").table()
    assert table is not None
    assert lines(table)[0] == "category systems system accuracy Pearson r tau-b"
    assert row(table, "overall").startswith("4 0.167 [0.00, 0.51] -0.807 [")
    found = agree(runs, human_scores=scores, statistics="spearman, nnd")
    assert found.columns == ("spearman", "tau_b", "gap_r")
    with refusal("option.unknown-value"):
        agree(runs, human_scores=scores, statistics="spearmn")
