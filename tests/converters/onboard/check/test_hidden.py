"""`check-source` on copies of the built-in sources that no longer read all they read."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from support.checked_source import run_here

from nnd.converters.onboard.check import separate_run
from nnd.converters.onboard.check.checked_source import Case
from nnd.converters.onboard.check.coverage import check_unread
from nnd.converters.onboard.check.row_checks import check_converts
from nnd.converters.onboard.check.source_checks import _CHECKS
from nnd.converters.onboard.check.source_readings import every_variant, real_readings
from nnd.converters.source.source import BUILT_IN, load_source
from nnd.schemas import load_yaml

OF_SOURCE = {name: check for name, (check, _) in _CHECKS.items()}
FULL = bool(os.environ.get("NND_TEST_FULL"))
Change = Callable[[Path], None]


def code(old: str, new: str) -> Change:
    """Change convert.py."""

    def change(folder: Path) -> None:
        path = folder / "convert.py"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))

    return change


def facts(edit: Callable[[dict[str, Any]], Any]) -> Change:
    """Change source.yaml."""

    def change(folder: Path) -> None:
        path = folder / "source.yaml"
        changed = load_yaml(path.read_text())
        edit(changed)
        path.write_text(yaml.safe_dump(changed, sort_keys=False))

    return change


def without(name: str) -> Change:
    """Declare and read all files but one."""

    def edit(changed: dict[str, Any]) -> None:
        changed["files"] = [file for file in changed["files"] if file["name"] != name]
        tables = changed.get("tables") or [changed["table"]]
        for table in tables:
            table["files"] = [file for file in table["files"] if file != name]
        if "tables" in changed:
            changed["tables"] = [table for table in tables if table["files"]]

    return facts(edit)


def no_error(label: str) -> Change:
    """Take another label for the one that says that nothing is wrong, which becomes an error."""

    def edit(changed: dict[str, Any]) -> None:
        changed["taxonomy"][changed["quality"]["no_error"]] = changed["taxonomy"].pop(label)
        changed["quality"]["no_error"] = label

    return facts(edit)


def turned(tables: list[dict[str, Any]]) -> None:
    for table in tables:
        pairs = table["pairs"]
        pairs.update(high=pairs["low"], low=pairs["high"])


def negated(table: dict[str, Any], aspect: str) -> None:
    table["compute"] = {**table.get("compute", {}), "negated": f"0 - CAST({aspect} AS DOUBLE)"}
    table["scores"] = dict.fromkeys(table["scores"], "negated")


class Hidden(NamedTuple):
    """What is hidden from a source, how, and what a check says of it."""

    source: str
    what: str
    change: Change
    said: str


NO_ERROR = '"No-error"' if FULL else "makes no pair"
"""The fixtures have no other text without that error."""

HIDDEN = [
    Hidden(
        "quiz_design",
        "group",
        code('group.records("questions"):', '[*group.records("questions")][:3]:'),
        "texts under questions",
    ),
    Hidden("quiz_design", "direction", no_error("disfluent"), '"No error" are the worse'),
    Hidden("dialsummeval", "aspect", code('"fluency", ', ""), "annotations.*.fluency is unread"),
    Hidden(
        "dialsummeval",
        "group",
        code('list(row.records("annotations"))', 'list(row.records("annotations"))[:1]'),
        "the last items of annotations.*.coherence",
    ),
    Hidden(
        "dialsummeval",
        "direction",
        facts(lambda one: one["quality"].update(top=1)),
        "makes no pair",
    ),
    Hidden("summeval", "aspect", code('"fluency", ', ""), "expert_annotations.*.fluency is unread"),
    Hidden(
        "challenge300",
        "system",
        code("zip(answered, rest, strict=False)", "zip(answered[1:], rest[1:], strict=False)"),
        "unread",
    ),
    Hidden(
        "challenge300",
        "direction",
        facts(lambda one: one["quality"].update(high=[0], low=[1])),
        "a credit of 0 is high",
    ),
    Hidden(
        "confit_samsum",
        "aspect",
        facts(lambda one: one["table"]["marks"]["faithfulness"]["columns"].pop("Tense")),
        "Tense is unread",
    ),
    Hidden("demetr", "file", without("minor_id31_full_lower.json"), "minor_id31_full_lower.json"),
    Hidden("demetr", "direction", facts(lambda one: turned(one["tables"][:1])), "pert_sent"),
    Hidden("bump", "file", without("task2_dataset.json"), "task2_dataset.json"),
    Hidden("bump", "direction", facts(lambda one: turned(one["tables"][:1])), "edited_summary"),
    Hidden("goyal_gpt3_news", "system", code('"annotators"}', '"annotators", "brio"}'), "brio"),
    Hidden(
        "goyal_gpt3_news",
        "direction",
        code('"best_summary": 1, "worst_summary": -1', '"best_summary": -1, "worst_summary": 1'),
        "best_summary",
    ),
    Hidden("llmbar", "file", without("GPTOut/dataset.json"), "GPTOut/dataset.json"),
    Hidden(
        "llmbar",
        "direction",
        facts(lambda one: one["table"]["pairs"].update(values={"first": 2, "second": 1})),
        "what label names is the worse one",
    ),
    Hidden(
        "ragtruth",
        "system",
        facts(lambda one: one["tables"][0].update(where="model <> 'llama-2-7b-chat'")),
        "texts under response",
    ),
    Hidden(
        "simplification",
        "aspect",
        facts(lambda one: one["table"]["scores"].pop("meaning")),
        "meaning is unread",
    ),
    Hidden(
        "simplification",
        "direction",
        facts(lambda one: negated(one["table"], "grammaticality")),
        "fall where grammaticality rises",
    ),
    Hidden("summedits", "file", without("summedits_news.json"), "summedits_news.json"),
    Hidden(
        "summedits",
        "direction",
        facts(
            lambda one: one["table"]["compute"].update(
                kinds="CASE WHEN label = '0' THEN ['consistent'] ELSE ['none'] END"
            )
        ),
        "original_summary",
    ),
    Hidden("wmt_qe_2022", "direction", facts(lambda one: negated(one["table"], "score")), "-25"),
    Hidden("wmt_mqm", "direction", no_error("Fluency/Grammar"), NO_ERROR),
    Hidden("wmt23_mqm_sxs", "direction", no_error("Accuracy/Mistranslation"), NO_ERROR),
    Hidden(
        "frank", "aspect", code('"LinkE", "OutE", "GramE")', '"LinkE", "OutE")'), "GramE is unread"
    ),
]


REAL = {"wmt_mqm": "wmt_mqm/ted", "wmt_qe_2022": "wmt_mqm/wmt-qe-2022"}
SLOW = {("frank", "aspect"), ("demetr", "file"), ("simplification", "aspect")}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("hidden", HIDDEN, ids=[f"{one.source}-{one.what}" for one in HIDDEN])
def test_what_is_hidden_is_missed(
    hidden: Hidden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: Any
) -> None:
    """The files are those of the fixture, or with NND_TEST_FULL the real ones."""
    if (hidden.source, hidden.what) in SLOW and not FULL:
        pytest.skip("takes a while: NND_TEST_FULL=1")
    monkeypatch.setattr(separate_run, "run_readings", run_here(tmp_path / "runs"))
    folder, place = tmp_path / hidden.source, tmp_path / "place"
    shutil.copytree(BUILT_IN / hidden.source, folder)
    hidden.change(folder)
    source = load_source(folder)
    place.mkdir()
    origin = folder / "fixture"
    if FULL and hidden.source != "ragtruth":  # its files could not be read here
        origin = request.getfixturevalue("nnd_data") / REAL.get(hidden.source, hidden.source)
    readings = real_readings(source, [origin], place)

    checked = Case([*every_variant(source)], readings)

    errors = [run.error for run in checked.straight if run.error]
    if errors:
        message = errors[0]
    elif hidden.what != "direction":
        outcome, message, _ = check_unread(checked)
        assert outcome == "review"
    else:
        outcome, message, _ = check_converts(checked)
        if outcome == "pass":
            verdicts = [OF_SOURCE[name](checked) for name in ("columns", "direction")]
            message = "; ".join(one[1] for one in verdicts if one[0] == "review")
    assert hidden.said in message
