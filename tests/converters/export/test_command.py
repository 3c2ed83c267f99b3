"""`nnd export`: what it prints, what it refuses, what it does not load."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.refusals import command_refusal

from nnd.converters.folder.conversion import convert
from nnd.metric.cli.command import main
from nnd.schemas.files.parquet import read_parquet

LOADED = """
import sys
from nnd.metric.cli.command import main
try:
    main()
finally:
    print("loaded:", *({"torch", "transformers", "datasets"} & set(sys.modules)))
"""


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    convert("sample", out=tmp_path / "sample-nnd")
    return tmp_path / "sample-nnd"


def nnd(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    """Run the command in this process; its exit code."""
    monkeypatch.setattr(sys, "argv", ["nnd", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_it_tells_what_was_written_and_what_to_know(
    sample: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = sample.with_name("tasks")
    assert nnd(monkeypatch, "export", sample, "--to", "lm-eval", "--out", out) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == f"72 rows written to {out}."
    assert "--tasks nnd_sample --include_path FOLDER" in said[1]
    assert (out / "nnd_sample.yaml").is_file()


@pytest.mark.parametrize("target", ["trl", "jsonl"])
def test_it_loads_no_model_library(target: str, sample: Path) -> None:
    arguments = ["export", sample, "--to", target, "--out", sample.with_name("out")]
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *arguments], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "loaded:"


def test_a_template_words_the_contexts(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = sample.with_name("tasks")
    options = ["--to", "lm-eval", "--out", where, "--template", "{context} =>"]
    assert nnd(monkeypatch, "export", sample, *options) == 0
    flat = sample.with_name("pairs.jsonl")
    assert nnd(monkeypatch, "export", sample, "--to", "jsonl", "--out", flat) == 0
    first = json.loads(flat.read_text(encoding="utf-8").splitlines()[0])
    row = read_parquet(where / "pairs.parquet").row(0, named=True)
    assert row["context"] == f"{first['context']} =>"
    assert row["choices"] == [first["candidate_low"], first["candidate_high"]]


def test_a_split_cuts_by_context(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sides = []
    for seed in (0, 1):
        flat = sample.with_name(f"pairs-{seed}.jsonl")
        options = ["--split", 0.7, "--split-seed", seed, "--to", "jsonl", "--out", flat]
        assert nnd(monkeypatch, "export", sample, *options) == 0
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
    options: list[str],
    code: str,
    sample: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = str(sample.with_name("out"))
    monkeypatch.setattr(sys, "argv", ["nnd", "export", str(sample), "--out", out, *options])
    with command_refusal(code):
        main()
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("", 1)
    assert [path.name for path in sample.parent.iterdir()] == ["sample-nnd"]
