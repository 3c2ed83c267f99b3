"""The worked example of negatives that a model writes, run as people run it."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import nnd

EXAMPLE = Path(__file__).parent / "examples" / "negatives_by_model.py"


@pytest.mark.parametrize("function", ["mask_entity", "hallucinate", "low_confidence"])
def test_a_model_writes_negatives(
    function: str,
    saved: Callable[[str], Path],
    sample: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NND_EXAMPLE_MODEL", str(saved("bart")))
    code = EXAMPLE.read_text(encoding="utf-8").replace("MOST_TOKENS = 142", "MOST_TOKENS = 8")
    example = tmp_path / EXAMPLE.name
    example.write_text(code, encoding="utf-8")
    report = nnd.derive(
        sample,
        [f"{example}:{function}"],
        out=tmp_path / "suite",
        negatives="preferred",
        aspect="question",
        seed=1,
    )
    pairs = pl.read_parquet(tmp_path / "suite" / "sets" / f"{function}.parquet")

    assert report.sets[0]["operation"] == function
    assert pairs["origin"].unique().to_list() == [f"synthetic:{function}"]
    assert pairs.filter(pl.col("candidate_high") == pl.col("candidate_low")).is_empty()
    if function == "hallucinate":  # it goes on from the text's own beginning
        begin_alike = pl.col("candidate_low").str.slice(0, 3) == pl.col("candidate_high").str.slice(
            0, 3
        )
        assert pairs.select(begin_alike.all()).item()
    assert nnd.validate(tmp_path / "suite").ok
