"""The built-in lists of runs: their names, and the arithmetic of what they state, on real data."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.table_2 import CATEGORIES, SYSTEMS

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
    if name == "golden":
        assert all(entry.published is not None for entry in read)


def elements(wanted: str) -> list[RunEntry]:
    """The entries of laban2022 that repeat an element, in order."""
    return [entry for entry in entries("laban2022") if wanted in entry.elements]


# Section 3.1: "GPT2-{distil,base,med}, BART-{base,large}, ProphetNet and MixQG-Large", in the order
# of the notebook; section 3.1: "MixQG-3B, and Macaw-{3B-11B}".
QGEN = ["dgpt2_sup", "gpt2b_sup", "gpt2m_sup", "bartb_sup", "bartl_sup"]
QGEN += ["microsoft/prophetnet-large-uncased-squad-qg", "Salesforce/mixqg-large"]
NEWER = ["Salesforce/mixqg-3b", "allenai/macaw-3b", "allenai/macaw-answer-11b"]
# Section 5.3: T5 (Small, Large, 3B, 11B), UnifiedQA (Small, Base, Large, 3B, 11B), Macaw (Large,
# 3B, 11B).
FIGURE_3 = [f"google/t5-{size}-ssm-nq" for size in ("small", "large", "xl", "xxl")]
FIGURE_3 += [f"allenai/unifiedqa-t5-{size}" for size in ("small", "base", "large", "3b", "11b")]
FIGURE_3 += [f"allenai/macaw-{size}" for size in ("large", "3b", "11b")]
# Section 5.2 names two models, and SummEval calls them M22 and M23.
FIGURE_2 = ["facebook/bart-large-cnn", "google/pegasus-cnn_dailymail"]


@pytest.mark.parametrize(
    ("element", "data", "models"),
    [
        ("Table 2", "quiz_design", [*QGEN, *NEWER]),
        ("Figure 2 (a)", "summeval", FIGURE_2),
        ("Figure 2 (b)", "frank", FIGURE_2),
        ("Figure 3", "challenge300", FIGURE_3),
    ],
)
def test_an_element_of_the_paper_has_its_models_and_its_data(
    element: str, data: str, models: list[str]
) -> None:
    found = elements(element)
    assert [entry.model for entry in found] == models
    assert {entry.data for entry in found} == {(data,)}
    assert {entry.scoring.protocol for entry in found} == {"laban2022"}


def test_table_1_has_seven_three_and_five_systems() -> None:
    systems: dict[str, list[str]] = {}
    for entry in elements("Table 1"):
        systems.setdefault(entry.data[0], []).append(entry.system or entry.model)
    assert systems.keys() == {"quiz_design", "challenge300", "summeval"}
    assert systems["quiz_design"] == QGEN
    of_11b = [f"allenai/macaw-{kind}11b" for kind in ("", "answer-")]
    assert {*systems["challenge300"]} == {"google/t5-xxl-ssm-nq", *of_11b}
    assert {*systems["summeval"]} == {"M9", "M17", "M20", "M22", "M23"}


def test_every_entry_names_what_it_repeats_and_says_what_nobody_can_load() -> None:
    for entry in entries("laban2022"):
        assert entry.elements, entry.where
        assert (entry.download is None) == (entry.unavailable is not None), entry.where
    left_out = [entry.model for entry in entries("laban2022") if entry.unavailable is not None]
    assert left_out == [*QGEN[:5], "M9", "M17", "M20"]


def test_errors_of_frank_add_up_to_their_groups() -> None:
    groups = {
        "semantic frame": ("RelE", "EntE", "CircE"),
        "discourse": ("CorefE", "LinkE"),
        "content verifiability": ("OutE", "GramE"),
    }
    listed = [entry for entry in entries("laban2022") if entry.data == ("frank",)]
    assert len(listed) == 3
    for entry in listed:
        assert entry.published is not None
        by = entry.published.by
        for group, errors in groups.items():
            sums = [sum(by["error_category"][name][side] for name in errors) for side in (0, 1)]
            assert [*by["error_group"][group]] == sums


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
    # Table 2 adds Macaw of 11B and five models that were not published; Figure 3 adds three of
    # 11B, and Table 1 Macaw-answer; three models are on SummEval and on FRANK, and three more
    # systems of SummEval are in Table 1.
    assert len(paper) == len(shared) + 1 + 5 + 3 + 1 + 6 + 3


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


TESTS = (2_686, 711, 890, 1_085)


def test_passes_of_table_2_agree_with_people_as_the_paper_says(
    converted: Converted, tmp_path: Path
) -> None:
    rows = []
    for system, entry in zip(SYSTEMS.values(), elements("Table 2"), strict=False):
        assert entry.published is not None
        by = [passes for passes, _ in entry.published.by["error_category"].values()]
        passes = zip(CATEGORIES, (entry.published.passes, *by), TESTS, strict=True)
        rows += [(system, category, passed / n) for category, passed, n in passes]
    table = tmp_path / "table_2.csv"
    pl.DataFrame(rows, ["model", "category", "pass_rate"], orient="row").write_csv(table)
    found = agree(table, converted("quiz_design")).to_dict()
    # Table 1: 0.78 and 0.80 on question generation, means over the error types.
    assert round(found["mean"]["tau_a"], 2) == 0.78
    assert round(found["mean"]["gap_r_laban2022"], 2) == 0.80
    assert found["by_category"]["overall"]["tau_b"] == pytest.approx(17 / 21)  # 19 of 21 in order


# Pass rates in per cent that the paper prints for the models of laban2022 (Table 2). It prints 37.0
# for Distil-GPT2 on Off Target, where the notebook has 332 of 890, 37.3: with 37.0, the three
# categories would not make the 44.9 of all tests.
PRINTED = {
    "dgpt2_sup": (44.9, 52.7, 37.3, 46.0),
    "gpt2b_sup": (52.3, 60.3, 49.7, 49.3),
    "gpt2m_sup": (60.8, 63.3, 64.5, 56.1),
    "bartb_sup": (59.6, 60.5, 64.5, 55.0),
    "bartl_sup": (64.2, 63.3, 70.8, 59.4),
    "microsoft/prophetnet-large-uncased-squad-qg": (67.7, 58.1, 79.8, 64.1),
    "Salesforce/mixqg-large": (70.9, 66.9, 80.9, 65.3),
    "Salesforce/mixqg-3b": (72.9, 69.5, 81.7, 67.8),
    "allenai/macaw-3b": (69.2, 70.3, 73.3, 65.1),
    "allenai/macaw-answer-11b": (70.6, 69.3, 78.0, 65.4),
}


def test_passes_give_the_rates_that_the_paper_prints() -> None:
    assert [entry.model for entry in elements("Table 2")] == [*PRINTED]
    for entry in elements("Table 2"):
        assert entry.published is not None
        parts = [*entry.published.by["error_category"].values()]
        whole = (entry.published.passes, entry.published.n)
        rates = [100 * passes / n for passes, n in (whole, *parts)]
        assert rates == pytest.approx(PRINTED[entry.model], abs=0.0501)
