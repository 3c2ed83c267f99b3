"""A built-in list of runs, with tiny models under its names on the loopback Hub."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
import torch
from support.hub.clients import IMPATIENT, environment
from support.hub.server import Hub
from support.places import ROOT
from support.tiny_models import Family

from nnd.converters.folder import convert
from nnd.metric.show import report

STAND_INS = {
    "microsoft/prophetnet-large-uncased-squad-qg": "prophetnet",
    "Salesforce/mixqg-large": "t5",
    "allenai/macaw-3b": "t5",
    "google/t5-small-ssm-nq": "t5",
    "facebook/bart-large-cnn": "bart",
    "google/pegasus-xsum": "pegasus",
}
SOURCES = ("quiz_design", "challenge300", "goyal_gpt3_news")


class Golden(NamedTuple):
    """A finished run of the list: what it printed, and its folder."""

    code: int
    out: str
    folder: Path


@pytest.fixture(scope="module")
def golden(
    saved: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Golden]:
    """The list `golden` on the small files of the sources."""
    place = tmp_path_factory.mktemp("golden")
    for name in SOURCES:  # a folder of its name in the working folder comes first
        convert(name, origin=ROOT / "converters/sources" / name / "fixture", out=place / name)
    with Hub() as hub:
        for name, family in STAND_INS.items():
            files = {path.name: path.read_bytes() for path in saved(family).iterdir()}
            hub.commit("models", name, files)
        command = [sys.executable, IMPATIENT, "-m", "nnd", "evaluate", "--runs", "golden"]
        variables = environment(hub.endpoint, place / "home") | {"COLUMNS": "150"}
        done = subprocess.run(
            [*command, "--out", "out"],
            cwd=place,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )
        yield Golden(done.returncode, done.stdout, place / "out")


class Row(NamedTuple):
    """A run of the list, and how H9 of fresh.md describes what its model was fed.

    Attributes:
        folder: Its folder, without the protocol.
        start: What the decoder starts with.
        end: The end token, which is scored.
        prefix: Stands before every candidate, inside the mean.
    """

    folder: str
    model: str
    start: int
    end: int
    template: str
    prefix: str = ""

    def mean_log_likelihood(self, family: Family, context: str, candidate: str) -> float:
        """The mean per target token, one candidate at a time; long contexts are cut."""
        tokenizer = family.tokenizer
        source = tokenizer(context, truncation=True, return_tensors="pt")["input_ids"]
        ids = tokenizer(self.prefix + candidate, add_special_tokens=False)["input_ids"]
        fed, target = torch.tensor([[self.start, *ids]]), [*ids, self.end]
        with torch.inference_mode():
            logits = family.model(input_ids=source, decoder_input_ids=fed).logits
        log_p = torch.log_softmax(logits[0].double(), -1)
        return sum(float(log_p[i, token]) for i, token in enumerate(target)) / len(target)


MIXQG, MACAW, T5 = "Salesforce/mixqg-large", "allenai/macaw-3b", "google/t5-small-ssm-nq"
PROPHETNET = "microsoft/prophetnet-large-uncased-squad-qg"
MACAW_QG = "$question$ ; $context$ = {paragraph} ; $answer$ = {answer}"
MACAW_QA = "$answer$ ; $question$ = {question}"
ROWS = [
    Row("+prophetnet/quiz_design", PROPHETNET, 102, 102, "{answer} [SEP] {paragraph}"),
    Row("+mixqg/quiz_design", MIXQG, 0, 1, r"{answer} \n {paragraph}"),
    Row("+macaw/quiz_design", MACAW, 0, 1, MACAW_QG, "$question$ = "),
    Row("+macaw/challenge300", MACAW, 0, 1, MACAW_QA, "$answer$ = "),
    Row("/challenge300", T5, 0, 1, "{question}"),
    Row("+split-cnn/goyal_gpt3_news", "facebook/bart-large-cnn", 0, 2, "{article}"),
    Row("+split-bbc/goyal_gpt3_news", "google/pegasus-xsum", 0, 1, "{article}"),
]
TESTS = [9, 9, 9, 18, 18, 4, 1]


@pytest.mark.parametrize(
    ("row", "n"), [*zip(ROWS, TESTS, strict=True)], ids=[row.folder for row in ROWS]
)
def test_the_protocol_is_that_of_the_notebooks(
    row: Row, n: int, golden: Golden, tiny: Callable[[str], Family]
) -> None:
    folder, family = golden.folder / f"laban2022{row.folder}", tiny(STAND_INS[row.model])
    pairs = pl.read_parquet(golden.folder.parent / folder.name / "pairs.parquet")
    scored = pl.read_parquet(folder / "log_likelihoods.parquet").join(pairs, on="pair_id")
    assert scored.height == n
    for test in scored.iter_rows(named=True):
        parts = {each["key"]: each["value"] for each in test["inputs"]}
        context = row.template.format_map(parts)
        first, second = (
            row.mean_log_likelihood(family, context, test[side])
            for side in ("candidate_high", "candidate_low")
        )
        assert (test["ll_high"], test["ll_low"]) == pytest.approx((first, second), abs=1e-4)
        assert test["passed"] == (first > second)


def test_what_is_missing_is_left_out_with_the_reason(golden: Golden) -> None:
    assert golden.code == 1
    assert "Results of 6 models on 7 datasets; 11 failures." in golden.out
    for name in ("Salesforce/mixqg-3b", "Yale-LILY/brio-cnndm-cased", "allenai/unifiedqa-t5-3b"):
        assert f"{name}: no such model: " in golden.out


def results(folder: Path) -> dict[str, Any]:
    whole = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    return {each["model"]: each for each in whole["results"]}


def test_published_passes_stand_beside_ours(golden: Golden, tmp_path: Path) -> None:
    folder = golden.folder / "laban2022/challenge300"
    (result,) = results(folder).values()
    # Of 18 tests, not 807: without equal numbers of tests there is no difference in passes.
    ours = f"{result['passes']} of 18"
    assert f" 415 of 807 (51.4 %) {ours} (38.9 %) other tests" in " ".join(golden.out.split())
    assert result["published"]["by"]["category"]["Science"] == [85, 193]

    report(folder, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<h2>Published results</h2>" in page
    assert "415 of 807 (51.4 %)" in page
    assert "85 of 193" in page
    assert "Published in NND_QA.ipynb, cell 3. The notebooks ran in 2022" in page
