"""Quiz Design on the real file, of which the package has a copy: its lines, its bytes, its time."""

import json
import lzma
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.screens.commands import Nnd

from nnd.converters.folder.conversion import Conversion, convert
from nnd.converters.source import BUILT_IN
from nnd.schemas import SourceError

FILE = "quiz_design_groups.jsonl"
COPY = BUILT_IN / "quiz_design" / f"{FILE}.xz"
OFFLINE = """
import sys

def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo"):
        raise RuntimeError(f"{event}: {arguments}")

sys.addaudithook(refuse)
from nnd.metric.cli.command import main
main()
"""


@pytest.fixture(scope="module")
def groups(nnd_data: Path) -> list[dict[str, Any]]:
    text = (nnd_data / "quiz_design" / FILE).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_the_copy_is_small_and_that_of_the_real_file(nnd_data: Path) -> None:
    packed = COPY.read_bytes()

    assert lzma.decompress(packed) == (nnd_data / "quiz_design" / FILE).read_bytes()
    assert len(packed) <= 250_000
    licence = COPY.with_name("LICENSE").read_text(encoding="utf-8")
    assert licence.startswith(COPY.name)
    assert "Copyright (c) Salesforce.com, Inc." in licence


def apart(place: Path, code: str, *arguments: object, **variables: str) -> None:
    """Run code in a process of its own, with a new home, as one who has fetched nothing has."""
    (place / "home").mkdir()
    kept = {name: value for name, value in os.environ.items() if name != "NND_CACHE"}
    subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=place,
        env=kept | {"HOME": str(place / "home")} | variables,
        check=True,
    )


def bytes_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_copy_is_converted_without_a_network(quiz_design: Conversion, tmp_path: Path) -> None:
    quiz_design.write(tmp_path / "given")
    given = bytes_in(tmp_path / "given")

    # Neither the seed of hashes nor the number of threads shows.
    variables = {"PYTHONHASHSEED": "1", "POLARS_MAX_THREADS": "1"}
    apart(tmp_path, OFFLINE, "convert", "quiz_design", "--out", "copied", **variables)

    assert bytes_in(tmp_path / "copied") == given
    assert sorted(given) == [
        *("annotations.parquet", "human_scores.parquet", "manifest.json", "pairs.parquet")
    ]


def test_the_copy_is_shown_and_described_without_a_network(
    nnd: Nnd, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise SourceError("a file was fetched")

    monkeypatch.setattr("nnd.converters.source.resume.complete", fail)
    assert nnd("show", "quiz_design", "-n", "1").out.startswith("quiz_design has 2,686 pairs; 1 sh")
    monkeypatch.setenv("NND_CACHE", str(tmp_path / "another"))
    assert json.loads(nnd("describe", "quiz_design", "--json").out)["tests"] == 2686


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


def test_another_process_writes_the_same_bytes(
    quiz_design: Conversion, nnd_data: Path, tmp_path: Path
) -> None:
    script = (
        "import sys; from nnd.converters.folder.conversion import convert; "
        "convert('quiz_design', origin=sys.argv[1], out=sys.argv[2])"
    )
    quiz_design.write(tmp_path / "here")
    variables = {"PYTHONHASHSEED": "2", "POLARS_MAX_THREADS": "3"}
    apart(tmp_path, script, nnd_data / "quiz_design", tmp_path / "there", **variables)

    assert bytes_in(tmp_path / "there") == bytes_in(tmp_path / "here")


def test_it_takes_less_than_three_seconds_of_cpu_time(nnd_data: Path, tmp_path: Path) -> None:
    start = time.process_time()
    convert("quiz_design", origin=nnd_data / "quiz_design", out=tmp_path / "out")

    assert time.process_time() - start < 3
