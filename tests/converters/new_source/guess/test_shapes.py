"""Tables of another shape than a row per candidate: none is read as if it had that shape."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.guessed_tables import BIRDS, ROOMS, cycle, look, texts

from nnd.converters.folder.conversion import convert
from nnd.converters.new_source.guess.content import read_content
from nnd.converters.new_source.guess.questions import Answers
from nnd.converters.new_source.scaffold.scaffolding import new_source
from nnd.schemas import SourceError

SEVERAL = "several candidates seem to stand in a row, under "
QUESTIONS = [f"Somebody asked the way to {room}." for room in ROOMS]
ANSWERS = {bird: [f"The {bird} points at {room}." for room in ROOMS] for bird in BIRDS}


def compared(one: str, other: str) -> dict[str, list[str]]:
    """Every two of three answers beside each other, in every context."""
    pairs = [
        (question, ANSWERS[a][n], ANSWERS[b][n])
        for n, question in enumerate(QUESTIONS)
        for a, b in (("heron", "wren"), ("heron", "plover"), ("wren", "plover"))
    ]
    return dict(zip(("prompt", one, other), map(list, zip(*pairs, strict=True)), strict=True))


@pytest.mark.parametrize(
    ("names", "more"),
    [
        (("response_a", "response_b"), {"winner": cycle("A", "B", "tie")}),
        (("chosen", "rejected"), {}),
        # A score from 1 to 7, of which no system is named but one: it would convert.
        (("output 1", "output 2"), {"system": cycle(*BIRDS), "preference": cycle(1, 4, 7)}),
        (
            ("left_text", "right_text"),
            {"left_model": cycle("heron", "heron", "wren"), "choice": cycle("left", "right")},
        ),
    ],
)
def test_candidates_that_are_compared(
    tmp_path: Path, names: tuple[str, str], more: Mapping[str, Sequence[Any]]
) -> None:
    with pytest.raises(SourceError) as caught:
        look(tmp_path, compared(*names) | more)

    assert str(caught.value).startswith(f"{SEVERAL}{', '.join(names)}, where")
    assert "`won` or `lost`" in str(caught.value)


def test_what_is_called_like_a_side_and_named_is_taken(tmp_path: Path) -> None:
    columns = compared("output_a", "note_b") | {"system": cycle(*BIRDS), "score": cycle(1, 2, 3, 4)}
    columns["output_b"] = columns.pop("note_b")

    found = look(tmp_path, columns, Answers(candidate="output_a"))

    assert found.candidate.name == "output_a"


def test_the_copy_that_is_asked_for_converts(tmp_path: Path) -> None:
    """A row per candidate of every comparison; three for each of four contexts."""
    columns = compared("a", "b")
    with (tmp_path / "won.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["comparison", "prompt", "system", "output", "result"])
        for number, row in enumerate(zip(*columns.values(), strict=True)):
            for text, result in zip(row[1:], ("won", "lost"), strict=True):
                writer.writerow([number, row[0], text.split()[1], text, result])
    answers = Answers(context_id="comparison", label=("result",), order=("won", "lost"))

    made = new_source("won", tmp_path / "won.csv", tmp_path / "won", answers=answers)

    pairs = convert(made.folder, origin=tmp_path / "won.csv").pairs
    assert sorted(pairs["candidate_high"]) == sorted(columns["a"])
    assert sorted(pairs["candidate_low"]) == sorted(columns["b"])


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        (ANSWERS | {f"{bird} score": [1, 2, 3, 4] for bird in BIRDS}, "heron, wren, plover"),
        (ANSWERS | {"best": ["heron", "wren", "wren", "plover"]}, "heron, wren, plover"),
        (
            {f"{bird} summary": texts for bird, texts in ANSWERS.items()}
            | {"Reference summary": [f"Here is {room}, as we say." for room in ROOMS]},
            "heron summary, wren summary, plover summary",
        ),
        (
            {"outputs": [{bird: ANSWERS[bird][n] for bird in BIRDS} for n in range(len(ROOMS))]},
            "outputs.heron, outputs.wren, outputs.plover",
        ),
        (
            {
                "systems": [list(BIRDS)] * 4,
                "outputs": [[ANSWERS[bird][n] for bird in BIRDS] for n in range(len(ROOMS))],
                "scores": [[1, 2, 3]] * 4,
            },
            "outputs",
        ),
    ],
)
def test_a_column_or_an_item_for_each_system(
    tmp_path: Path, columns: Mapping[str, Any], named: str
) -> None:
    with pytest.raises(SourceError) as caught:
        look(tmp_path, {"id": [1, 2, 3, 4], "article": QUESTIONS} | dict(columns))

    assert str(caught.value).startswith(f"{SEVERAL}{named}, where a row for each is read; write a")


def test_a_file_without_systems_is_not_told_to_hold_several(tmp_path: Path) -> None:
    columns = {"text": QUESTIONS, "output": ANSWERS["wren"], "comment": ANSWERS["heron"]}

    with pytest.raises(SourceError, match=r"^Which column names the system that"):
        look(tmp_path, columns | {"score": [1, 2, 3, 4]})


# Numbers.


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (("4,5", "3,0", "2"), '"4,5"; write numbers with a point'),
        ((1, 2, 3, 4, 5, "n/a"), '"n/a"; leave such a cell empty'),
        ((1, 2, 3, 4, 5, 99), "99 among numbers from 1 to 5 looks like no answer"),
        ((0, 1, 2, 3, -1), "-1 among numbers from 0 to 3 looks like no answer"),
    ],
)
def test_cells_that_are_no_numbers_or_no_answers(
    tmp_path: Path, cells: tuple[Any, ...], words: str
) -> None:
    with pytest.raises(SourceError) as caught:
        look(tmp_path, texts() | {"fluency": cycle(*cells)})

    assert str(caught.value).startswith("fluency: ")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "cells", [(-1, 0, 1), (-2, -1, 0, 1, 2), (0, 50, 99, 100), (1, 5, 9), (0.5, 1, 2, 3)]
)
def test_scales_that_are_what_they_seem(tmp_path: Path, cells: tuple[float, ...]) -> None:
    found = look(tmp_path, texts() | {"fluency": cycle(*cells)})

    assert [measure.aspect for measure in found.measures] == ["fluency"]


def test_a_number_like_no_answer_is_a_score_where_the_column_is_named(tmp_path: Path) -> None:
    columns = texts() | {"fluency": cycle(1, 2, 3, 4, 99)}

    assert look(tmp_path, columns, Answers(score=("fluency",))).measures


@pytest.mark.parametrize(
    ("name", "cells", "words"),
    [
        ("meaning", (1, 2, 3, 4, 5, "N/A"), 'it holds numbers, and "N/A"; leave such a cell empty'),
        ("toxicity", (1, 3, 5), "less of it is better, by its name; convert it apart"),
    ],
)
def test_a_score_that_is_left_aside_is_told_of(
    tmp_path: Path, name: str, cells: tuple[Any, ...], words: str
) -> None:
    columns = texts() | {"fluency": cycle(1, 2, 3, 4, 5), name: cycle(*cells), "rank": cycle(1, 2)}
    look(tmp_path, columns)

    (note,) = new_source("toy", tmp_path / "judged.jsonl", tmp_path / "toy").notes

    assert note.startswith(f"column {name} is not used: {words}")


def test_a_scale_in_a_name_is_no_part_of_the_aspect(tmp_path: Path) -> None:
    columns = {"Overall Quality (1-5)": cycle(1, 2, 3, 4, 5), "Tone (1 to 5)": cycle(1, 3, 5)}

    found = look(tmp_path, texts() | columns)

    assert [measure.aspect for measure in found.measures] == ["overall_quality", "tone"]


# What separates cells.


def rows() -> list[list[Any]]:
    columns = texts() | {"score": cycle(1, 2, 3, 4, 5)}
    columns["output"][0] = 'Two lines;\nand a "quote", too.'
    return [list(columns), *map(list, zip(*columns.values(), strict=True))]


def write(path: Path, delimiter: str) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows())


@pytest.mark.parametrize(
    ("name", "delimiter", "table"),
    [
        ("a.csv", ",", {}),
        ("a.csv", ";", {"delimiter": ";"}),
        ("a.csv", "|", {"delimiter": "|"}),
        ("a.csv", "\t", {"delimiter": "\t"}),
        ("a.tsv", "\t", {"quoted": True}),
        ("a.tsv", ",", {"delimiter": ",", "quoted": True}),
    ],
)
def test_what_separates_cells_is_seen_and_told(
    tmp_path: Path, name: str, delimiter: str, table: dict[str, Any]
) -> None:
    write(tmp_path / name, delimiter)

    new_source("made", tmp_path / name, out=tmp_path / "made")

    made = yaml.safe_load((tmp_path / "made" / "source.yaml").read_text())["table"]
    assert {key: made.get(key) for key in ("delimiter", "quoted") if key in made} == table
    found = convert(tmp_path / "made", origin=tmp_path / name).annotations
    assert sorted(found["candidate"]) == sorted(row[2] for row in rows()[1:])
    # The fixture, which is written again, is read in the same way.
    assert convert(tmp_path / "made", origin=tmp_path / "made" / "fixture").pairs.height > 0


def test_marks_in_quotes_separate_nothing(tmp_path: Path) -> None:
    header = 'source,system,output,"score; 1 = bad; 5 = good; 3 = so so; 0 = none"\n'
    body = "".join(f"{row[0]},{row[1]},Text {n} of it.,{row[3]}\n" for n, row in enumerate(rows()))
    (tmp_path / "a.csv").write_text(header + body.partition("\n")[2], encoding="utf-8")

    assert len(read_content({"a.csv": tmp_path / "a.csv"}).levels[0].fields) == 4


def test_json_with_a_truth_value_that_is_null_was_not_judged(tmp_path: Path) -> None:
    """Of three candidates one is true, one false, one null: a pair for each of four contexts."""
    objects = [
        {
            "question": question,
            "outputs": [
                {"system": bird, "text": ANSWERS[bird][n], "correct": value}
                for bird, value in zip(BIRDS, (True, False, None), strict=True)
            ],
        }
        for n, question in enumerate(QUESTIONS)
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in objects), encoding="utf-8")

    made = new_source("toy", path, tmp_path / "toy")

    assert made.counts["pairs"] == 4
