"""Numbers that papers published, from one command on the real files and without any weights."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.screens.commands import Nnd

from nnd.converters.folder import convert


@pytest.fixture
def command(
    nnd: Nnd, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], tuple[str, dict[str, Any]]]:
    """`command("metrics --data DATA")`: what it prints, and metrics.json."""
    monkeypatch.setenv("COLUMNS", "300")

    def run(line: str) -> tuple[str, dict[str, Any]]:
        ran = nnd(*line.split(), "--out", "out")
        assert ran.code == 0, ran.err
        found: dict[str, Any] = json.loads(Path("out", "metrics.json").read_text())
        return ran.out, found

    return run


def rows_of(out: str, name: str) -> list[list[str]]:
    """The cells of every row of a table that begins with a name."""
    return [line.split() for line in out.splitlines() if line.startswith(f" {name} ")]


# MetaSAMSum, ROUGE against the reference with stemmer, the 597 of 600 summaries that have a score:
# Spearman is Table 4 of the ED-FAITH paper; Pearson and tau-b go with it.
META_SAMSUM = {
    "rouge1": (0.2462, 0.2755, 0.1772),
    "rouge2": (0.2626, 0.2887, 0.1886),
    "rouge3": (0.2415, 0.2675, 0.1790),
    "rougeL": (0.2461, 0.2844, 0.1749),
}
MEAN_SCORES = {
    "BART-Baseline": 5.54,
    "BART-Cons": 7.25,
    "Pegasus-Baseline": 6.26,
    "Pegasus-Cons": 6.77,
    "T5-Baseline": 5.42268,  # 97 of 100 have a score
    "T5-Cons": 6.92,
}


def test_the_table_of_ed_faith(
    command: Callable[[str], tuple[str, dict[str, Any]]],
    nnd_data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cache = tmp_path / "cache"
    monkeypatch.setenv("NND_CACHE", str(cache))
    shutil.copytree(nnd_data / "confit_samsum", cache / "confit_samsum")  # as if downloaded

    out, found = command(
        f"metrics --data confit_samsum --details --scorer {' --scorer '.join(META_SAMSUM)}"
    )

    for row in found["rows"]:
        candidates = row["candidates"]["faithfulness"]
        spearman, pearson, tau_b = META_SAMSUM[row["name"]]
        expected = {"spearman": spearman, "pearson": pearson, "tau_b": tau_b}
        assert candidates["sample"] == pytest.approx(expected, abs=5e-5)
        assert (candidates["n"], candidates["unjudged"], candidates["systems"]) == (597, 3, 6)
        brief, _ = rows_of(out, row["name"])
        assert brief[-2] == f"{candidates['sample']['spearman']:.3f}"
    means = {name: each["mean"] for name, each in found["people"]["faithfulness"].items()}
    assert means == pytest.approx(MEAN_SCORES, abs=5e-6)
    assert found["people"]["faithfulness"]["T5-Baseline"]["n"] == 97
    assert "the candidate's score" in out
    assert rows_of(out, "T5-Cons") == [["T5-Cons", "6.920"]]


@pytest.mark.parametrize(
    "scorers",
    [
        "--scorer rouge2",
        pytest.param("--scorer rouge1 --scorer rouge2 --scorer rougeL", marks=pytest.mark.full),
    ],
    ids=["rouge2", "all"],
)
def test_the_rouge_rows_of_the_nnd_paper(
    scorers: str,
    command: Callable[[str], tuple[str, dict[str, Any]]],
    nnd_data: Path,
    tmp_path: Path,
) -> None:
    convert("summeval", origin=nnd_data / "summeval", out=tmp_path / "summeval")

    out, found = command(
        f"metrics --data ./summeval --several first --over M9,M17,M20,M22,M23 --details {scorers}"
    )

    assert len(found["rows"]) == scorers.count("--scorer")
    for row in found["rows"]:
        by_aspect = {name: each["tau_a"] for name, each in row["systems"]["by_category"].items()}
        del by_aspect["overall"]
        assert by_aspect == pytest.approx(
            {"coherence": 0.4, "consistency": 0.4, "fluency": 0.6, "relevance": 0.8}
        )
        assert row["systems"]["mean"]["tau_a"] == pytest.approx(0.55)
        _, details = rows_of(out, row["name"])
        assert details[9] == "0.550"  # mean tau-a
        (said,) = [
            line for line in out.splitlines() if line.startswith("Rank correlation over systems")
        ]
        assert f" {row['name']} 0.550" in said
