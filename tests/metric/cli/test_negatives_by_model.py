"""The worked examples of texts that a model writes, run as people run them."""

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import ModuleType

import polars as pl
import pytest
from rouge_score.rouge_scorer import RougeScorer

import nnd

EXAMPLES = Path(__file__).parent / "examples"
FUNCTIONS = ["maskent", "hallu", "mask_entity", "hallucinate", "low_confidence"]


@pytest.fixture
def example(saved: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example, which writes short texts by a tiny model."""
    monkeypatch.setenv("NND_EXAMPLE_MODEL", str(saved("bart")))
    code = (EXAMPLES / "negatives_by_model.py").read_text(encoding="utf-8")
    copy = tmp_path / "negatives_by_model.py"
    copy.write_text(code.replace("MOST_TOKENS = 142", "MOST_TOKENS = 8"), encoding="utf-8")
    return copy


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_model_writes_negatives(
    function: str, example: Path, sample: Path, tmp_path: Path
) -> None:
    report = nnd.derive(
        sample,
        [f"{example}:{function}"],
        out=tmp_path / "suite",
        negatives="preferred",
        aspect="question",
        seed=1,
    )
    pairs = pl.read_parquet(tmp_path / "suite" / "sets" / f"{function}.parquet")

    assert report.sets[0]["operation"] == function
    assert pairs["origin"].unique().to_list() == [f"synthetic:{function}"]
    assert pairs.filter(pl.col("candidate_high") == pl.col("candidate_low")).is_empty()
    if function == "hallucinate":  # it goes on from the text's own beginning
        begin_alike = pl.col("candidate_low").str.slice(0, 3) == pl.col("candidate_high").str.slice(
            0, 3
        )
        assert pairs.select(begin_alike.all()).item()
    assert nnd.validate(tmp_path / "suite").ok


DIALOGUE = "Amanda: I baked cookies.\nJerry: Sure!\nAmanda: I'll bring you 2 tomorrow."
MASKED = {
    "Amanda will bring Jerry 2 in May.": {
        "<mask> will bring Jerry <mask> in <mask>.",
        "Amanda will bring <mask> <mask> in <mask>.",
    },
    "They meet at 7:30.": {"They meet at <mask>."},
    "She bakes.": {None},
}


@pytest.mark.parametrize("text", MASKED)
def test_maskent_masks_one_entity_of_each_type(
    text: str, example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name is not also a speaker, and pronouns are no entities."""
    module = loaded(example)
    monkeypatch.setattr(module, "_mask", lambda: "<mask>")
    monkeypatch.setattr(module, "_write", lambda _model, masked: (masked, 1.0))
    found = {module.maskent(text, Random(seed), DIALOGUE) for seed in range(20)}
    assert found == MASKED[text]


def test_fake_references_are_the_summaries_closest_to_the_conversation(
    saved: Callable[[str], Path], tmp_path: Path
) -> None:
    rows = [{"context": DIALOGUE, "id": "a"}, {"context": "Ann: Hi.\nBob: Hi, at 7?", "id": "b"}]
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    (tmp_path / "talks.jsonl").write_text(lines, encoding="utf-8")
    code = (EXAMPLES / "fake_references.py").read_text(encoding="utf-8")
    code = code.replace("MOST_TOKENS = 64", "MOST_TOKENS = 6")
    (tmp_path / "fake_references.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "fake_references.py", "talks.jsonl", "made.jsonl"]
    environment = {"NND_EXAMPLE_MODEL": str(saved("bart")), "PATH": "", "OMP_NUM_THREADS": "1"}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    made = [json.loads(line) for line in (tmp_path / "made.jsonl").read_text().splitlines()]

    assert [(row["context"], row["id"]) for row in made] == [(r["context"], r["id"]) for r in rows]
    assert all(isinstance(row["reference"], str) for row in made)


def test_the_closest_of_several_summaries_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = loaded(EXAMPLES / "fake_references.py")
    said = ["Nobody came.", "Amanda baked cookies for Jerry.", "Cookies."]
    scorer = RougeScorer(["rougeL"], use_stemmer=True)
    scores = [scorer.score(DIALOGUE, text)["rougeL"].fmeasure for text in said]
    assert scores.index(max(scores)) == 1

    class Stub:
        def __call__(self, prompts: list[str], **_: object) -> "Stub":
            assert all(DIALOGUE in prompt for prompt in prompts)
            assert len({*prompts}) == len(said)
            return self

        def to(self, _device: str) -> "Stub":
            return self

        def __getitem__(self, name: str) -> str:
            return name

        def generate(self, *_: object, **__: object) -> list[int]:
            return [0, 1, 2]

        def batch_decode(self, ids: list[int], **_: object) -> list[str]:
            return [said[number] for number in ids]

    for name in ("AutoTokenizer", "AutoModelForSeq2SeqLM"):
        stub = type(name, (), {"from_pretrained": staticmethod(lambda _: Stub())})
        monkeypatch.setattr(module, name, stub)
    (tmp_path / "talks.jsonl").write_text(json.dumps({"context": DIALOGUE}), encoding="utf-8")
    module.main(tmp_path / "talks.jsonl", tmp_path / "made.jsonl")
    assert json.loads((tmp_path / "made.jsonl").read_text())["reference"] == said[1]
