"""`nnd export`: what it prints, what it refuses, what it does not load."""

import json
from pathlib import Path

import pytest
from support.screens.commands import Nnd, run_apart

from nnd.schemas.reading.parquet import read_parquet


def test_it_tells_what_was_written_and_what_to_know(sample: Path, nnd: Nnd) -> None:
    ran = nnd("export", sample, "--to", "lm-eval", "--out", "tasks")
    said = ran.out.splitlines()
    assert (ran.code, said[0]) == (0, "72 rows written to tasks.")
    assert "--tasks nnd_sample --include_path FOLDER" in said[1]
    assert Path("tasks", "nnd_sample.yaml").is_file()


def test_it_loads_no_model_library(sample: Path, tmp_path: Path) -> None:
    targets = [["export", sample, "--to", name, "--out", name] for name in ("trl", "jsonl")]
    for ran in run_apart(*targets, folder=tmp_path):
        assert (ran.code, {"torch", "transformers", "datasets"} & {*ran.loaded}) == (0, set())


def test_a_template_words_the_contexts(sample: Path, nnd: Nnd) -> None:
    options = ["--to", "lm-eval", "--out", "tasks", "--template", "{context} =>"]
    assert nnd("export", sample, *options).code == 0
    assert nnd("export", sample, "--to", "jsonl", "--out", "pairs.jsonl").code == 0
    first = json.loads(Path("pairs.jsonl").read_text(encoding="utf-8").splitlines()[0])
    row = read_parquet(Path("tasks", "pairs.parquet")).row(0, named=True)
    assert row["context"] == f"{first['context']} =>"
    assert row["choices"] == [first["candidate_low"], first["candidate_high"]]


def test_a_split_cuts_by_context(sample: Path, nnd: Nnd, tmp_path: Path) -> None:
    sides = []
    for seed in (0, 1):
        flat = tmp_path / f"pairs-{seed}.jsonl"
        options = ["--split", 0.7, "--split-seed", seed, "--to", "jsonl", "--out", flat]
        assert nnd("export", sample, *options).code == 0
        rows = [json.loads(line) for line in flat.read_text(encoding="utf-8").splitlines()]
        assert len(rows) == 72
        sides.append({(row["context_id"], row["split"]) for row in rows})
        assert len(sides[-1]) == 14
        assert {split for _, split in sides[-1]} == {"train", "test"}
    assert sides[0] != sides[1]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--to", "xml"], "option.unknown-value"),
        (["--to", "csv", "--template", "mixqg"], "option.conflict"),
        (["--to", "trl", "--template", "{nose}"], "template.placeholder"),
        (["--to", "trl", "--template", "wrong"], "template.unknown"),
        (["--to", "trl", "--split", "0.001"], "data.too-few-contexts"),
    ],
)
def test_a_slip_is_one_line_and_leaves_nothing(
    options: list[str], code: str, sample: Path, nnd: Nnd, tmp_path: Path
) -> None:
    nnd.refuses("export", sample, "--out", "out", *options, code=code)
    assert [*tmp_path.iterdir()] == []
