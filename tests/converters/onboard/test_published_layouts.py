"""Shapes that no file at hand has: files of 200 rows or more, laid out as published ones are.

- ABC-Eval (Finch et al., ACL 2023): a row for each response, a yes/no column for each error.
- OpenMEVA, `mans_roc.json` (Guan et al., ACL 2021): stories by key, in each texts by system, each
  with a list of ratings, which are not equally many.
- PandaLM, `testset-v1.json` (Wang et al., ICLR 2024): two texts in a row, and the verdicts of three
  annotators, 0 for a tie.
- MT-Bench, `human_judgments` (Zheng et al., NeurIPS 2023), a turn: two texts with their models and
  a verdict, a row for each judge, ties of two kinds.
- Learning to summarize, `comparisons` (Stiennon et al., NeurIPS 2020): a list of two summaries, and
  the number of the one that a worker chose.

Texts and judgements are drawn by chance; what they amount to is counted here, without nnd.
"""

import csv
import itertools
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from nnd.converters.folder import convert
from nnd.converters.onboard.scaffold.new_source_result import NewSource
from nnd.converters.onboard.scaffold.scaffolding import new_source

WORDS = ["heron", "crane", "stork", "pond", "reed", "marsh", "dusk", "night", "wood", "vale"]
ERRORS = ["antisocial", "commonsense contradiction", "ignore", "irrelevant", "redundant"]
BOTS = ["blender", "cem", "emora", "gpt3"]
WRITERS = ["fusion", "gpt_kg", "plan_write", "s2s"]


def text(chance: Random, size: int) -> str:
    return f"{' '.join(chance.choices(WORDS, k=size)).capitalize()}."


def write_csv(folder: Path, rows: list[dict[str, str]]) -> Path:
    path = folder / "rows.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0]])
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_yes_and_no_for_each_error(tmp_path: Path) -> None:
    chance, rows = Random(1), list[dict[str, str]]()
    for number in range(80):
        said = text(chance, 12)
        rows += [
            {"dialogue": str(number), "user utterance": said, "bot": bot}
            | {"bot response": text(chance, 10)}
            | {error: "yes" if chance.random() < 0.12 else "no" for error in ERRORS}
            for bot in BOTS
        ]
    path = write_csv(tmp_path, rows)
    expected = pairs_by_error(rows, "user utterance", ERRORS)

    made = new_source(
        "guessed",
        [path],
        tmp_path / "guessed",
        context=["user utterance"],
        candidate=["bot response"],
    )

    assert (made.shapes[0].name, made.problem, len(rows)) == ("marks", None, 320)
    assert made.counts["by_error_category"] == expected
    one = new_source("said", [path], tmp_path / "said", candidate="bot response", system="bot")
    assert one.counts == made.counts


def pairs_by_error(rows: list[dict[str, str]], context: str, errors: list[str]) -> dict[str, int]:
    """The pairs of a text without any error and one with an error, by error."""
    expected: Counter[str] = Counter()
    for _, group in itertools.groupby(rows, lambda row: row[context]):
        for better, worse in itertools.permutations([*group], 2):
            if "yes" not in {better[error] for error in errors}:
                expected.update(error for error in errors if worse[error] == "yes")
    return expected


def test_yes_is_good_in_one_column_and_bad_in_others(tmp_path: Path) -> None:
    chance, rows = Random(4), list[dict[str, str]]()
    errors = ["hallucination", "omits key facts", "repetition"]
    for number in range(60):
        article = text(chance, 12)
        rows += [
            {"id": str(number), "article": article, "model": bot, "summary": text(chance, 10)}
            | {"fluent": "no" if chance.random() < 0.2 else "yes"}
            | {error: "yes" if chance.random() < 0.15 else "no" for error in errors}
            for bot in BOTS
        ]

    made = new_source("guessed", [write_csv(tmp_path, rows)], tmp_path / "guessed")

    assert (made.shapes[0].name, made.problem) == ("marks", None)
    assert made.counts["by_error_category"] == pairs_by_error(rows, "article", errors)
    assert any(
        line.endswith("# not read, since a mark may be good there: fluent") for line in made.open
    )


def test_two_levels_of_keys_and_ragged_lists_of_ratings(tmp_path: Path) -> None:
    chance = Random(2)
    stories = {
        str(number): {
            "prompt": text(chance, 9),
            "gold": text(chance, 30),
            "gen": {
                writer: {"text": text(chance, 30), "score": chance.choices(range(1, 6), k=raters)}
                for writer, raters in zip(WRITERS, chance.choices([3, 4, 5], k=4), strict=True)
            },
        }
        for number in range(60)
    }
    path = tmp_path / "mans_roc.json"
    path.write_text(json.dumps(stories), encoding="utf-8")

    made = new_source("guessed", [path], tmp_path / "guessed")

    # A text is better if its mean rating is higher by a point.
    assert (made.shapes[0].name, made.problem) == ("lists", None)
    assert made.counts["candidates"] == 240
    assert made.counts["pairs"] == pairs_of(stories, lambda n: sum(n) / len(n))

    found = edited(
        made, lambda facts: facts.update(quality={"rule": "gap", "ratings": "mean", "minimum": 1})
    )

    means = pairs_of(stories, lambda n: sum(n) / len(n))
    assert (found.problem, found.counts["pairs"]) == (None, means)


