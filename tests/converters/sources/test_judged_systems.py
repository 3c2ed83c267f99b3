"""Sources whose judged systems can be loaded: published counts and rates of their systems."""

import ast
from pathlib import Path
from statistics import correlation

import polars as pl
import pytest
from support.recounts.counted_again import converted
from support.recounts.judged_systems import read_sheet

from nnd.converters.folder.conversion import Conversion
from nnd.converters.source import load_source

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
    conversion = converted("fib", nnd_data / "fib")
    is_reference = pl.col("system_high") == "reference"
    benchmark, others = (conversion.pairs.filter(is_it) for is_it in (is_reference, ~is_reference))

    assert dict(benchmark["system_low"].value_counts().iter_rows()) == FIB_BENCHMARK
    assert (others.height, others["context_id"].n_unique()) == (1_633, 185)
    assert overall(conversion) == {system: (k / n, n) for system, (k, n) in FIB.items()}


def test_no_candidate_of_fib_begins_or_ends_with_a_space(nnd_data: Path) -> None:
    # 1,081 of the 3,498 summaries in the files begin with one, all those of bart-base.
    candidates = converted("fib", nnd_data / "fib").annotations["candidate"]

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
    rows = converted("qgeval", nnd_data / "qgeval").human_scores.filter(category="overall")
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


METRICS = {
    "BLEU-4": (0.080, 0.162, 1_134, 2_632),
    "METEOR": (0.131, 0.253, 1_176, 2_760),
    "ROUGE-L": (0.127, 0.233, 1_124, 2_614),
    "BERTScore": (0.131, 0.231, 1_136, 2_613),
    "BLEURT": (0.144, 0.271, 1_143, 2_805),
    "BARTScore-src": (0.018, -0.015, 1_116, 2_014),
    "GPTScore-src": (0.147, 0.236, 1_170, 2_585),
    "UniEval": (0.207, 0.356, 1_384, 3_097),
    "QRelScore": (-0.026, -0.025, 1_028, 1_884),
    "RQUGE": (0.211, 0.561, 1_130, 3_037),
}
"""Pearson's correlation with answerability and answer consistency, and the passes of their pairs
(H3)."""


@pytest.fixture(scope="module")
def judged_questions(nnd_data: Path) -> tuple[Conversion, list[dict[str, str]]]:
    """What QGEval gives, and the rows of its stored metrics."""
    sheet = read_sheet(nnd_data / "qgeval/metric_result.xlsx")
    return converted("qgeval", nnd_data / "qgeval"), sheet


@pytest.mark.parametrize("metric", METRICS)
def test_the_stored_metrics_of_qgeval(
    metric: str, judged_questions: tuple[Conversion, list[dict[str, str]]]
) -> None:
    conversion, sheet = judged_questions
    for place, (aspect, n) in enumerate((("answerability", 1_913), ("answer_consistency", 3_929))):
        values = {}
        for row in sheet:
            stored = ast.literal_eval(row[metric])  # a number, or one for each aspect
            value = stored[aspect] if isinstance(stored, dict) else stored
            values[f"{row['id']}/{row['source']}"] = float(value)
        scores = conversion.annotations.filter(aspect=aspect).select("candidate_id", "score")
        ids, judged = (scores[name].to_list() for name in scores.columns)
        pairs = conversion.pairs.filter(aspect=aspect).select("high_id", "low_id").rows()
        passes = sum(values[high] > values[low] for high, low in pairs)  # a tie fails

        r = correlation([values[candidate] for candidate in ids], judged)
        assert (round(r, 3), passes) == (METRICS[metric][place], METRICS[metric][place + 2])
        assert len(pairs) == n


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
    conversion = converted("faithbench", nnd_data / "faithbench", variant="binary")

    found = {system: (round(share, 3), n) for system, (share, n) in overall(conversion).items()}
    assert found == {system: (share, 75) for system, share in FAITHBENCH.items()}


def test_no_annotator_of_faithbench_is_named(nnd_data: Path) -> None:
    conversion = converted("faithbench", nnd_data / "faithbench")

    assert conversion.annotations["annotators"].null_count() == conversion.annotations.height


def test_d2t_eval(nnd_data: Path) -> None:
    conversion = converted("d2t_eval", nnd_data / "d2t_eval")

    assert conversion.pairs["context_id"].n_unique() == 170
    # Texts that no annotator marked, of 300 (counted by hand from the rows of the split `test`).
    assert overall(conversion) == {
        "gpt4o": (112 / 300, 300),
        "llama3-3": (106 / 300, 300),
        "gemma2": (47 / 300, 300),
        "phi3-5": (10 / 300, 300),
    }


def test_quintd(nnd_data: Path) -> None:
    conversion = converted("quintd", nnd_data / "quintd")
    tests = conversion.pairs.unique(["high_id", "low_id"])

    # H6: pairs of each domain, and the texts without a span of 500.
    assert dict(tests["category"].value_counts().iter_rows()) == {
        "openweather": 97,
        "gsmarena": 207,
        "ice_hockey": 133,
        "owid": 174,
        "wikidata": 240,
    }
    assert conversion.pairs["context_id"].n_unique() == 256
    assert overall(conversion) == {
        "gpt-3.5": (197 / 500, 500),
        "zephyr": (122 / 500, 500),
        "mistral": (94 / 500, 500),
        "llama2": (72 / 500, 500),
    }
    # ../shared/facts/fresh.md: 5,500 spans, of which one is off. Five more mark nothing, in texts
    # of one character.
    assert conversion.manifest["oddities"] == [
        "human/*.jsonl: spans left out, whose words are not at their place: 6"
    ]
    assert conversion.annotations["spans"].explode().drop_nulls().len() == 5_494


def test_nothing_of_quintd_says_who_annotated(nnd_data: Path, tmp_path: Path) -> None:
    place = nnd_data / "quintd"
    converted("quintd", place).write(tmp_path)
    names = [path.stem for path in (place / "data/quintd-1/annotations/human").iterdir()]
    people = {name.split("-")[1] for name in names}
    source = load_source("quintd").folder
    texts = [(tmp_path / "manifest.json").read_text()]
    texts += [path.read_text() for path in source.rglob("*") if path.suffix in {".yaml", ".py"}]
    annotations = pl.read_parquet(tmp_path / "annotations.parquet")

    assert len(people) > 90
    assert not any(person in text for person in people for text in texts)
    assert annotations["annotators"].null_count() == annotations.height


def test_ragtruth_as_faithjudge_published_it(nnd_data: Path) -> None:
    origin = nnd_data / "ragtruth_faithjudge"
    conversion = converted("ragtruth", origin, set_name="faithjudge")
    tests = conversion.pairs.unique(["high_id", "low_id"])

    # H4: pairs and contexts of each task, and the shares of responses without a span.
    counts = tests.group_by("category").agg(pl.len(), contexts=pl.col("context_id").n_unique())
    assert {row[0]: row[1:] for row in counts.iter_rows()} == {
        "QA": (891, 138),
        "Summary": (939, 149),
        "Data2txt": (1_087, 144),
    }
    assert {system: round(share, 3) for system, (share, _) in overall(conversion).items()} == {
        "gpt-4-0613": 0.890,
        "gpt-3.5-turbo-0613": 0.880,
        "llama-2-70b-chat": 0.558,
        "llama-2-13b-chat": 0.462,
        "llama-2-7b-chat": 0.396,
        "mistral-7B-instruct": 0.339,
    }
