"""The built-in lists of runs: their names, and the arithmetic of what they state, on real data."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.table_2 import CATEGORIES

from nnd.converters.folder import convert
from nnd.metric.app import evaluate_runs
from nnd.metric.likelihood import Loading, Scoring
from nnd.metric.numbers import agree
from nnd.metric.other_metrics import find_scorers
from nnd.metric.run import RunEntry, find_built_in, read_entries, split_scorers
from nnd.schemas import ScoringError, load_yaml

Converted = Callable[[str], Path]
LISTS = ("edfaith", "golden", "laban2022")


def entries(name: str) -> list[RunEntry]:
    document = load_yaml(find_built_in(name).read_text(encoding="utf-8"))
    runs = split_scorers(document, Path(), str).runs
    return read_entries(runs, Path(), str, scoring=Scoring(), loading=Loading())


@pytest.fixture(scope="module")
def converted(nnd_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Converted:
    """`converted("challenge300")`: the folder of a source, made from the real file."""
    place = tmp_path_factory.mktemp("converted")

    @cache
    def folder(name: str) -> Path:
        convert(name, origin=nnd_data / name, out=place / name)
        return place / name

    return folder


def test_an_unknown_name_lists_the_built_in_ones(tmp_path: Path) -> None:
    with pytest.raises(ScoringError) as caught:
        evaluate_runs("laban2023", out=tmp_path / "out")
    assert str(caught.value) == (
        'laban2023: unknown list of runs (did you mean "laban2022"?); the built-in ones are '
        "edfaith, golden, laban2022; name a file of your own with its suffix, such as runs.yaml"
    )
    assert not (tmp_path / "out").exists()


def test_the_scorers_of_edfaith_are_those_of_its_tables() -> None:
    document = load_yaml(find_built_in("edfaith").read_text(encoding="utf-8"))
    scorers = split_scorers(document, Path(), str).scorers
    published = {e.scorer: e.published.spearman for e in scorers if e.published is not None}
    assert published == {
        "rouge1": 0.2462,
        "rouge2": 0.2626,
        "rouge3": 0.2415,
        "rougeL": 0.2461,
        "bertscore=FacebookAI/roberta-large-mnli": 0.2957,
        "bertscore=microsoft/deberta-v2-xxlarge-mnli": 0.2974,
        "bartscore_faithfulness=facebook/bart-large": 0.1315,
        "bartscore_faithfulness=facebook/bart-large-cnn": 0.1844,
        "prompted=bigscience/T0_3B": 0.3049,
        "prompted=bigscience/T0pp": 0.3780,
    }
    # Every scorer is one that `nnd metrics` knows.
    for entry in scorers:
        template = "{context}" if entry.template else "default"
        assert [each.name for each in find_scorers([entry.scorer], template=template)] == [
            entry.scorer
        ]


@pytest.mark.parametrize("name", LISTS)
def test_a_list_can_be_read(name: str) -> None:
    read = entries(name)
    assert len({(e.model, e.data, e.splits, e.manner) for e in read}) == len(read)
    assert all((e.published is None) == (name == "edfaith") for e in read)


def test_there_are_eighteen_golden_rows_and_the_paper_has_the_same() -> None:
    golden, paper = (
        {(e.model, e.data, e.splits): e for e in entries(name)} for name in ("golden", "laban2022")
    )
    assert len(golden) == 18
    shared = golden.keys() & paper.keys()
    assert len(shared) == 4 + 9  # all but the news summaries
    for key in shared:
        mine, other = golden[key], paper[key]
        assert (mine.published, mine.scoring) == (other.published, other.scoring)
    # Table 2 adds Macaw of 11B; Figure 3 has three models on SummEval and FRANK.
    assert len(paper) == len(shared) + 1 + 6


@pytest.mark.parametrize("entry", entries("golden"), ids=lambda e: f"{e.model}-{e.data[0]}")
def test_the_tests_of_a_golden_row_are_those_of_the_data(
    entry: RunEntry, converted: Converted
) -> None:
    pairs = pl.read_parquet(converted(*entry.data) / "pairs.parquet")
    pairs = pairs.filter(pl.col("split").is_in([*entry.splits])) if entry.splits else pairs
    published = entry.published
    assert published is not None
    assert published.n == pairs.n_unique(["context_id", "high_id", "low_id"]) == pairs.height
    for column, values in published.by.items():
        counts: dict[Any, int] = dict(pairs.group_by(column).len().iter_rows())
        assert {value: n for value, (_, n) in values.items()} == counts
        # Categories are of single tests here, so their passes sum to all.
        assert sum(passes for passes, _ in values.values()) == published.passes


# The passes of the seven judged systems on Quiz Design, overall and by CATEGORIES (fresh.md, H9).
JUDGED = {
    "dgpt2_sup": (1_206, 375, 332, 499),
    "gpt2b_sup": (1_406, 429, 442, 535),
    "gpt2m_sup": (1_633, 450, 574, 609),
    "bartb_sup": (1_601, 430, 574, 597),
    "bartl_sup": (1_725, 450, 630, 645),
    "prophetnet": (1_818, 413, 710, 695),
    "mixqg": (1_904, 476, 720, 708),
}
TESTS = (2_686, 711, 890, 1_085)


def test_passes_of_table_2_agree_with_people_as_the_paper_says(
    converted: Converted, tmp_path: Path
) -> None:
    stated = {e.model.split("/")[1].split("-")[0]: e.published for e in entries("laban2022")[:2]}
    for name, published in stated.items():
        assert published is not None
        by = [passes for passes, _ in published.by["error_category"].values()]
        assert (published.passes, *by) == JUDGED[name]
    rows = [
        (system, category, passes / n)
        for system, row in JUDGED.items()
        for category, passes, n in zip(CATEGORIES, row, TESTS, strict=True)
    ]
    table = tmp_path / "table_2.csv"
    pl.DataFrame(rows, ["model", "category", "pass_rate"], orient="row").write_csv(table)
    found = agree(table, converted("quiz_design")).to_dict()
    # Table 1: rank correlation 0.78 on question generation, the mean of tau-a over categories.
    assert round(found["mean"]["tau_a"], 2) == 0.78
    assert found["by_category"]["overall"]["tau_b"] == pytest.approx(17 / 21)  # 19 of 21 in order


# Pass rates in per cent that the paper prints for the models of laban2022 (Table 2).
PRINTED = {
    "microsoft/prophetnet-large-uncased-squad-qg": (67.7, 58.1, 79.8, 64.1),
    "Salesforce/mixqg-large": (70.9, 66.9, 80.9, 65.3),
    "Salesforce/mixqg-3b": (72.9, 69.5, 81.7, 67.8),
    "allenai/macaw-3b": (69.2, 70.3, 73.3, 65.1),
    "allenai/macaw-answer-11b": (70.6, 69.3, 78.0, 65.4),
}


def test_passes_give_the_rates_that_the_paper_prints() -> None:
    for entry in entries("laban2022")[: len(PRINTED)]:
        assert entry.published is not None
        parts = [*entry.published.by["error_category"].values()]
        whole = (entry.published.passes, entry.published.n)
        rates = [100 * passes / n for passes, n in (whole, *parts)]
        assert rates == pytest.approx(PRINTED[entry.model], abs=0.0501)
