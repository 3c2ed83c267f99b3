"""`nnd metrics`: a table for people, JSON for machines, and one line for what a user can mend."""

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from support.judged_cases import write_judged, write_references
from support.screens.commands import Nnd
from support.stored_folders import read_manifest, write_manifest

from nnd.metric.run import evaluate


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_judged(tmp_path / "data")


def test_a_table_and_its_details(nnd: Nnd, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, err = nnd("metrics", "--data", data)
    assert (code, err) == (0, "")
    brief = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line.strip()}
    assert brief["length"][:2] == ["100.0", "n/a"]  # three systems are too few for a correlation
    assert "Correlations of 3 systems are printed where --details or --statistics asks" in out
    monkeypatch.setenv("COLUMNS", "300")
    code, out, err = nnd("metrics", "--data", data, "--details")
    out = out.partition("\n metric  ")[2].partition("\n metric  ")[2]
    shown = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line.strip()}
    # 3 of 3 pairs passed, no tie, 3 systems; tau is 1; the mean is over one category; 5 judged
    # candidates, 1 context. `overlap` is 0 for the empty candidate, so it counts in both rows; r is
    # as below. The gaps of each pair once: lengths 12.5, 6, 3.33 give 6.5, 9.17, 2.67, and scores
    # 2, 1.5, 0.5 give 0.5, 1.5, 1; about their means, 1.333 / (4.621 * 0.707) = 0.408.
    assert shown["length"][:12] == [
        *("100.0", "3", "0", "3"),
        *("1.000", "0.910", "0.408", "1.000", "0.910", "0.408"),
        *("5", "1"),
    ]
    assert "length: characters of the candidate" in out
    assert "the same 3 systems (a, b, c) and 6 candidates\n" in out


def test_references_bring_the_scorers_that_need_them(nnd: Nnd, data: Path, tmp_path: Path) -> None:
    references = write_references(tmp_path / "references.jsonl")
    code, out, _ = nnd("metrics", "--data", data, "--references", references, "--json")
    rows = json.loads(out)["rows"]
    names = ["rouge1", "rouge2", "rouge3", "rougeL", "bleu", "chrf", "length", "overlap"]
    assert (code, [row["name"] for row in rows]) == (0, names)


def test_several_references(nnd: Nnd, data: Path, tmp_path: Path) -> None:
    references = write_references(tmp_path / "references.jsonl")
    arguments = ("--references", references, "--scorer", "rouge1", "--out")
    scores = {}
    for several in ("max", "mean"):
        options = [*arguments, tmp_path / several, "--several", several]
        assert nnd("metrics", "--data", data, *options).code == 0
        frame = pl.read_parquet(tmp_path / several / "scores.parquet")
        scores[several] = frame.filter(candidate_id="1/b")["score"].item()
    # "the cat" against "the cat sat" 4/5, against "one cat sat down" 1/3
    assert scores == pytest.approx({"max": 4 / 5, "mean": (4 / 5 + 1 / 3) / 2})


def test_a_run_and_a_prompted_model(
    nnd: Nnd, data: Path, saved: Callable[[str], Path], tmp_path: Path
) -> None:
    model = saved("bart")
    folder = tmp_path / "run"
    folder.mkdir()
    evaluate(str(model), data).write(folder)
    code, out, _ = nnd(
        "metrics",
        *(folder, "--data", data, "--system", f"{model}=a", "--json"),
        *("--scorer", f"prompted={model}", "--template", "{context}"),
    )
    prompted, stored, nnd = json.loads(out)["rows"]
    assert (code, nnd["name"]) == (0, "NND pass rate")
    assert nnd["systems_reason"].startswith("agreement needs two models matched")
    # The prompt is the context alone, so these are the likelihoods of the run.
    assert prompted["rates"]["pass_rate"] == stored["rates"]["pass_rate"]
    # Two judged candidates and the one that nobody judged are in no pair.
    shared = json.loads(out)["shared"]
    assert (shared["candidates"], shared["unscored"]) == (3, {str(model): 3})
    assert prompted["candidates"]["quality"]["n"] == stored["candidates"]["quality"]["n"] == 3


def test_the_instruction_of_the_data(
    nnd: Nnd, data: Path, saved: Callable[[str], Path], tmp_path: Path
) -> None:
    asked = {"instruction": {"en": "Say: {context}"}, "instruction_from": "Invented."}
    source = read_manifest(data)["source"]
    write_manifest(data, read_manifest(data) | {"source": source | asked})
    arguments = ("--data", data, "--scorer", f"prompted={saved('bart')}", "--template")

    for name, template in {"words": "instruction", "own": "Say: {context}"}.items():
        assert nnd("metrics", *arguments, template, "--out", tmp_path / name)[0] == 0

    scores = [pl.read_parquet(tmp_path / name / "scores.parquet") for name in ("words", "own")]
    assert scores[0].equals(scores[1])
    assert scores[0]["score"].null_count() < scores[0].height


def test_prompts_on_both_sides(
    nnd: Nnd, data: Path, saved: Callable[[str], Path], tmp_path: Path
) -> None:
    references = write_references(tmp_path / "references.jsonl")
    code, out, _ = nnd(
        "metrics",
        *("--data", data, "--references", references, "--several", "first", "--json"),
        *("--scorer", f"bartscore_f_harmonic={saved('bart')}"),
        *("--template", "{context}\\nThat is,", "--prefix", "in short, "),
    )
    (row,) = json.loads(out)["rows"]
    assert code == 0
    assert row["definition"].startswith(
        'log-likelihood, f_harmonic; template "{context}\nThat is,"; "in short, " before what is '
        "predicted; first reference; "
    )
    assert row["rates"]["unscored"] == 0


@pytest.mark.parametrize(
    ("arguments", "code", "where"),
    [
        (["--data", "none"], "data.not-converted", "none"),
        (["--data", "data", "--scorer", "rouge1"], "scorer.references", ""),
        (["--data", "data", "--scorer", "rouge"], "option.unknown-value", ""),
        (["--data", "data", "--over", "a,d"], "option.unknown-value", "over"),
        (["--data", "data", "--several", "last"], "option.unknown-value", ""),
        (
            ["--data", "data", "--scorer", "prompted=gpt2", "--template", "Sum up:"],
            "template.unknown",
            "",
        ),
        (["--data", "data", "--aspect", "style"], "name.unknown", ""),
        (["data", "--data", "data"], "run.not-a-run", "data"),
        (["--data", "data", "--references", "none.csv"], "file.not-found", "none.csv"),
        (["--data", "data", "--system", "a"], "option.bad-value", '--system "a"'),
    ],
)
@pytest.mark.usefixtures("data")
def test_what_a_user_can_mend(arguments: list[str], code: str, where: str, nnd: Nnd) -> None:
    nnd.refuses("metrics", *arguments, code=code, where=where)
