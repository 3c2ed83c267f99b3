"""The fifteen metrics that QGEval published, through the lines of the guide, to its numbers."""

from pathlib import Path

import polars as pl
import pytest
from support.screens.doc_blocks import blocks

from nnd.converters.folder import convert
from nnd.metric.other_metrics.candidate_correlations import correlate_candidates
from nnd.metric.other_metrics.judged_candidates import CANDIDATE, read_judged
from nnd.metric.other_metrics.measuring_metrics import prefer
from nnd.metric.other_metrics.stored_values import read_values

PAGE = "cards/guide/does-it-agree.md"
TESTS = (1_913, 3_929)

# Counted without nnd (fresh.md, H3): Pearson with the score over all 3,000 questions, and pairs
# passed, under answerability and answer consistency.
GOLDEN = {
    "BLEU-4": ((0.080, 1_134), (0.162, 2_632)),
    "METEOR": ((0.131, 1_176), (0.253, 2_760)),
    "ROUGE-L": ((0.127, 1_124), (0.233, 2_614)),
    "BERTScore": ((0.131, 1_136), (0.231, 2_613)),
    "BLEURT": ((0.144, 1_143), (0.271, 2_805)),
    "BARTScore-src": ((0.018, 1_116), (-0.015, 2_014)),
    "GPTScore-src": ((0.147, 1_170), (0.236, 2_585)),
    "UniEval": ((0.207, 1_384), (0.356, 3_097)),
    "QRelScore": ((-0.026, 1_028), (-0.025, 1_884)),
    "RQUGE": ((0.211, 1_130), (0.561, 3_037)),
}
OTHERS = {"MoverScore", "Q-BLEU4", "QSTS", "BARTScore-ref", "GPTScore-ref"}


def test_the_published_metrics_pass_as_counted(
    nnd_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    convert("qgeval", origin=nnd_data / "qgeval", out=tmp_path / "qgeval")
    judged = read_judged(tmp_path / "qgeval", aspect="answer_consistency")
    monkeypatch.chdir(tmp_path)
    Path("metric_result.xlsx").symlink_to(nnd_data / "qgeval" / "metric_result.xlsx")
    (lines,) = (block for block in blocks(PAGE) if block.language == "python")
    exec(lines.text, {})  # noqa: S102 - the lines of the guide
    table = read_values(Path("values.csv"), judged.candidates)
    assert table.metrics.keys() == GOLDEN.keys() | OTHERS
    for metric, (_, (pearson, passes)) in GOLDEN.items():
        scores = table.metrics[metric].values
        assert scores.height == 3_000
        scored = prefer(scores, judged.pairs.pairs)
        assert (scored.height, scored["passed"].sum()) == (TESTS[1], passes)
        if metric in ("RQUGE", "BARTScore-src"):  # the highest and the lowest; others take long
            judgements = judged.human.join(judged.candidates, on=CANDIDATE)
            found = correlate_candidates(judgements.join(scores, on=CANDIDATE))
            assert found.sample["pearson"] == pytest.approx(pearson, abs=5.1e-4)
    # The table of the page on one of the two sets.
    pairs = judged.pairs.pairs.filter(pl.col("system_high").str.starts_with("HotpotQA"))
    for metric, found_values in table.metrics.items():
        passes = prefer(found_values.values, pairs)["passed"].sum()
        assert page_rows(3)[metric][0] == f"{passes:,} ({100 * passes / 2_395:.1f} %)"


def page_rows(columns: int) -> dict[str, list[str]]:
    """The rows of a table of the page, by their first cell."""
    text = Path(__file__).parents[3].joinpath(PAGE).read_text(encoding="utf-8")
    cells = (
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in text.splitlines()
        if line.startswith("| ")
    )
    return {row[0]: row[1:] for row in cells if len(row) == columns}


def test_the_page_has_the_counted_numbers() -> None:
    for metric, of_aspects in GOLDEN.items():
        cells = [
            cell
            for (pearson, passes), n in zip(of_aspects, TESTS, strict=True)
            for cell in (f"{passes:,} ({100 * passes / n:.1f} %)", f"{pearson:.3f}")
        ]
        assert page_rows(5)[metric] == cells
