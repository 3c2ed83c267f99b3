"""What several contexts share, by the declaration of a source."""

import hashlib
import json
from pathlib import Path

import polars as pl
import pytest

from nnd.converters import Annotation
from nnd.converters.folder.conversion import convert
from nnd.converters.pairs import annotation_frame, make_pairs
from nnd.converters.source import Source, load_source
from nnd.schemas import SourceError, cluster_keys

LONG = "A paragraph that is longer than the sixty-four characters of a short text."


def contexts(*entries: tuple[dict[str, str], dict[str, str]]) -> pl.DataFrame:
    kind = pl.List(pl.Struct({"key": pl.String, "value": pl.String}))
    columns = {
        name: [[{"key": k, "value": v} for k, v in entry[place].items()] for entry in entries]
        for place, name in enumerate(("inputs", "metadata"))
    }
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, kind))


def test_a_short_text_is_the_key_and_a_long_one_has_a_digest() -> None:
    found = cluster_keys(
        contexts(
            ({"paragraph": "Short  text "}, {}),
            ({"paragraph": LONG}, {}),
            ({"paragraph": LONG.replace(" ", "\n", 1)}, {}),
        ),
        "paragraph",
    )
    digest = hashlib.sha256(LONG.encode()).hexdigest()[:16]

    assert found.to_list() == ["paragraph:Short text", *[f"paragraph:{digest}"] * 2]


def test_facts_count_too_and_a_context_without_either_has_no_key() -> None:
    rows = contexts(({"a": "x"}, {"document": "d1"}), ({"a": "x"}, {"document": " "}), ({}, {}))

    assert cluster_keys(rows, "document").to_list() == ["document:d1", None, None]


def of_source(**more: str) -> tuple[Source, pl.DataFrame]:
    source = load_source("quiz_design")
    source = Source(source.folder, {**source.facts, **more})
    rows = [
        Annotation(
            where="f:1",
            context_id=f"c{number}",
            context=f"{number}",
            inputs={"paragraph": "p" if number < 2 else "q", "answer": f"{number}"},
            candidate_id=f"c{number}/{label}",
            candidate=f"{label}?",
            aspect="question",
            system="dgpt2_sup",
            label=label,
        )
        for number in range(3)
        for label in ("No error", "disfluent")
    ]
    return source, annotation_frame(source, rows)


def test_pairs_have_the_key_and_the_same_ids_as_without_it() -> None:
    source, rows = of_source()
    with_key, without = (
        make_pairs(rows, source.rules, source.taxonomy, cluster=name).frame
        for name in ("paragraph", None)
    )

    assert with_key["cluster"].to_list() == ["paragraph:p", "paragraph:p", "paragraph:q"]
    assert without["cluster"].to_list() == [None] * 3
    assert with_key.drop("cluster").equals(without.drop("cluster"))


def test_a_name_that_no_context_has_is_refused() -> None:
    with pytest.raises(SourceError, match=r'called "chapter".*name one of answer, paragraph'):
        of_source(cluster="chapter")


def test_the_answers_of_quiz_design_come_from_22_paragraphs(nnd_data: Path) -> None:
    place = nnd_data / "quiz_design" / "quiz_design_groups.jsonl"
    found = convert("quiz_design", origin=place.parent)
    groups = [json.loads(line) for line in place.read_text("utf-8").splitlines()]

    assert len({each["context"] for each in groups}) == 22
    assert found.manifest["counts"]["clusters"] == found.pairs["cluster"].n_unique() == 22
    assert found.manifest["source"]["cluster"] == "paragraph"
