"""Sources whose judged systems can be loaded: published counts and rates of their systems."""

from pathlib import Path

import polars as pl
import pytest

from nnd.converters.folder.conversion import Conversion, convert

FIB = {
    "distil-bart": (90, 500),
    "bart-large": (86, 500),
    "distil-pegasus": (63, 500),
    "pegasus": (62, 500),
    "bart-base": (37, 500),
    "bloom-560m": (21, 498),
    "t5-large": (17, 500),
    "reference": (500, 500),
}
"""Consistent and all summaries of each system (../shared/facts/fresh.md, H2b)."""

FIB_BENCHMARK = {
    "bart-base": 463,
    "bart-large": 414,
    "bloom-560m": 477,
    "distil-bart": 410,
    "distil-pegasus": 437,
    "pegasus": 438,
    "t5-large": 483,
}
"""Pairs of the reference and an inconsistent summary of each system, as they were published."""


def overall(conversion: Conversion) -> dict[str, tuple[float, int]]:
    """System → its score and the number of its candidates."""
    rows = conversion.human_scores.filter(category="overall")
    return {system: (score, n) for system, score, n in rows.select("system", "score", "n").rows()}


def test_fib(nnd_data: Path) -> None:
    conversion = convert("fib", origin=nnd_data / "fib")
    is_reference = pl.col("system_high") == "reference"
    benchmark, others = (conversion.pairs.filter(is_it) for is_it in (is_reference, ~is_reference))

    assert dict(benchmark["system_low"].value_counts().iter_rows()) == FIB_BENCHMARK
    assert (others.height, others["context_id"].n_unique()) == (1_633, 185)
    assert overall(conversion) == {system: (k / n, n) for system, (k, n) in FIB.items()}


def test_no_candidate_of_fib_begins_or_ends_with_a_space(nnd_data: Path) -> None:
    # 1,081 of the 3,498 summaries in the files begin with one, all those of bart-base.
    candidates = convert("fib", origin=nnd_data / "fib").annotations["candidate"]

    assert (candidates == candidates.str.strip_chars()).all()


QGEVAL = {
    "reference": (2.968, 2.930, 2.998, 2.993, 2.923, 2.832, 2.768),
    "BART-base_finetune": (2.958, 2.882, 2.898, 2.995, 2.920, 2.732, 2.588),
    "BART-large_finetune": (2.932, 2.915, 2.828, 2.995, 2.935, 2.825, 2.737),
    "T5-base_finetune": (2.972, 2.923, 2.922, 3.000, 2.917, 2.788, 2.652),
    "T5-large_finetune": (2.978, 2.930, 2.907, 2.995, 2.933, 2.795, 2.720),
    "FlanT5-base_finetune": (2.963, 2.888, 2.938, 2.998, 2.925, 2.775, 2.665),
    "FlanT5-large_finetune": (2.982, 2.902, 2.895, 2.995, 2.950, 2.818, 2.727),
    "FlanT5-xl_lora": (2.913, 2.843, 2.880, 2.997, 2.928, 2.772, 2.667),
    "FlanT5-xxl_lora": (2.938, 2.848, 2.907, 3.000, 2.943, 2.757, 2.678),
    "FlanT5-xl_fewshot": (2.975, 2.820, 2.985, 2.955, 2.908, 2.652, 2.193),
    "FlanT5-xxl_fewshot": (2.987, 2.882, 2.990, 2.988, 2.920, 2.687, 2.432),
    "GPT-3.5-turbo_fewshot": (2.972, 2.927, 2.858, 2.995, 2.955, 2.850, 2.335),
    "GPT-4-1106-preview_fewshot": (2.988, 2.987, 2.897, 2.992, 2.947, 2.922, 2.772),
    "GPT-3.5-turbo_zeroshot": (2.995, 2.977, 2.913, 2.992, 2.917, 2.823, 2.157),
    "GPT-4-1106-preview_zeroshot": (2.983, 2.990, 2.943, 2.970, 2.932, 2.883, 2.723),
}
"""Mean ratings of each system over both sets, as the README of QGEval prints them."""

QGEVAL_ASPECTS = (
    *("fluency", "clarity", "conciseness", "relevance", "consistency"),
    *("answerability", "answer_consistency"),
)


def test_the_published_means_of_qgeval(nnd_data: Path) -> None:
    rows = convert("qgeval", origin=nnd_data / "qgeval").human_scores.filter(category="overall")
    system = pl.col("system").str.replace(r"^(SQuAD|HotpotQA)_", "")
    # 100 questions of either set; the published means are rounded from means of four digits.
    means = rows.group_by(system, "aspect").agg(pl.col("score").mean(), pl.col("n").sum())

    assert set(means["n"]) == {200}
    found = {row[:2]: row[2] for row in means.select("system", "aspect", "score").iter_rows()}
    assert found == {
        (name, aspect): pytest.approx(mean, abs=0.001)
        for name, means_of in QGEVAL.items()
        for aspect, mean in zip(QGEVAL_ASPECTS, means_of, strict=True)
    }


FAITHBENCH = {
    "microsoft/Phi-3-mini-4k-instruct": 0.213,
    "mistralai/Mistral-7B-Instruct-v0.3": 0.240,
    "Qwen/Qwen2.5-7B-Instruct": 0.240,
    "meta-llama/Meta-Llama-3.1-8B-Instruct": 0.307,
    "meta-llama/Meta-Llama-3.1-70B-Instruct": 0.373,
    "cohere/command-r-08-2024": 0.187,
    "Anthropic/claude-3-5-sonnet-20240620": 0.333,
    "google/gemini-1.5-flash-001": 0.400,
    "openai/gpt-4o": 0.440,
    "openai/GPT-3.5-Turbo": 0.453,
}
"""Share of the 75 summaries of a system that are neither unwanted nor questionable (H5)."""


def test_the_authors_label_of_faithbench(nnd_data: Path) -> None:
    conversion = convert("faithbench", origin=nnd_data / "faithbench", variant="binary")

    found = {system: (round(share, 3), n) for system, (share, n) in overall(conversion).items()}
    assert found == {system: (share, 75) for system, share in FAITHBENCH.items()}


def test_no_annotator_of_faithbench_is_named(nnd_data: Path) -> None:
    conversion = convert("faithbench", origin=nnd_data / "faithbench")

    assert conversion.annotations["annotators"].null_count() == conversion.annotations.height


def test_d2t_eval(nnd_data: Path) -> None:
    conversion = convert("d2t_eval", origin=nnd_data / "d2t_eval")

    assert conversion.pairs["context_id"].n_unique() == 170
    # Texts that no annotator marked, of 300 (counted by hand from the rows of the split `test`).
    assert overall(conversion) == {
        "gpt4o": (112 / 300, 300),
        "llama3-3": (106 / 300, 300),
        "gemma2": (47 / 300, 300),
        "phi3-5": (10 / 300, 300),
    }
