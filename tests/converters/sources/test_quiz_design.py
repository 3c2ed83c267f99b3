"""Quiz Design on the real file: exact to the last pair."""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from nnd.converters.folder.conversion import Conversion, convert
from nnd.converters.folder.validation import validate

FILE = "quiz_design_groups.jsonl"

# Accepted, disfluent, off target, wrong context: per cent of the system's 452 questions, a question
# that several systems wrote counting for each (../shared/facts/sources.md, "Human quality").
PER_CENT = {
    "dgpt2_sup": (33.4, 14.4, 29.9, 22.3),
    "gpt2b_sup": (40.9, 12.8, 22.3, 23.9),
    "gpt2m_sup": (51.3, 13.1, 14.2, 21.5),
    "bartb_sup": (52.0, 12.4, 13.1, 22.6),
    "bartl_sup": (58.4, 12.2, 11.3, 18.1),
    "prophetnet": (53.5, 21.0, 9.5, 15.9),
    "mixqg": (68.4, 9.7, 5.8, 16.2),
}


@pytest.fixture(scope="module")
def groups(nnd_data: Path) -> list[dict[str, Any]]:
    text = (nnd_data / "quiz_design" / FILE).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_counts(quiz_design: Conversion) -> None:
    assert quiz_design.manifest["counts"] == {
        "annotations": 2458,
        "contexts": 452,
        "candidates": 2458,
        "empty_candidates": 0,
        "systems": 7,
        "pairs": 2686,
        "distinct_pairs": 2686,
        "same_after_lowercase": 26,
        "by_error_category": {"disfluent": 711, "off_target": 890, "wrong_context": 1085},
        "by_error_group": {},
        "by_aspect": {"question": 2686},
        "by_category": {},
        "by_split": {"test": 2686},
    }


def test_dropped(quiz_design: Conversion) -> None:
    dropped = [(entry["reason"], entry["n"]) for entry in quiz_design.manifest["dropped"]]

    assert dropped == [("one_candidate", 3)]


def test_the_file_is_the_declared_one(quiz_design: Conversion) -> None:
    assert quiz_design.manifest["files"] == [
        {
            "name": FILE,
            "sha256": "a07b4182bdd888460414302933f9dcb47bb3e6bb713da50ef7707c643bee2741",
            "bytes": 791662,
            "verified": True,
        }
    ]


def test_every_pair_and_no_other(quiz_design: Conversion, groups: list[dict[str, Any]]) -> None:
    expected = [
        (str(group["group_id"]), good["question"], bad["question"], bad["reason"])
        for group in groups
        for good in group["questions"]
        for bad in group["questions"]
        if good["reason"] == "No error" and bad["reason"] != "No error"
    ]
    columns = ("context_id", "candidate_high", "candidate_low", "error_category")

    assert sorted(quiz_design.pairs.select(columns).rows()) == sorted(expected)


@pytest.mark.parametrize(
    ("row", "pair_id", "high", "low", "texts"),
    [
        (
            0,
            "bab3802ccefd098b",
            "0/bartl_sup",
            "0/bartb_sup|prophetnet",
            ("What is the definition of sustainable energy?", "What is sustainable energy?"),
        ),
        (
            8,
            "204ab5c7f723a6bc",
            "0/mixqg",
            "0/gpt2m_sup",
            ("What does it mean if energy is sustainable?", "How is energy sustainable?"),
        ),
        (
            -1,
            "388ca5d080d38857",
            "99/prophetnet",
            "99/gpt2m_sup",
            (
                "What was the cause of the mass extinction at the end of the cretaceous period?",
                # The spaces at the end are the file's.
                "What effect did the discovery of the gypsum in the gypsum               ",
            ),
        ),
    ],
    ids=["first", "ninth", "last"],
)
def test_pinned_pair(  # noqa: PLR0917 - parameters of the table above
    quiz_design: Conversion, row: int, pair_id: str, high: str, low: str, texts: tuple[str, str]
) -> None:
    columns = ("pair_id", "high_id", "low_id", "candidate_high", "candidate_low")

    assert quiz_design.pairs.select(columns).row(row) == (pair_id, high, low, *texts)


def test_a_context_keeps_its_parts_and_reads_answer_first(quiz_design: Conversion) -> None:
    first = quiz_design.pairs.row(0, named=True)
    paragraph, answer = (entry["value"] for entry in first["inputs"])

    assert [entry["key"] for entry in first["inputs"]] == ["paragraph", "answer"]
    assert first["context"] == f"{answer} \n {paragraph}"
    assert answer.startswith("meets the needs of the present")


