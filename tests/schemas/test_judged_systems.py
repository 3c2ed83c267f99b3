"""What `systems` says of a judged system, in the short form and as a record."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from support.refusals import refusal

from nnd.converters.folder.conversion import convert
from nnd.converters.source import load_source
from nnd.schemas import JudgedSystem, check_rows, make_human_scores, read_systems

LORA = {
    "id": "google/flan-t5-xl",
    "adapter": "org/flan-t5-xl-lora",
    "template": "answer: {answer}  context: {passage}",
    "certainty": "exact",
    "evidence": "the paper",
}
LIKELY = {"id": "org/otter", "certainty": "likely", "evidence": "a table of the paper"}
GUESS = LIKELY | {"certainty": "guess"}


def test_the_short_form_is_an_exact_id_without_a_template() -> None:
    found = read_systems({"systems": {"otter": "org/otter", "heron": None}})

    assert found == {
        "otter": JudgedSystem("org/otter", None, None, "exact", None),
        "heron": JudgedSystem(None),
    }
    assert [each.model_id for each in found.values()] == ["org/otter", None]


def test_an_adapter_is_what_loads_a_system() -> None:
    lora = read_systems({"systems": {"lora": LORA}})["lora"]

    # Not the model below it, which is another system.
    assert (lora.checkpoint, lora.model_id) == ("org/flan-t5-xl-lora", "org/flan-t5-xl-lora")
    assert lora.template == LORA["template"]


@pytest.mark.parametrize("record", [LIKELY, GUESS])
def test_an_id_that_is_not_exact_loads_but_is_not_compared(record: dict[str, Any]) -> None:
    system = read_systems({"systems": {"otter": record}})["otter"]

    assert (system.checkpoint, system.model_id) == ("org/otter", None)


def test_human_scores_have_the_exact_ids_only() -> None:
    rows = pl.DataFrame(
        {
            "split": "test",
            "candidate_id": ["1/a", "1/b", "1/c"],
            "group": pl.Series([None] * 3, dtype=pl.String),
            "system": ["a", "b", "c"],
            "category": pl.Series([None] * 3, dtype=pl.String),
            "aspect": "truth",
            "label": ["yes", "no", "no"],
            "score": pl.Series([None] * 3, dtype=pl.Float64),
            "ratings": pl.Series([None] * 3, dtype=pl.List(pl.Float64)),
        }
    )
    systems = {"a": "org/a", "b": LORA, "c": LIKELY}
    rule = {"rule": "no_error", "no_error": "yes"}

    scores = make_human_scores(rows, {"name": "pond", "quality": rule, "systems": systems})

    ids = dict(scores.select("system", "model_id").unique().iter_rows())
    assert ids == {"a": "org/a", "b": "org/flan-t5-xl-lora", "c": None}


@pytest.mark.parametrize(
    ("system", "message"),
    [
        ({"id": "org/otter", "certainty": "exact"}, "evidence"),
        ({"id": "org/otter", "evidence": "the paper"}, "certainty"),
        (LIKELY | {"certainty": "sure"}, "sure"),
        (LIKELY | {"id": "an otter"}, "an otter"),
        (LIKELY | {"size": 7}, "size"),
        (7, "7"),
    ],
)
def test_a_record_that_says_too_little_is_refused(system: Any, message: str) -> None:
    facts = load_source("sample").facts | {"systems": {"otter": system}}

    problems = [str(problem) for problem in check_rows("source", [facts])]

    assert len(problems) == 1
    assert "systems" in problems[0]
    assert message in problems[0]


@pytest.fixture
def with_systems(tmp_path: Path) -> Callable[..., Path]:
    """`with_systems({…})`: the sample with other judged systems."""

    def make(systems: dict[str, Any]) -> Path:
        sample = load_source("sample").folder
        facts = yaml.safe_load((sample / "source.yaml").read_text(encoding="utf-8"))
        facts["systems"] |= systems
        (tmp_path / "source.yaml").write_text(yaml.safe_dump(facts, sort_keys=False))
        for name in ("convert.py", "sample.jsonl"):
            (tmp_path / name).write_bytes((sample / name).read_bytes())
        return tmp_path

    return make


def test_the_record_travels_in_the_manifest(with_systems: Callable[..., Path]) -> None:
    (name, *_) = load_source("sample").systems
    record = LIKELY | {"template": "{context}"}

    conversion = convert(with_systems({name: record}))

    assert conversion.manifest["source"]["systems"][name] == record
    assert read_systems(conversion.manifest["source"])[name].template == "{context}"


def test_a_template_of_parts_that_no_context_has_is_refused(
    with_systems: Callable[..., Path],
) -> None:
    (name, *_) = load_source("sample").systems
    folder = with_systems({name: LIKELY | {"template": "{article} TL;DR"}})

    with refusal("row.wrong-shape", "sample.jsonl:1, outputs[0]: systems"):
        convert(folder)
