"""SummEval and DialSummEval: summaries that three people rated."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.places import SOURCES
from support.recounts.counted_again import converted
from support.refusals import refusal

from nnd.converters.folder.conversion import Conversion, convert

DIALOGUES = "human_judgment.jsonl"
PAIRED = "model_annotations.aligned.paired.jsonl"
UNPAIRED = "model_annotations.aligned.jsonl"
FILES = {"dialsummeval": DIALOGUES, "summeval": PAIRED}

Edit = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def summeval(nnd_data: Path) -> Conversion:
    return converted("summeval", nnd_data / "summeval")


@pytest.fixture(scope="module")
def dialsummeval(nnd_data: Path) -> Conversion:
    return converted("dialsummeval", nnd_data / "dialsummeval")


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


# What is known of the summaries


def test_only_gpt2_is_not_tokenised_and_only_gpt2_and_bart_are_cased(summeval: Conversion) -> None:
    texts = pl.col("candidate")
    tokenised = summeval.annotations.filter(texts.str.contains(" .", literal=True))
    cased = summeval.annotations.filter(texts != texts.str.to_lowercase())

    assert tokenised.filter(system="M20").height == 0
    assert tokenised["system"].n_unique() == 15
    assert set(cased["system"]) == {"M20", "M22"}


def test_67_summaries_repeat_another_one_of_the_dialogue(dialsummeval: Conversion) -> None:
    candidates = dialsummeval.annotations.unique("candidate_id")

    assert candidates.height - candidates.n_unique(["context_id", "candidate"]) == 67


def test_the_reference_is_the_only_one_in_lower_case(dialsummeval: Conversion) -> None:
    texts = pl.col("candidate")
    lower = dialsummeval.annotations.filter(texts == texts.str.to_lowercase())

    assert set(lower["system"]) == {"A"}
    assert lower["candidate_id"].n_unique() == 100


def test_every_second_line_gives_the_pairs_of_the_released_code(
    nnd_data: Path, tmp_path: Path
) -> None:
    # ../shared/facts/sources.md: 259 + 1,088 + 384 + 1,032 = 2,763, same texts included; the
    # paper's 3,613 are of a file with a seventeenth system.
    lines = read(nnd_data / "summeval" / PAIRED)
    found = convert(
        "summeval", origin=write(tmp_path / PAIRED, lines[1::2]), accept_changed="a test"
    ).manifest
    dropped = {entry["reason"]: entry["n"] for entry in found["dropped"]}

    assert found["counts"]["systems"] == 8
    assert found["counts"]["pairs"] + dropped.get("same_text", 0) == 2763


# Without the articles


def test_annotations_without_articles_take_them_from_the_file_beside(
    summeval: Conversion, nnd_data: Path, tmp_path: Path
) -> None:
    names = (UNPAIRED, "M8_outputs_annotations.jsonl")
    for name in names:
        shutil.copy(nnd_data / "summeval" / name, tmp_path / name)
    found = convert("summeval", origin=tmp_path)

    assert found.pairs.equals(summeval.pairs)
    assert {file["name"]: file["verified"] for file in found.manifest["files"]} == dict.fromkeys(
        names, True
    )


def test_a_file_without_articles_alone_is_refused_with_the_way_to_get_them(
    nnd_data: Path, tmp_path: Path
) -> None:
    shutil.copy(nnd_data / "summeval" / UNPAIRED, tmp_path / UNPAIRED)

    with refusal("file.not-found", str(tmp_path)) as caught:
        convert("summeval", origin=tmp_path)
    assert "M8_outputs_annotations.jsonl not found" in caught.value.what
    assert "https://raw.githubusercontent.com/DAMO-NLP-SG/LLM_summeval/" in caught.value.remedy


# Wrong fields in the third line of the fixture


KIND, SHAPE, EXPERTS = "file.another-kind", "row.wrong-shape", "expert_annotations"

WRONG: list[tuple[str, Edit, str, str]] = [
    ("summeval", lambda line: line.pop("id"), KIND, ""),
    ("summeval", lambda line: line.update(text=None), KIND, ", text"),
    ("summeval", lambda line: line.update(decoded=[]), KIND, ", decoded"),
    ("summeval", lambda line: line.update(model_id=7), KIND, ", model_id"),
    ("summeval", lambda line: line.update(expert_annotations={}), KIND, f", {EXPERTS}"),
    ("summeval", lambda line: line[EXPERTS][1].pop("fluency"), KIND, f", {EXPERTS}[1]"),
    (
        "summeval",
        lambda line: line[EXPERTS][2].update(relevance="5"),
        *("cell.not-a-number", f", {EXPERTS}[2], relevance"),
    ),
    (
        "summeval",
        lambda line: line[EXPERTS][0].update(coherence=50),
        *("cell.out-of-range", f", {EXPERTS}[0], coherence"),
    ),
    ("summeval", lambda line: line.update(model_id="M23_dynamicmix"), SHAPE, ": system"),
    ("summeval", lambda line: line.update(text="Another."), SHAPE, ": context_id"),
    ("summeval", lambda line: line.update(decoded=""), SHAPE, ": candidate"),
    ("dialsummeval", lambda line: line.pop("dialogue"), KIND, ""),
    ("dialsummeval", lambda line: line.update(id=1.5), KIND, ", id"),
    ("dialsummeval", lambda line: line.update(summary=None), KIND, ", summary"),
    ("dialsummeval", lambda line: line.update(annotations="5"), KIND, ", annotations"),
    (
        "dialsummeval",
        lambda line: line["annotations"][1].pop("relevance"),
        *(KIND, ", annotations[1]"),
    ),
    (
        "dialsummeval",
        lambda line: line["annotations"][2].update(fluency=True),
        *("cell.not-a-number", ", annotations[2], fluency"),
    ),
    (
        "dialsummeval",
        lambda line: line["annotations"][0].update(coherence=0),
        *("cell.out-of-range", ", annotations[0], coherence"),
    ),
    ("dialsummeval", lambda line: line.update(model_id="Z"), SHAPE, ": system"),
    ("dialsummeval", lambda line: line.update(model_id="A"), SHAPE, ": candidate_id"),
]


@pytest.mark.parametrize(("source", "edit", "code", "part"), WRONG)
def test_a_wrong_field_is_named_with_its_line(
    tmp_path: Path, source: str, edit: Edit, code: str, part: str
) -> None:
    lines = read(SOURCES / source / "fixture" / FILES[source])
    edit(lines[2])

    with refusal(code, f"{FILES[source]}:3{part}") as caught:
        convert(source, origin=write(tmp_path / FILES[source], lines))

    assert str(caught.value).isprintable()
