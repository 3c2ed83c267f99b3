"""Quiz Design on the real file: the order of its lines, its bytes, and how long it takes."""

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

FILE = "quiz_design_groups.jsonl"


@pytest.fixture(scope="module")
def groups(nnd_data: Path) -> list[dict[str, Any]]:
    text = (nnd_data / "quiz_design" / FILE).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


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


def test_it_takes_less_than_three_seconds_of_cpu_time(nnd_data: Path, tmp_path: Path) -> None:
    start = time.process_time()
    convert("quiz_design", origin=nnd_data / "quiz_design", out=tmp_path / "out")

    assert time.process_time() - start < 3