def test_pairs_that_differ_in_letter_case_only_are_kept(quiz_design: Conversion) -> None:
    lower = [
        pl.col(name).str.to_lowercase().str.strip_chars()
        for name in ("candidate_high", "candidate_low")
    ]
    equal = quiz_design.pairs.filter(lower[0] == lower[1])

    assert equal.height == 26
    # ProphetNet writes in lower case.
    systems = pl.concat_str("system_high", "system_low")
    assert equal.filter(systems.str.contains("prophetnet")).height == 21


@pytest.mark.parametrize("system", PER_CENT)
def test_human_scores_of_a_system(quiz_design: Conversion, system: str) -> None:
    accepted, disfluent, off_target, wrong_context = PER_CENT[system]
    of_system = quiz_design.human_scores.filter(system=system)
    found = dict(of_system.select("category", "score").rows())

    assert of_system["n"].to_list() == [452] * 4
    assert round(100 * found["overall"], 1) == accepted
    assert round(100 * (1 - found["disfluent"]), 1) == disfluent
    assert round(100 * (1 - found["off_target"]), 1) == off_target
    assert round(100 * (1 - found["wrong_context"]), 1) == wrong_context


def test_the_public_systems_have_their_hub_ids(quiz_design: Conversion) -> None:
    rows = (
        quiz_design.human_scores.select("system", "model_id").unique().drop_nulls().sort("system")
    )

    assert rows.rows() == [
        ("mixqg", "Salesforce/mixqg-large"),
        ("prophetnet", "microsoft/prophetnet-large-uncased-squad-qg"),
    ]


@pytest.mark.parametrize("seed", [1, 2])
def test_the_order_of_lines_and_questions_does_not_matter(
    quiz_design: Conversion, groups: list[dict[str, Any]], tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    shuffled = [
        group | {"questions": chance.sample(group["questions"], len(group["questions"]))}
        for group in chance.sample(groups, len(groups))
    ]
    path = tmp_path / FILE
    path.write_text("".join(json.dumps(group) + "\n" for group in shuffled), encoding="utf-8")
    convert("quiz_design", origin=path, out=tmp_path / "shuffled", accept_changed="a test")
    (tmp_path / "straight").mkdir()
    quiz_design.write(tmp_path / "straight")

    for name in ("pairs.parquet", "human_scores.parquet", "annotations.parquet"):
        assert (tmp_path / "shuffled" / name).read_bytes() == (
            tmp_path / "straight" / name
        ).read_bytes()


def test_bom_crlf_and_blank_lines_are_simply_read(
    quiz_design: Conversion, nnd_data: Path, tmp_path: Path
) -> None:
    raw = (nnd_data / "quiz_design" / FILE).read_bytes()
    path = tmp_path / FILE
    path.write_bytes(b"\xef\xbb\xbf\r\n" + raw.replace(b"\n", b"\r\n\r\n"))

    assert convert("quiz_design", origin=path, accept_changed="a test").pairs.equals(
        quiz_design.pairs
    )


def test_two_processes_write_the_same_bytes(
    quiz_design: Conversion, nnd_data: Path, tmp_path: Path
) -> None:
    script = (
        "import sys; from nnd.converters.folder.conversion import convert; "
        "convert('quiz_design', origin=sys.argv[1], out=sys.argv[2])"
    )
    (tmp_path / "here").mkdir()
    quiz_design.write(tmp_path / "here")
    for seed, threads in (("1", "1"), ("2", "3")):
        subprocess.run(
            [sys.executable, "-c", script, nnd_data / "quiz_design", tmp_path / seed],
            env=os.environ | {"PYTHONHASHSEED": seed, "POLARS_MAX_THREADS": threads},
            check=True,
        )

        names = sorted(path.name for path in (tmp_path / seed).iterdir())
        assert names == [
            "annotations.parquet",
            "human_scores.parquet",
            "manifest.json",
            "pairs.parquet",
        ]
        for name in names:
            assert (tmp_path / seed / name).read_bytes() == (tmp_path / "here" / name).read_bytes()


def test_it_takes_less_than_three_seconds(nnd_data: Path, tmp_path: Path) -> None:
    start = time.perf_counter()
    convert("quiz_design", origin=nnd_data / "quiz_design", out=tmp_path / "out")

    assert time.perf_counter() - start < 3


def test_the_folder_is_valid(quiz_design: Conversion, tmp_path: Path) -> None:
    quiz_design.write(tmp_path)

    assert list(validate(tmp_path)) == []
