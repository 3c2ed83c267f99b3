"""Who rated: told apart, never named."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.refusals import refusal

from nnd.converters.folder.conversion import convert
from nnd.converters.folder.validation import validate

Toy = Callable[..., dict[str, Any]]
MakeSource = Callable[..., Path]

MAJORITY = {"rule": "majority", "top": 5}


def annotators(source: Path) -> dict[str, list[str] | None]:
    return dict(convert(source).annotations["candidate_id", "annotators"].iter_rows())


def rated(toy: Toy, **given: dict[str, float]) -> list[dict[str, Any]]:
    """`rated(toy, a={"ann@example.org": 5})`: candidate → annotator → rating."""
    return [
        toy(name, "heron", None, ratings=list(some.values()), annotators=list(some))
        for name, some in given.items()
    ]


def test_names_are_numbered_in_the_order_of_the_stored_rows(
    make_source: MakeSource, toy: Toy, tmp_path: Path
) -> None:
    given = {
        "b": {"zoe": 4, "ann@example.org": 5},
        "a": {"ann@example.org": 5, "a1": 5},
        "c": {"bob": 1, "zoe": 1},
    }
    source = make_source(rated(toy, **given), quality=MAJORITY)

    convert(source, out=tmp_path / "out")

    stored = pl.read_parquet(tmp_path / "out" / "annotations.parquet")
    assert dict(stored["candidate_id", "annotators"].iter_rows()) == {
        "a": ["a1", "a2"],
        "b": ["a3", "a1"],
        "c": ["a4", "a3"],
    }
    assert validate(tmp_path / "out").ok


@pytest.mark.parametrize("seed", [1, 2])
def test_numbers_do_not_depend_on_the_order_of_the_file(
    make_source: MakeSource, toy: Toy, seed: int
) -> None:
    rows = rated(toy, a={"zoe": 5, "bob": 5}, b={"ann": 4, "bob": 3}, c={"ann": 1, "zoe": 2})
    shuffled = random.Random(seed).sample(rows, len(rows))

    first = annotators(make_source(rows, quality=MAJORITY))
    second = annotators(make_source(shuffled, folder="shuffled", quality=MAJORITY))

    assert first == second == {"a": ["a1", "a2"], "b": ["a3", "a2"], "c": ["a3", "a1"]}


def test_a_label_has_the_annotators_who_gave_it(make_source: MakeSource, toy: Toy) -> None:
    rows = [
        toy("a", "heron", "good", annotators=["zoe"]),
        toy("b", "wren", "rude", annotators=["zoe", "ann"]),
        toy("c", "wren", "rude"),
    ]

    assert annotators(make_source(rows)) == {"a": ["a1"], "b": ["a1", "a2"], "c": None}


@pytest.mark.parametrize(
    "names",
    [
        ["zoe"],
        ["zoe", ""],
        ["zoe", 7],
        "zoe",
    ],
)
def test_names_that_do_not_fit(make_source: MakeSource, toy: Toy, names: Any) -> None:
    rows = [toy("a", "heron", None, ratings=[5, 4], annotators=names)]

    with refusal("row.wrong-shape"):
        convert(make_source(rows, quality=MAJORITY))


@pytest.mark.parametrize("option", ["standardise", "within"])
def test_a_rule_that_asks_who_rated_must_be_told(
    make_source: MakeSource, toy: Toy, option: str
) -> None:
    rows = [*rated(toy, a={"zoe": 5}), toy("b", "wren", None, ratings=[1])]
    quality = {"rule": "gap", "minimum": 1, "ratings": "mean", option: "annotator"}

    with refusal("row.wrong-shape", "toy.jsonl:2: annotators"):
        convert(make_source(rows, quality=quality))
