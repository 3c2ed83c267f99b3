"""Sources whose errors people made on purpose: BUMP, SummEdits, LLMBar, DEMETR."""

import json
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.recounts.counted_again import converted
from support.refusals import refusal

from nnd.converters.folder.conversion import Conversion, convert
from nnd.converters.source.source import BUILT_IN
from nnd.metric.data.completion import contexts_of

MADE = ("bump", "summedits", "llmbar", "demetr")


@pytest.mark.parametrize("name", MADE)
def test_it_has_no_line_of_python(name: str) -> None:
    assert list((BUILT_IN / name).rglob("*.py")) == []


@pytest.mark.parametrize("name", MADE)
def test_no_system_is_judged(name: str) -> None:
    conversion = converted(name, BUILT_IN / name / "fixture")

    assert conversion.human_scores.is_empty()
    assert conversion.pairs["origin"].str.starts_with("constructed:").all()
    assert conversion.pairs["system_high"].null_count() == conversion.pairs.height


def wins(conversion: Conversion, side: str) -> float:
    """The share of pairs whose better text is the longer one, or the shorter one, in characters."""
    high, low = (pl.col(f"candidate_{each}").str.len_chars() for each in ("high", "low"))
    return conversion.pairs.select((high > low if side == "longer" else high < low).mean()).item()


def test_length_alone_as_others_counted_it(nnd_data: Path) -> None:
    # ../shared/facts/datasets.md
    assert wins(converted("bump", nnd_data / "bump"), "shorter") == pytest.approx(0.36, abs=0.005)
    assert wins(converted("llmbar", nnd_data / "llmbar"), "longer") == pytest.approx(
        0.27, abs=0.005
    )


def test_both_tasks_of_bump_share_their_categories(nnd_data: Path) -> None:
    pairs = converted("bump", nnd_data / "bump").pairs
    tasks = pl.col("group").str.split("/").list.first()

    kinds = pairs.group_by(tasks.alias("task")).agg(pl.col("error_category").unique())

    by_task = {task: set(found) for task, found in kinds.iter_rows()}
    assert by_task["task2"] - by_task["task1"] == {"Other"}
    assert by_task["task1"] < by_task["task2"]


def test_two_seeds_of_a_document_are_not_compared(nnd_data: Path) -> None:
    pairs = converted("summedits", nnd_data / "summedits").pairs
    seeds = pairs.group_by("split", "context_id").agg(pl.col("group").unique().sort())

    assert [found for found in seeds["group"].to_list() if len(found) > 1] == [
        ["q_test_40", "q_test_41"]
    ]
    sides = pairs.select(
        *(pl.col(f"{side}_id").str.replace("_[^_]*$", "") for side in ("high", "low"))
    )
    assert (sides["high_id"] == sides["low_id"]).all()
    assert (sides["high_id"] == pairs["group"]).all()


def demetr_row(**fields: Any) -> dict[str, Any]:
    return {
        "id": 1,
        "src_sent": "Die Eule fliegt.",
        "eng_sent": "The owl flies.",
        "mt_sent": "The owl flies.",
        "pert_sent": "The owl.",
        "lang_tag": "german",
        "data_source": "WMT",
        "pert_check": True,
        "pert_name": "critical_id22_verb_removed",
    } | fields


@pytest.mark.full
def test_demetr_is_found_in_a_zip_by_the_names_of_its_files(nnd_data: Path, tmp_path: Path) -> None:
    packed = converted("demetr", nnd_data / "demetr")
    with zipfile.ZipFile(nnd_data / "demetr/demetr.zip") as archive:
        archive.extractall(tmp_path / "upstream")

    unpacked = convert("demetr", origin=tmp_path / "upstream")

    assert packed.pairs.equals(unpacked.pairs)
    files = packed.manifest["files"]
    assert files == unpacked.manifest["files"]
    assert len(files) == 35
    assert all(file["verified"] for file in files)


def test_what_is_left_out_of_demetr_is_counted(tmp_path: Path) -> None:
    fixture = BUILT_IN / "demetr/fixture"
    for path in fixture.glob("*.json"):
        (tmp_path / path.name).write_text(json.dumps([demetr_row(pert_check=False)]))
    rows = [
        demetr_row(),
        demetr_row(id=2, pert_sent="The owl flies."),
        demetr_row(id=3, pert_check=False),
    ]
    (tmp_path / "critical_id22_verb_removed.json").write_text(json.dumps(rows))
    reference = [demetr_row(pert_name="base_id35_reference")]
    (tmp_path / "base_id35_reference.json").write_text(json.dumps(reference))

    found = convert("demetr", origin=tmp_path, accept_changed="a test")

    # 33 other operations with a row each, two rows of this one, and the reference.
    assert found.pairs["pair_id"].len() == 1
    assert found.manifest["oddities"] == [
        "minor_id1_repeat2.json and 33 more: rows left out by `where`: 35",
        "base_id35_reference.json: rows left out by `where`: 1",
    ]


TAGS = {
    "chinese_simple": "zh-Hans",
    "german": "de",
    "hindi": "hi",
    "japanese": "ja",
    "polish": "pl",
    "russian": "ru",
    "czech": "cs",
    "french": "fr",
    "spanish": "es",
    "italian": "it",
}
"""All that the files have."""


def test_a_context_of_demetr_has_the_tag_of_its_language(tmp_path: Path) -> None:
    for path in (BUILT_IN / "demetr/fixture").glob("*.json"):
        (tmp_path / path.name).write_text(json.dumps([demetr_row(pert_check=False)]))
    rows = [demetr_row(id=n, src_sent=f"{name} {n}", lang_tag=name) for n, name in enumerate(TAGS)]
    (tmp_path / "critical_id22_verb_removed.json").write_text(json.dumps(rows))
    reference = [demetr_row(pert_name="base_id35_reference")]
    (tmp_path / "base_id35_reference.json").write_text(json.dumps(reference))
    found = convert("demetr", origin=tmp_path, accept_changed="a test")
    contexts = contexts_of(found.pairs)
    assert {each.text.split()[0]: each.context_language for each in contexts} == TAGS
    assert {each.language for each in contexts} == {"en"}


def test_contexts_of_wmt_qe_2022_are_english_and_candidates_german() -> None:
    fixture = BUILT_IN / "wmt_qe_2022/fixture"
    contexts = contexts_of(convert("wmt_qe_2022", origin=fixture, accept_changed="a test").pairs)
    assert {(each.context_language, each.language) for each in contexts} == {("en", "de")}


def test_an_edited_file_of_demetr_is_refused(nnd_data: Path, tmp_path: Path) -> None:
    with (
        zipfile.ZipFile(nnd_data / "demetr/demetr.zip") as archive,
        zipfile.ZipFile(tmp_path / "demetr.zip", "w") as copy,
    ):
        for member in archive.namelist():
            raw = archive.read(member)
            copy.writestr(
                member, raw.replace(b'"id": 1,', b'"id":  1,') if "id15" in member else raw
            )

    with refusal("source.another-file"):
        convert("demetr", origin=tmp_path)
