"""Numbers that papers published, from one command on the real files and without any weights."""

import json
import math
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
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
        assert details[10] == "0.550"  # mean tau-a
        (said,) = [
            line for line in out.splitlines() if line.startswith("Rank correlation over systems")
        ]
        assert f" {row['name']} 0.550" in said


# Table 1 of the NND paper for a metric without references, by loops over the annotations: the mean
# length of a system's questions against 1 - share with each error, tau-a and Pearson's r of the
# gaps of all pairs of systems (i before j), each a mean over the three errors.

ORDER = ("dgpt2_sup", "gpt2b_sup", "gpt2m_sup", "bartb_sup", "bartl_sup", "prophetnet", "mixqg")


def tau_and_gap(ours: list[float], theirs: list[float]) -> tuple[float, float]:
    pairs = [(i, j) for i in range(len(ours)) for j in range(i + 1, len(ours))]
    gaps = [(ours[i] - ours[j], theirs[i] - theirs[j]) for i, j in pairs]
    tau = sum(math.copysign(1, a * b) if a * b else 0 for a, b in gaps) / len(gaps)
    means = [sum(gap[side] for gap in gaps) / len(gaps) for side in (0, 1)]
    products, squares = 0.0, [0.0, 0.0]
    for a, b in gaps:
        products += (a - means[0]) * (b - means[1])
        squares = [squares[0] + (a - means[0]) ** 2, squares[1] + (b - means[1]) ** 2]
    return tau, products / math.sqrt(squares[0] * squares[1])


def table_1_of_length(rows: list[dict[str, Any]], order: Sequence[str]) -> tuple[float, float]:
    lengths: dict[str, list[int]] = {system: [] for system in order}
    labels: dict[str, list[str]] = {system: [] for system in order}
    for row in rows:
        for system in row["system"].split("|"):
            lengths[system].append(len(row["candidate"]))
            labels[system].append(row["label"])
    ours = [sum(lengths[system]) / len(lengths[system]) for system in order]
    found = []
    for error in ("disfluent", "off_target", "wrong_context"):
        theirs = [1 - labels[system].count(error) / len(labels[system]) for system in order]
        found.append(tau_and_gap(ours, theirs))
    return sum(tau for tau, _ in found) / 3, sum(gap for _, gap in found) / 3


def test_table_1_of_the_nnd_paper_for_another_metric(
    command: Callable[[str], tuple[str, dict[str, Any]]], nnd_data: Path, tmp_path: Path
) -> None:
    convert("quiz_design", origin=nnd_data / "quiz_design", out=tmp_path / "quiz_design")
    rows = pl.read_parquet(tmp_path / "quiz_design/annotations.parquet").to_dicts()
    asked = "metrics --data quiz_design --scorer length --statistics laban2022 --over "
    gaps = set()
    for order in (ORDER, ORDER[::-1], (*ORDER[3:], *ORDER[:3])):
        tau, gap = table_1_of_length(rows, order)
        out, _ = command(asked + ",".join(order))
        (cells,) = rows_of(out, "length")
        assert cells[-3:-1] == [f"{tau:.3f}", f"{gap:.3f}"]
        assert f"Order of the systems for gap r (laban2022): {', '.join(order)}." in out
        gaps.add(round(gap, 3))
    assert len(gaps) > 1  # it depends on the order
    assert {round(table_1_of_length(rows, ORDER)[0], 3)} == {0.365}
