"""DialSummEval on the real file."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.places import SOURCES

from nnd.converters.folder.conversion import Conversion, convert
from nnd.converters.folder.validation import validate
from nnd.schemas import SourceError

FILE = "human_judgment.jsonl"
ASPECTS = ("coherence", "consistency", "fluency", "relevance")
FIXTURE = SOURCES / "dialsummeval" / "fixture" / FILE

Edit = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def lines(nnd_data: Path) -> list[dict[str, Any]]:
    text = (nnd_data / "dialsummeval" / FILE).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="module")
def dialsummeval(nnd_data: Path) -> Conversion:
    return convert("dialsummeval", origin=nnd_data / "dialsummeval")


def refused(tmp_path: Path, edit: Edit) -> str:
    """What is said of the fixture when its third line has been edited."""
    edited = [json.loads(line) for line in FIXTURE.read_text(encoding="utf-8").splitlines()]
    edit(edited[2])
    path = tmp_path / FILE
    path.write_text("".join(json.dumps(line) + "\n" for line in edited), encoding="utf-8")
    with pytest.raises(SourceError) as caught:
        convert("dialsummeval", origin=path)
    message = str(caught.value)
    assert message.isprintable()
    return message


def test_counts(dialsummeval: Conversion) -> None:
    pairs = {"coherence": 3992, "consistency": 2192, "fluency": 4287, "relevance": 1767}

    assert dialsummeval.manifest["counts"] == {
        "annotations": 5600,
        "contexts": 100,
        "candidates": 1400,
        "empty_candidates": 0,
        "systems": 14,
        "pairs": 12238,
        "distinct_pairs": 8459,
        "same_after_lowercase": 3,
        "by_error_category": pairs,
        "by_error_group": {},
        "by_aspect": pairs,
        "by_category": {},
        "by_split": {"test": 12238},
    }


def test_dropped(dialsummeval: Conversion) -> None:
    # 12,248 - 12,238
    assert [(entry["reason"], entry["n"]) for entry in dialsummeval.manifest["dropped"]] == [
        ("same_text", 10)
    ]


def test_the_file_is_the_declared_one(dialsummeval: Conversion) -> None:
    assert [(file["name"], file["verified"]) for file in dialsummeval.manifest["files"]] == [
        (FILE, True)
    ]


def test_every_pair_and_no_other(dialsummeval: Conversion, lines: list[dict[str, Any]]) -> None:
    def is_high(line: dict[str, Any], aspect: str) -> bool:
        return sorted(annotator[aspect] for annotator in line["annotations"])[1] == 5

    by_dialogue: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        by_dialogue.setdefault(line["id"], []).append(line)
    expected = [
        (dialogue, aspect, high["model_id"], low["model_id"], high["summary"], low["summary"])
        for dialogue, written in by_dialogue.items()
        for aspect in ASPECTS
        for high in written
        for low in written
        if is_high(high, aspect) and not is_high(low, aspect)
    ]
    columns = ("context_id", "aspect", "system_high", "system_low")
    columns += ("candidate_high", "candidate_low")

    # ../shared/facts/sources.md, "Obtained against published": 12,248
    assert Counter(aspect for _, aspect, *_ in expected) == {
        "coherence": 3994,
        "consistency": 2193,
        "fluency": 4292,
        "relevance": 1769,
    }
    assert sorted(dialsummeval.pairs.select(columns).rows()) == sorted(
        pair for pair in expected if pair[-2] != pair[-1]
    )


@pytest.mark.parametrize(
    ("row", "pair_id", "dialogue", "aspect", "systems", "starts"),
    [
        (
            0,
            "59b6ad567825ab05",
            "13611791",
            "coherence",
            ("A", "B"),
            ("dorothea is having a birthday dinner", "Dorothea: Yes, I'm gonna meet Tom"),
        ),
        (
            8,
            "39b9d9d3af02389a",
            "13611791",
            "fluency",
            ("A", "F"),
            ("dorothea is having a birthday dinner", "It's Dorothea's birthday today."),
        ),
        (
            -1,
            "255455e6071042e4",
            "13864448",
            "coherence",
            ("N", "D"),
            ("Karen passed.", "Karen passed his new driver ."),
        ),
    ],
    ids=["first", "ninth", "last"],
)
def test_pinned_pair(  # noqa: PLR0917 - parameters of the table above
    dialsummeval: Conversion,
    row: int,
    pair_id: str,
    dialogue: str,
    aspect: str,
    systems: tuple[str, str],
    starts: tuple[str, str],
) -> None:
    found = dialsummeval.pairs.row(row, named=True)

    assert (found["pair_id"], found["context_id"], found["aspect"]) == (pair_id, dialogue, aspect)
    assert (found["high_id"], found["low_id"]) == tuple(f"{dialogue}/{name}" for name in systems)
    assert found["candidate_high"].startswith(starts[0])
    assert found["candidate_low"].startswith(starts[1])
    assert found["error_category"] == aspect


def test_a_context_is_its_dialogue_as_the_file_has_it(dialsummeval: Conversion) -> None:
    last = dialsummeval.pairs.row(-1, named=True)

    assert last["context"] == (
        "| Karen: I passed!!!!! | Simon: Whooooooooooah!!!!! | Tim: Congrats!!! "
        "| Patty: Guess we have a new designated driver :D"
    )
    assert last["inputs"] == [{"key": "dialogue", "value": last["context"]}]


def test_67_summaries_repeat_another_one_of_the_dialogue(dialsummeval: Conversion) -> None:
    candidates = dialsummeval.annotations.unique("candidate_id")

    assert candidates.height - candidates.n_unique(["context_id", "candidate"]) == 67


def test_the_reference_is_the_only_one_in_lower_case(dialsummeval: Conversion) -> None:
    texts = pl.col("candidate")
    lower = dialsummeval.annotations.filter(texts == texts.str.to_lowercase())

    assert set(lower["system"]) == {"A"}
    assert lower["candidate_id"].n_unique() == 100


def test_the_reference_and_the_best_extract_have_the_highest_consistency(
    dialsummeval: Conversion,
) -> None:
    # Mean of 3 * 100 ratings, counted apart: A 4.273, B (LONGEST-3) 4.360, E (Transformer) 1.737.
    consistency = dialsummeval.human_scores.filter(aspect="consistency")
    found = {system: round(score, 3) for system, score in consistency["system", "score"].rows()}

    assert sorted(found, key=lambda name: -found[name])[:2] == ["B", "A"]
    assert (found["A"], found["B"], found["E"]) == (4.273, 4.36, 1.737)
    assert set(consistency["n"]) == {100}


def test_the_folder_is_valid(dialsummeval: Conversion, tmp_path: Path) -> None:
    dialsummeval.write(tmp_path)

    assert list(validate(tmp_path)) == []


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda line: line.pop("dialogue"), f'{FILE}:3: there is no "dialogue", only id'),
        (lambda line: line.update(id=1.5), f"{FILE}:3, id: 1.5 is not a string or a whole number"),
        (lambda line: line.update(summary=None), f"{FILE}:3, summary: null is not a string"),
        (
            lambda line: line.update(annotations="5"),
            f'{FILE}:3, annotations: "5" is not a list',
        ),
        (
            lambda line: line["annotations"][1].pop("relevance"),
            f'{FILE}:3, annotations[1]: there is no "relevance", only consistency',
        ),
        (
            lambda line: line["annotations"][2].update(fluency=True),
            f"{FILE}:3, annotations[2], fluency: true is not a number",
        ),
        (
            lambda line: line["annotations"][0].update(coherence=0),
            f"{FILE}:3, annotations[0], coherence: 0 is not a rating between 1 and 5",
        ),
        (lambda line: line.update(model_id="Z"), f'{FILE}:3: system: "Z" is not in source.yaml'),
        (lambda line: line.update(model_id="A"), "stands for two different things"),
    ],
)
def test_a_wrong_field_is_named_with_its_line(tmp_path: Path, edit: Edit, message: str) -> None:
    assert message in refused(tmp_path, edit)