def pairs_of(stories: dict[str, Any], worth: Callable[[list[int]], float]) -> int:
    """The pairs of texts of a story of which one is worth at least 1 more than the other."""
    return sum(
        worth(one["score"]) - worth(other["score"]) >= 1 - 1e-9
        for story in stories.values()
        for one, other in itertools.permutations(story["gen"].values(), 2)
    )


def test_verdicts_of_several_annotators_with_ties(tmp_path: Path) -> None:
    chance = Random(3)
    rows = [
        {
            "idx": number,
            "motivation_app": chance.choice(["Gmail", "Quora", "Wiki"]),
            "cmp_key": "opt-7b_bloom-7b",
            "instruction": text(chance, 11),
            "input": text(chance, 6) if number % 2 else "",
            "response1": text(chance, 18),
            "response2": text(chance, 18),
            **{f"annotator{which}": chance.choice([0, 1, 1, 2]) for which in (1, 2, 3)},
        }
        for number in range(220)
    ]
    path = tmp_path / "testset-v1.json"
    path.write_text(json.dumps(rows), encoding="utf-8")

    made = new_source("guessed", [path], tmp_path / "guessed")

    assert made.shapes[0].name == "verdicts"
    assert any(
        "cells that name neither text" in line and line.endswith(": 0") for line in made.open
    )

    def tie(facts: dict[str, Any]) -> None:
        facts["table"]["pairs"]["values"]["tie"] = ["0"]

    found = edited(made, tie)

    verdicts = [[row[f"annotator{which}"] for which in (1, 2, 3)] for row in rows]
    assert found.problem is None
    # More annotators prefer one text than the other; ties count for neither.
    assert found.counts["pairs"] == sum(votes.count(1) != votes.count(2) for votes in verdicts)


def test_verdicts_of_judges_in_rows_of_their_own(tmp_path: Path) -> None:
    chance, rows = Random(5), list[dict[str, str]]()
    verdicts = ["model_a", "model_b", "tie", "tie (bothbad)"]
    for number in range(100):
        models, asked = chance.sample(BOTS, 2), f"{number}: {text(chance, 9)}"
        both = {"response_a": text(chance, 18), "response_b": text(chance, 18)}
        rows += [
            {"question_id": str(number), "prompt": asked}
            | {"model_a": models[0], "model_b": models[1], **both}
            | {"winner": chance.choice(verdicts), "judge": judge}
            for judge in ("ann", "bob", "eve")
        ]

    made = new_source("guessed", [write_csv(tmp_path, rows)], tmp_path / "guessed")

    votes: dict[str, Counter[str]] = {}
    for row in rows:
        votes.setdefault(row["question_id"], Counter())[row["winner"]] += 1
    assert (made.shapes[0].name, made.problem) == ("verdicts", None)
    assert made.counts["pairs"] == sum(one["model_a"] != one["model_b"] for one in votes.values())
    assert made.counts["systems"] == len(BOTS)


def test_a_choice_of_two_objects(tmp_path: Path) -> None:
    chance = Random(6)
    rows = [
        {
            "info": {"id": f"t3_{number}", "post": text(chance, 30), "title": text(chance, 5)},
            "summaries": [{"text": text(chance, 12), "policy": f"sup{n}"} for n in (1, 2)],
            "choice": chance.choice([0, 1]),
            "worker": f"w{number % 5}",
        }
        for number in range(220)
    ]
    path = tmp_path / "comparisons.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    made = new_source("guessed", [path], tmp_path / "guessed")

    assert (made.shapes[0].name, made.problem, made.counts["pairs"]) == ("choices", None, 220)
    better = convert(made.folder, origin=path).pairs["candidate_high"]
    assert {*better} == {row["summaries"][row["choice"]]["text"] for row in rows}


@pytest.mark.parametrize("has_texts", [True, False])
def test_the_keys_are_the_questions_or_name_them(tmp_path: Path, *, has_texts: bool) -> None:
    chance = Random(7)
    names = (f"{text(chance, 7)} {number}" if has_texts else f"q{number}" for number in range(60))
    questions = {
        name: {
            writer: {"answer": text(chance, 20), "correct": chance.random() < 0.5}
            for writer in WRITERS
        }
        for name in names
    }
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(questions), encoding="utf-8")

    made = new_source("guessed", [path], tmp_path / "guessed")

    def without_context(facts: dict[str, Any]) -> None:
        del facts["table"]["inputs"]
        facts["table"]["context"] = "none"
        facts["table"]["columns"]["context_id"] = "_key"

    found = made if has_texts else edited(made, without_context)
    right = [sum(one["correct"] for one in own.values()) for own in questions.values()]
    assert found.problem is None
    assert found.counts["pairs"] == sum(n * (len(WRITERS) - n) for n in right)


def edited(made: NewSource, change: Callable[[dict[str, Any]], None]) -> NewSource:
    path = made.folder / "source.yaml"
    facts = yaml.safe_load(path.read_text("utf-8"))
    head = path.read_text("utf-8").partition("\n\n")[0]
    change(facts)
    path.write_text(f"{head}\n\n{yaml.safe_dump(facts, sort_keys=False)}", encoding="utf-8")
    return new_source("guessed", out=made.folder)
