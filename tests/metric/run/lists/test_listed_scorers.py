"""Scorers in a list of runs: pass rates beside correlations, ours beside the published ones."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.refusals import refusal
from support.screens.commands import Nnd

from nnd.converters.folder import convert
from nnd.metric.app import evaluate_runs
from nnd.metric.other_metrics import metrics

PUBLISHED = {"source": "ED-FAITH, Table 4", "n": 597}
ROUGE = {"rouge1": 0.2462, "rouge2": 0.2626, "rouge3": 0.2415, "rougeL": 0.2461}


def write(folder: Path, *entries: dict[str, Any]) -> Path:
    path = folder / "runs.yaml"
    path.write_text(yaml.safe_dump([*entries]), encoding="utf-8")
    return path


def test_rouge_of_edfaith_stands_beside_the_published_numbers(
    nnd_data: Path, tmp_path: Path, nnd: Nnd
) -> None:
    convert("confit_samsum", origin=nnd_data / "confit_samsum", out=tmp_path / "confit_samsum")
    listed = [
        {"scorer": name, "data": "confit_samsum", "published": {**PUBLISHED, "spearman": rho}}
        for name, rho in ROUGE.items()
    ]
    printed = nnd("evaluate", "--runs", write(tmp_path, *listed), "--out", "out").out.split()
    for name, rho in ROUGE.items():
        at = printed.index(name)
        assert printed[at + 2 : at + 6] == [f"{rho:.4f}", "597", f"{rho:.4f}", "597"]
    assert "Published in ED-FAITH, Table 4." in " ".join(printed)


def test_a_model_and_scorers_share_a_list(
    sample: Path, saved: Callable[[str], Path], tmp_path: Path
) -> None:
    """Paths are relative to the file; the scorer's numbers are those of `nnd metrics`."""
    for name, place in (("bart", saved("bart")), ("sample", sample)):
        (tmp_path / name).symlink_to(place)
    scorer = "bartscore_faithfulness=bart"
    entries: list[dict[str, Any]] = [
        {"scorer": "length", "data": "sample", "element": "Table 4"},
        {"model": "./bart", "data": "sample", "protocol": "bartscore"},
        {"scorer": scorer, "data": "sample", "template": "Say: {context}", "element": ["Table 1"]},
    ]
    found = evaluate_runs(write(tmp_path, *entries), out=tmp_path / "out")

    assert found.ok
    assert [*found.evaluations] == [f"bartscore/{sample.name}"]
    tables = found.scorers[sample.name].to_dict()
    spelled = f"bartscore_faithfulness={tmp_path / 'bart'}"
    assert [*tables] == ["length", spelled]
    alone = metrics(data=sample, scorers=spelled, template="Say: {context}").to_dict()
    assert tables[spelled]["rows"] == alone["rows"]
    places = sorted(path.parent.name for path in (tmp_path / "out").rglob("metrics.json"))
    assert len(places) == 2
    assert places[1] == "length"
    stored = json.loads(json.dumps(found.to_dict()))["scorers"][sample.name]
    assert stored[spelled] == tables[spelled]

    few = evaluate_runs(write(tmp_path, *entries), out=tmp_path / "few", limit=2)
    assert few.scorers == {}


def test_a_scorer_that_fails_is_left_out_with_the_reason(sample: Path, tmp_path: Path) -> None:
    entries = [{"scorer": name, "data": str(sample)} for name in ("bertscore=nowhere/no", "length")]
    with pytest.warns(match="bertscore=nowhere/no"):
        found = evaluate_runs(write(tmp_path, *entries), out=tmp_path / "out")
    assert not found.ok
    assert [failure.model for failure in found.failures] == ["bertscore=nowhere/no"]
    assert "runs.yaml:1" in found.failures[0].reason
    assert [*found.scorers[sample.name].to_dict()] == ["length"]


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"scorer": "length"}, "runs.entry", "runs.yaml:1"),
    ({"scorer": "length", "data": "sample", "protocol": "native"}, "key.unknown", "runs.yaml:2"),
    ({"scorer": "length", "model": "gpt2", "data": "sample"}, "key.unknown", "runs.yaml:2"),
    ({"scorer": 3, "data": "sample"}, "runs.entry", "runs.yaml:2"),
    ({"scorer": "lenght", "data": "sample"}, "option.unknown-value", "runs.yaml:1"),
    (
        {"scorer": "length", "data": "sample", "published": {**PUBLISHED, "spearman": 2}},
        "runs.entry",
        "published/spearman",
    ),
]


@pytest.mark.parametrize(("entry", "code", "where"), WRONG)
def test_an_entry_that_is_wrong_is_named(
    entry: dict[str, Any], code: str, where: str, sample: Path, tmp_path: Path
) -> None:
    if entry.get("data") == "sample":
        entry = {**entry, "data": str(sample)}
    with refusal(code, where):
        evaluate_runs(write(tmp_path, entry), out=tmp_path / "out")
