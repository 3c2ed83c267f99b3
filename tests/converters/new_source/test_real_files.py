"""Published files, looked at as if nobody had described them, give the pairs of our sources."""

from pathlib import Path

import pytest

from nnd.converters.new_source.scaffold.scaffolding import new_source
from nnd.converters.source.source import load_source


@pytest.mark.parametrize(
    ("file", "source", "set_name"),
    [
        ("simplification/structural_simplicity.csv", "simplification", None),
        ("simplification/simplicity_DA.csv", "simplification", "da"),
        ("confit_samsum/samsum_annotation.csv", "confit_samsum", None),
        ("quiz_design/quiz_design_groups.jsonl", "quiz_design", None),
        ("dialsummeval/human_judgment.jsonl", "dialsummeval", None),
        ("summeval/model_annotations.aligned.paired.jsonl", "summeval", None),
    ],
)
def test_what_is_guessed_gives_what_the_built_in_source_gives(
    nnd_data: Path, tmp_path: Path, file: str, source: str, set_name: str | None
) -> None:
    built_in = load_source(source)
    if set_name is not None:
        built_in = built_in.choose("set", set_name)

    made = new_source("guessed", nnd_data / file, tmp_path / "guessed")

    expected = built_in.facts["expected"]
    assert made.counts["pairs"] == expected["pairs"]
    assert made.counts["by_error_category"] == expected["by_error_category"]
    assert made.counts["contexts"] == expected["contexts"]


def test_ratings_one_by_one_give_the_pairs_of_their_means(nnd_data: Path, tmp_path: Path) -> None:
    """The 9,000 single ratings of simplicity make the 316 pairs that the published means make."""
    folder = nnd_data / "simplification" / "ratings_per_annotator"

    made = new_source("guessed", folder / "simplicity_DA_ratings.csv", tmp_path / "guessed")

    means = load_source("simplification").choose("set", "da").facts["expected"]
    assert made.counts["pairs"] == means["by_error_category"]["simplicity"] == 316


@pytest.mark.parametrize(
    ("file", "words"),
    [
        # Texts and judgements in two files; a system per column; ratings without texts.
        ("frank/human_annotations.json", "Which column holds the candidates"),
        ("challenge300/challenge300-outputs.tsv", "stand in a row, under Macaw-11B, Macaw-large"),
        ("simplification/ratings_per_annotator/structural_simplicity_ratings.csv", "There is none"),
    ],
)
def test_what_is_no_table_of_candidates_is_told(
    nnd_data: Path, tmp_path: Path, file: str, words: str
) -> None:
    with pytest.raises(Exception, match=words):
        new_source("guessed", nnd_data / file, tmp_path / "guessed")

    assert list(tmp_path.iterdir()) == []
