"""Preferences for TRL, read as TRL reads them: by `datasets.load_dataset` of the folder."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pytest

from nnd.converters.export import Export, PromptRendering
from nnd.converters.export.exporting import export
from nnd.converters.folder.conversion import convert
from nnd.schemas import cut_by_context
from nnd.schemas.reading.parquet import read_parquet

Row = Callable[..., dict[str, Any]]


@pytest.fixture
def trl(
    make_source: Callable[..., Path], tmp_path: Path
) -> Callable[..., tuple[Export, datasets.DatasetDict]]:
    """`trl(rows, **facts)`: convert a toy source, export it, load it."""

    def make(
        rows: list[dict[str, Any]], rendering: PromptRendering | None = None, **facts: Any
    ) -> tuple[Export, datasets.DatasetDict]:
        convert(make_source(rows, expected=None, **facts), out=tmp_path / "toy-nnd")
        how = {} if rendering is None else {"rendering": rendering}
        exported = export(tmp_path / "toy-nnd", tmp_path / "trl", to="trl", **how)
        return exported, load(tmp_path / "trl")

    return make


def load(folder: Path) -> datasets.DatasetDict:
    return datasets.load_dataset(str(folder), cache_dir=str(folder.with_name("cache")))


def test_an_example_is_a_prompt_and_two_ends_that_fit_it(trl: Any, toy: Row) -> None:
    exported, found = trl([toy("a", "heron", "good"), toy("b", "wren", "wrong")])
    assert list(found) == ["test"]
    (row,) = found["test"]
    assert len(row.pop("pair_id")) == 16
    assert row == {
        "prompt": "Who sings?",
        "chosen": " text of a",  # joined without anything between: "Who sings? text of a"
        "rejected": " text of b",
        "source": "toy",
        "language": "en",
        "aspects": ["answer"],
        "error_categories": ["wrong"],
        "tests": 1,
    }
    assert exported.rows == 1


def test_two_errors_of_a_candidate_are_one_example(trl: Any, toy: Row) -> None:
    exported, found = trl(
        [toy("a", "heron", "good"), toy("b", "wren", "rude"), toy("b", "wren", "wrong")]
    )
    (row,) = found["test"]
    assert row["error_categories"] == ["rude", "wrong"]
    assert exported.rows == 1
    assert any("2 pairs make 1 examples" in note for note in exported.notes)


def test_the_same_texts_of_other_systems_are_one_example(trl: Any, toy: Row) -> None:
    # Two of three candidates are good, with the same text: two tests, one lesson.
    rows = [
        toy("a", "heron", "good", candidate="So."),
        toy("b", "wren", "good", candidate="So."),
        toy("c", "plover", "wrong", candidate="No."),
    ]
    _, found = trl(rows)
    texts = [(row["chosen"], row["rejected"], row["tests"]) for row in found["test"]]
    assert texts == [(" So.", " No.", 2)]


def test_other_contexts_keep_their_examples(trl: Any, toy: Row) -> None:
    again = {"context_id": "c2", "context": "Who else?", "inputs": {"question": "Who else?"}}
    pair = [("a", "heron", "good"), ("b", "wren", "wrong")]
    rows = [toy(*each) for each in pair]
    rows += [toy(f"{name}2", *rest, candidate=f"text of {name}", **again) for name, *rest in pair]
    _, found = trl(rows)
    assert sorted(row["prompt"] for row in found["test"]) == ["Who else?", "Who sings?"]


def test_examples_that_contradict_each_other_are_told(trl: Any, toy: Row) -> None:
    # heron is right and rude, wren polite and wrong: each is preferred under one aspect.
    rows = [
        toy("a", "heron", "good", aspect="answer"),
        toy("a", "heron", "rude", aspect="tone"),
        toy("b", "wren", "wrong", aspect="answer"),
        toy("b", "wren", "good", aspect="tone"),
    ]
    exported, found = trl(rows, aspects={"answer": "Is it right?", "tone": "Is it polite?"})
    assert {(row["chosen"], *row["aspects"]) for row in found["test"]} == {
        (" text of a", "answer"),
        (" text of b", "tone"),
    }
    assert any("other annotators: 2; choose some aspects" in note for note in exported.notes)


def test_splits_stay_apart_under_their_names(trl: Any, toy: Row) -> None:
    rows = []
    for number, split in enumerate(("train", "cnn", "en-de/2020")):
        place = {"split": split, "context_id": f"c{number}"}
        rows += [
            toy(f"a{number}", "heron", "good", **place),
            toy(f"b{number}", "wren", "wrong", **place),
        ]
    _, found = trl(rows)
    assert {name: [row["chosen"] for row in split] for name, split in found.items()} == {
        "train": [" text of a0"],
        "cnn": [" text of a1"],
        "en_de_2020": [" text of a2"],  # `datasets` has no other signs in the name of a split
    }


def test_texts_that_look_like_something_else_stay_texts(trl: Any, toy: Row) -> None:
    rows = [
        toy("a", "heron", "good", candidate="1984-01-01"),
        toy("b", "wren", "wrong", candidate="007"),
    ]
    _, found = trl(rows)
    assert found["test"].features["chosen"] == datasets.Value("string")
    assert found["test"][0]["chosen"] == " 1984-01-01"
    assert found["test"][0]["rejected"] == " 007"


def test_a_rendering_makes_prompt_and_ends(trl: Any, toy: Row) -> None:
    rendering = PromptRendering(
        "mine",
        "\n",
        lambda contexts: [(f"Q: {each.values['question']}", "A: ") for each in contexts],
    )
    _, found = trl([toy("a", "heron", "good"), toy("b", "wren", "wrong")], rendering)
    (row,) = found["test"]
    assert (row["prompt"], row["chosen"]) == ("Q: Who sings?", "\nA: text of a")


def test_the_sample_has_an_example_per_pair(sample: Path, tmp_path: Path) -> None:
    export(sample, tmp_path / "trl", to="trl")
    pairs = read_parquet(sample / "pairs.parquet")
    assert load(tmp_path / "trl")["test"]["pair_id"][:] == pairs["pair_id"].to_list()
    joined = [row["prompt"] + row["rejected"] for row in load(tmp_path / "trl")["test"]]
    columns = zip(pairs["context"], pairs["candidate_low"], strict=True)
    assert joined == [f"{context} {low}" for context, low in columns]


def test_a_split_cuts_by_context_into_the_parts_that_trl_expects(
    sample: Path, tmp_path: Path
) -> None:
    export(sample, tmp_path / "trl", to="trl", split=0.7)
    found = load(tmp_path / "trl")
    assert list(found) == ["train", "test"]
    assert found["train"].column_names[:3] == ["prompt", "chosen", "rejected"]
    assert {*found["train"]["prompt"]}.isdisjoint(found["test"]["prompt"])
    pairs = read_parquet(sample / "pairs.parquet")
    to_train_on = pairs.filter(cut_by_context(pairs, 0.7))
    assert found["train"]["pair_id"][:] == to_train_on["pair_id"].to_list()
    assert len(found["test"]) == pairs.height - to_train_on.height


@pytest.mark.parametrize(
    ("redistribution", "said"),
    [
        ("allowed", "Licence: CC0-1.0. Converted data may be redistributed"),
        (
            "no-derivatives",
            "It does not allow derived data, such as these pairs, to be redistributed.",
        ),
        (
            "unknown",
            "Whether derived data may be redistributed is not known; ask the authors first.",
        ),
    ],
)
def test_the_readme_tells_the_source_and_its_licence(
    redistribution: str, said: str, trl: Any, toy: Row, tmp_path: Path
) -> None:
    trl([toy("a", "heron", "good"), toy("b", "wren", "wrong")], redistribution=redistribution)
    text = (tmp_path / "trl" / "README.md").read_text(encoding="utf-8")
    assert said in text
    assert "```bibtex\n@misc{toy}\n```" in text
    assert "can no longer be tested on these pairs" in text
