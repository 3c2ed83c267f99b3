"""Published files, looked at as if they had no description, give the pairs of our sources."""

from pathlib import Path
from typing import Any

import pytest

from nnd.converters.onboard.guess.questions import Answers
from nnd.converters.onboard.scaffold.scaffolding import new_source
from nnd.converters.source.source import load_source

MQM = "wmt_mqm/ted/ende/mqm_ted_ende.tsv"
LLMBAR = tuple(
    f"llmbar/Dataset/LLMBar/{part}/dataset.json"
    for part in ("Natural", *(f"Adversarial/{name}" for name in ("Neighbor", "Manual")))
)

CONFIT = ("Missing Information", "Redundant Information", "Circumstance", "Wrong Reference")
CONFIT += ("Negation", "Object", "Tense", "Modality")


def made(data: Path, out: Path, files: tuple[str, ...], **answers: Any) -> dict[str, Any]:
    given = [data / file for file in files]
    return dict(new_source("guessed", given, out / "guessed", answers=Answers(**answers)).counts)


@pytest.mark.parametrize(
    ("file", "source", "set_name", "answers"),
    [
        ("simplification/simplicity_DA.csv", "simplification", "da", {}),
        ("confit_samsum/samsum_annotation.csv", "confit_samsum", None, {"mark": CONFIT}),
        (
            "quiz_design/quiz_design_groups.jsonl",
            "quiz_design",
            None,
            {"candidate": ("questions.question",)},
        ),
        ("dialsummeval/human_judgment.jsonl", "dialsummeval", None, {}),
    ],
)
def test_what_is_guessed_gives_what_the_built_in_source_gives(  # noqa: PLR0917
    nnd_data: Path,
    tmp_path: Path,
    file: str,
    source: str,
    set_name: str | None,
    answers: dict[str, Any],
) -> None:
    built_in = load_source(source)
    if set_name is not None:
        built_in = built_in.choose("set", set_name)

    counts = made(nnd_data, tmp_path, (file,), **answers)

    expected = built_in.facts["expected"]
    for name in ("pairs", "by_error_category", "contexts"):
        assert counts[name] == expected[name]


def test_ratings_one_by_one_give_the_pairs_of_their_means(nnd_data: Path, tmp_path: Path) -> None:
    """The 9,000 single ratings of simplicity make the 316 pairs that the published means make."""
    file = "simplification/ratings_per_annotator/simplicity_DA_ratings.csv"

    means = load_source("simplification").choose("set", "da").facts["expected"]
    pairs = made(nnd_data, tmp_path, (file,))["pairs"]
    assert pairs == means["by_error_category"]["simplicity"] == 316


# A shape of source.yaml each, with its questions answered by options.


def test_edited_summaries_are_pairs(nnd_data: Path, tmp_path: Path) -> None:
    files = ("bump/data/task1_dataset.json", "bump/data/task2_dataset.json")
    both = ("reference_summary", "edited_summary")

    counts = made(nnd_data, tmp_path, files, candidate=both, better="reference_summary")

    assert (counts["pairs"], counts["contexts"]) == (889, 198)


def test_verdicts_are_pairs(nnd_data: Path, tmp_path: Path) -> None:
    outputs = ("output_1", "output_2")
    said = ("1=output_1", "2=output_2")

    counts = made(nnd_data, tmp_path, LLMBAR, candidate=outputs, better="label", verdict=said)

    assert counts["pairs"] == 100 + 134 + 46


def test_kinds_of_error_are_read_where_a_text_is_not_good(nnd_data: Path, tmp_path: Path) -> None:
    counts = made(
        nnd_data,
        tmp_path,
        ("summedits/data/summedits/summedits_samsum.json",),
        candidate=("summary",),
        candidate_id="id",
        label=("label",),
        no_error="1",
        error="edit_types",
        group="original_summary",
    )

    expected = load_source("summedits").facts["expected"]
    assert counts["pairs"] == expected["by_category"]["samsum"] == 7624


def test_marked_spans_are_labels_of_texts_without_tags(nnd_data: Path, tmp_path: Path) -> None:
    counts = made(
        nnd_data, tmp_path, (MQM,), context_id=("doc", "doc_id", "seg_id"), label=("category",)
    )

    expected = load_source("wmt_mqm").choose("set", "ted/ende").facts["expected"]
    for name in ("annotations", "contexts", "systems", "pairs", "by_error_category"):
        assert counts[name] == expected[name]


@pytest.mark.parametrize(
    ("file", "words"),
    [
        # Texts and judgements in two files; a system per column; ratings without texts.
        ("frank/human_annotations.json", "Which columns hold candidates"),
        ("challenge300/challenge300-outputs.tsv", "Which columns hold candidates"),
        ("goyal_gpt3_news/cnn_human.json", "Which columns hold candidates"),
    ],
)
def test_what_has_no_row_per_candidate_is_asked(
    nnd_data: Path, tmp_path: Path, file: str, words: str
) -> None:
    with pytest.raises(Exception, match=words):
        new_source("guessed", nnd_data / file, tmp_path / "guessed")

    assert list(tmp_path.iterdir()) == []
