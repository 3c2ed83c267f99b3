"""Results for Every Eval Ever, checked by its own validator (installed by `make .venv/dev`)."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.card_folders import make_folder, rows_of_paragraphs
from support.refusals import refusal
from support.report.runs import Pretended, write_run

from nnd.converters.make import derive
from nnd.metric.app import export
from nnd.metric.likelihood import LoadedModel, Scoring
from nnd.metric.run import evaluate

PLAIN = Scoring(cache=False, unconditional=False)
BLIMP = [
    {"sentence_good": f"{n} cats sit.", "sentence_bad": f"{n} cats sits.", "UID": "agree"}
    for n in range(3)
]


def validated(folder: Path) -> str:
    """What the validator says; it exits with 1 for errors and with 2 for warnings."""
    ran = subprocess.run(
        [sys.executable, "-m", "every_eval_ever.validate", "data/*/*/*/*", "--format", "json"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_two_models_on_two_datasets(
    sample: Path, loaded: Callable[[str], LoadedModel], tmp_path: Path
) -> None:
    own = tmp_path / "agree.jsonl"
    own.write_text("".join(f"{json.dumps(row)}\n" for row in BLIMP), encoding="utf-8")
    run, out = tmp_path / "run", tmp_path / "out"
    models = [loaded("gpt2"), loaded("llama")]
    scored = evaluate(models, [sample, own], out=run, scoring=PLAIN)
    made = export(run, out, to="every-eval-ever", data=[sample, own])
    assert made.rows == 4
    assert validated(out).count('"valid": true') == 8

    (file,) = (out / "data" / "nnd_sample-nnd" / "local" / "gpt2").glob("*[0-9a-f].json")
    document: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    wanted = scored.evaluations["sample-nnd"].results[0]
    first, *slices = document["evaluation_results"]
    assert first["evaluation_name"] == "sample-nnd / overall"
    assert first["score_details"]["score"] == wanted.rates.overall.pass_rate
    assert first["score_details"]["details"]["signature"] == wanted.signature
    assert len(slices) == sum(len(rates) for rates in wanted.rates.by.values())
    lines = file.with_name(f"{file.stem}_samples.jsonl").read_text(encoding="utf-8").splitlines()
    samples = [json.loads(line) for line in lines]
    assert len(samples) == 72
    passed = sum(sample["evaluation"]["is_correct"] for sample in samples)
    assert passed == wanted.rates.overall.passes
    assert samples[0]["metadata"]["ll_high"] == repr(
        scored.evaluations["sample-nnd"].scored["ll_high"][0]
    )


def test_a_suite(sample: Path, loaded: Callable[[str], LoadedModel], tmp_path: Path) -> None:
    derive(sample, ["typos=0.5"], out=tmp_path / "suite")
    evaluate(loaded("gpt2"), tmp_path / "suite", out=tmp_path / "run", scoring=PLAIN)
    export(tmp_path / "run", tmp_path / "out", to="every-eval-ever", data=tmp_path / "suite")
    validated(tmp_path / "out")
    (file,) = (tmp_path / "out").rglob("*[0-9a-f].json")
    names = [each["evaluation_name"] for each in json.loads(file.read_text())["evaluation_results"]]
    assert [name for name in names if "/ set " in name]


def test_without_pairs_there_are_rates_only(
    sample: Path, loaded: Callable[[str], LoadedModel], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    evaluate(loaded("gpt2"), sample, out=run, scoring=PLAIN, limit=4)
    made = export(run, tmp_path / "out", to="every-eval-ever")
    assert made.headline() == f"1 evaluation written to {tmp_path / 'out'}."
    assert "a run has no texts; name its pairs with --data" in made.notes[-1]
    validated(tmp_path / "out")
    assert not [*(tmp_path / "out").rglob("*.jsonl")]
    with refusal("run.another-data", "run"):
        export(run, tmp_path / "other", to="every-eval-ever", data=BLIMP)
    with refusal("run.not-a-run", "sample"):
        export(sample, tmp_path / "other", to="every-eval-ever")
    assert not (tmp_path / "other").exists()


def test_few_clusters_are_said(loaded: Callable[[str], LoadedModel], tmp_path: Path) -> None:
    for n in (7, 12):
        rows = rows_of_paragraphs(n, questions=2)
        data = make_folder(tmp_path / f"{n}", rows, cluster="paragraph")
        evaluate(loaded("gpt2"), data, out=tmp_path / f"run{n}", scoring=PLAIN)
        made = export(tmp_path / f"run{n}", tmp_path / f"out{n}", to="every-eval-ever", data=data)
        few = f"birds-nnd: the tests come from only {n} paragraphs; with fewer than 10, intervals"
        assert any(note.startswith(few) for note in made.notes) == (n < 10)


def test_names_longer_than_a_file_system_takes(sample: Path, tmp_path: Path) -> None:
    names = [f"{'m' * 290}{number}" for number in range(2)]
    run = tmp_path / "run"
    write_run(run, sample, [Pretended(name, {"": 0.5}, 10**7) for name in names])
    export(run, tmp_path / "out", to="every-eval-ever")
    folders = [path.name for path in (tmp_path / "out/data/nnd_sample-nnd/local").iterdir()]
    assert len(folders) == 2
    assert all(len(name) < 200 for name in folders)
