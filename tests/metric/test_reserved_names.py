"""Names that people give to aspects, categories, systems and sets, and that are keys of ours."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from support.metric_runs import human_scores, pair_rows, write_pairs
from support.report.runs import Pretended, write_run
from support.screens.commands import Nnd

from nnd.converters.folder.conversion import convert
from nnd.metric.numbers import agree
from nnd.metric.run import evaluate
from nnd.metric.train.history import HistoryEntry, Point, log_of
from nnd.schemas import OVERALL, category_key, category_of, check_document

NAMES = ("overall", "all", "mean", "context", "category", '"overall"')
SYSTEMS = ("overall", "mean", "all")
CONTEXTS = 4


def source_of(folder: Path, aspects: tuple[str, ...]) -> Path:
    """A source of scores: every system's answers are better by one point than the next one's."""
    folder.mkdir()
    rows = [
        {"key": f"c{context}", "question": f"Which bird is number {context}?", "by": system}
        | {"answer": f"{system} says that it is the heron, {context} times over."}
        | {f"s{number}": 5 - place for number in range(len(aspects))}
        for context in range(CONTEXTS)
        for place, system in enumerate(SYSTEMS)
    ]
    (folder / "birds.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    facts: dict[str, Any] = {
        "name": "birds",
        "pretty_name": "Birds",
        "task": "question answering",
        "languages": ["en"],
        "licence": "CC0-1.0",
        "redistribution": "allowed",
        "citation": "@misc{birds, title={Birds}}",
        "homepage": "https://example.org",
        "files": [{"name": "birds.jsonl", "url": None, "sha256": None, "bytes": None}],
        "aspects": {aspect: f"How good it is: {aspect}." for aspect in aspects},
        "quality": {"rule": "gap", "minimum": 1},
        "taxonomy": {},
        "systems": dict.fromkeys(SYSTEMS),
        "expected": None,
        "notes": [],
        "split": "test",
        "table": {
            "columns": {"context_id": "key", "candidate": "answer", "system": "by"},
            "inputs": {"question": "question"},
            "scores": {aspect: f"s{number}" for number, aspect in enumerate(aspects)},
        },
    }
    (folder / "source.yaml").write_text(yaml.safe_dump(facts), encoding="utf-8")
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A converted folder whose aspects and systems all have our own keys for names."""
    convert(source_of(tmp_path / "birds", NAMES), out=tmp_path / "birds-nnd")
    return tmp_path / "birds-nnd"


def test_keys_of_categories_are_apart_from_each_other_and_from_the_total() -> None:
    names = ["overall", '"overall"', '""overall""', '"overall', 'overall"', "", "Overall", '"']
    keys = [category_key(name) for name in names]

    assert len({OVERALL, *keys}) == len(names) + 1
    assert [category_of(key) for key in keys] == names
    assert category_of(OVERALL) is None
    assert category_key("wrong") == "wrong"  # stored documents stay as they are


def test_such_names_go_from_the_source_to_the_report(data: Path, nnd: Nnd, tmp_path: Path) -> None:
    pairs = pl.read_parquet(data / "pairs.parquet")
    assert pairs.height == CONTEXTS * 3 * len(NAMES)  # three pairs of three systems
    models = [
        Pretended(name, {"": rate}) for name, rate in zip(SYSTEMS, (0.9, 0.6, 0.3), strict=True)
    ]
    run = write_run(tmp_path / "run", data, models)
    commands: list[tuple[object, ...]] = [
        ("validate", data),
        ("check", data),
        ("card", data),
        ("agree", run, "--data", data, "--details"),
        ("slice", run, "--data", data, "--by", "error_category"),
        ("compare", run),
        ("metrics", "--data", data, "--scorer", "length"),
        ("report", run, "--data", data, "--out", tmp_path / "page.html"),
        ("export", run, "--data", data, "--to", "every-eval-ever", "--out", tmp_path / "store"),
        ("export", data, "--to", "lm-eval", "--out", tmp_path / "tasks"),
        ("export", data, "--to", "jsonl", "--out", tmp_path / "rows.jsonl"),
    ]
    for words in commands:
        ran = nnd(*words)
        assert ran.code == 0, (words, ran.err)

    found = agree(run, data)
    check_document("agreement", found.to_dict())
    assert {*found.by_category} == {OVERALL, *map(category_key, NAMES)}
    # Every system's human score is 5, 4 or 3 in every category, and in the total.
    for key, each in found.by_category.items():
        human = {model: judged.human_score for model, judged in each.judged.items()}
        assert human == {"overall": 5.0, "mean": 4.0, "all": 3.0}, key
    scored = pl.read_parquet(run / "log_likelihoods.parquet")
    for name in NAMES:
        own = scored.filter(error_category=name, model="mean")["passed"]
        judged = found.by_category[category_key(name)].judged["mean"]
        assert (judged.pass_rate, judged.n) == (own.mean(), CONTEXTS * 3)
    # In the total, two candidates are one test: that of the first pair in the order of pair_id.
    first = {
        (row["high_id"], row["low_id"]): row["passed"]
        for row in scored.filter(model="mean").sort("pair_id", descending=True).to_dicts()
    }
    whole = found.by_category[OVERALL].judged["mean"]
    assert (whole.pass_rate, whole.n) == (sum(first.values()) / len(first), CONTEXTS * 3)


def test_models_can_be_evaluated_on_an_aspect_called_overall(
    loaded: Callable[[str], Any], tmp_path: Path
) -> None:
    folder = tmp_path / "birds-nnd"
    convert(source_of(tmp_path / "birds", ("overall",)), out=folder)
    models = [loaded("gpt2"), loaded("llama")]

    found = evaluate(models, folder, systems={"gpt2": "mean", "llama": "all"})

    assert found.agreement is not None
    assert [*found.agreement.by_category] == ["overall", '"overall"']
    whole, part = found.agreement.by_category.values()
    assert whole.judged == part.judged


def test_a_category_of_contexts_called_overall_is_not_the_total(tmp_path: Path) -> None:
    rows = pair_rows().with_columns(category=pl.lit("overall"))
    data = write_pairs(tmp_path / "data", rows)
    models = [Pretended("left", {"": 0.9}), Pretended("right", {"": 0.4})]
    found = agree(write_run(tmp_path / "run", data, models), data)

    # The scores of the systems are those of all contexts, so categories are those of errors.
    assert {*found.by_category} == {*human_scores()["category"]}


def test_a_category_with_the_name_of_a_logged_number_is_logged_too() -> None:
    names = ("pass_rate", "seconds", "share_of_time", "wrong")
    by = {name: Point(0.25, 4, None) for name in names}
    entry = HistoryEntry(1, None, Point(0.5, 16, None), "aspect", by, 2.0, 6.0, "nnd|n:16")

    assert log_of(entry) == {
        "nnd/pass_rate": 0.5,
        "nnd/seconds": 2.0,
        "nnd/share_of_time": 0.25,
        **{f'nnd/"{name}"': 0.25 for name in names[:3]},
        "nnd/wrong": 0.25,
    }
