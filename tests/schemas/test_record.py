"""A record is described once: what is written, read back, checked and framed follows from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import polars as pl
import pytest
from jsonschema import Draft202012Validator
from support.refusals import refusal

from nnd.schemas import (
    SPARSE,
    UNSTORED,
    Count,
    FlatKeys,
    Keys,
    Limit,
    Name,
    Record,
    Share,
    StoredAs,
    describe_fields,
    record_frame,
)
from nnd.schemas.records.json_schemas import json_schema


@dataclass(frozen=True, slots=True)
class Tally(Record):
    """How often.

    Attributes:
        n: How many.
        share: Share of all,
            or None without any.
        interval: Its ends.
    """

    n: Count
    share: Share | None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Parcel(Record):
    """One of everything.

    It has a second paragraph.

    Attributes:
        name: Its name.
        kind: What it is.
        tally: Counts.
        by: Name → counts.
        sides: Side → number.
        places: Where it was.
        path: Its file.
        more: Anything.
        part: Of how many it is a part.
        work: What it took.
        cache: Never stored.
    """

    name: Name
    kind: Literal["small", "large"] | None
    tally: Annotated[Tally, FlatKeys()]
    by: Mapping[str, Tally | None]
    sides: Annotated[Mapping[str, int], Keys(("high", "low")), FlatKeys("on_")]
    places: Annotated[tuple[str, ...], Limit("minItems", 1)]
    path: Path
    more: Mapping[str, Any]
    part: Annotated[Count | None, SPARSE] = None
    work: Annotated[float, StoredAs("engine")] = 0.0
    cache: Annotated[dict[str, int], UNSTORED] = field(default_factory=dict)


PARCEL = Parcel(
    name="a",
    kind="small",
    tally=Tally(4, 0.5, (0.1, 0.9)),
    by={"x": Tally(0, None), "y": None},
    sides={"high": 1, "low": 2},
    places=("here", "there"),
    path=Path("b/c"),
    more={"k": [1, None]},
)
STORED = {
    "name": "a",
    "kind": "small",
    "n": 4,
    "share": 0.5,
    "interval": [0.1, 0.9],
    "by": {"x": {"n": 0, "share": None, "interval": None}, "y": None},
    "on_high": 1,
    "on_low": 2,
    "places": ["here", "there"],
    "path": "b/c",
    "more": {"k": [1, None]},
    "engine": 0.0,
}


def test_a_record_becomes_plain_values_in_the_order_of_its_fields() -> None:
    assert PARCEL.to_dict() == STORED
    assert [*PARCEL.to_dict()] == [*STORED]
    assert Parcel.from_dict(STORED) == PARCEL


def test_fields_with_a_default_may_be_missing_and_known_ones_are_not_read() -> None:
    older = {key: each for key, each in STORED.items() if key not in ("interval", "engine")}
    assert Parcel.from_dict(older).tally == Tally(4, 0.5)
    assert Parcel.from_dict(older | {"name": 3}, name="b").name == "b"


BAD: list[tuple[dict[str, Any], str]] = [
    ({"name": ""}, "name"),
    ({"name": 3}, "name"),
    ({"kind": "medium"}, "kind"),
    ({"n": True}, "n"),
    ({"n": -1}, "n"),
    ({"share": 2}, "share"),
    ({"share": float("nan")}, "share"),
    ({"interval": [0.1]}, "interval"),
    ({"by": {"x": {"n": 0}}}, "by/x"),
    ({"by": {"x": 3}}, "by/x"),
    ({"by": []}, "by"),
    ({"on_low": "2"}, "low"),
    ({"places": []}, "places"),
    ({"places": [1]}, "places/0"),
    ({"path": 3}, "path"),
    ({"engine": "fast"}, "engine"),
]


@pytest.mark.parametrize(("change", "where"), BAD)
def test_a_wrong_value_is_named(change: dict[str, Any], where: str) -> None:
    with refusal("contract.broken", where):
        Parcel.from_dict(STORED | change)


@pytest.mark.parametrize("key", ["name", "kind", "n", "by", "on_high", "places", "path", "more"])
def test_a_missing_field_is_named(key: str) -> None:
    without = {name: each for name, each in STORED.items() if name != key}
    with refusal("contract.broken"):
        Parcel.from_dict(without)
    assert not Draft202012Validator(json_schema("parcel", Parcel)).is_valid(without)


def test_the_schema_allows_what_is_stored_and_refuses_what_is_not_read() -> None:
    schema = json_schema("parcel", Parcel)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    assert validator.is_valid(STORED)
    assert validator.is_valid(STORED | {"part": 3})
    assert not validator.is_valid(STORED | {"part": -3})
    assert not validator.is_valid(STORED | {"cache": {}})
    allowed = [change for change, _ in BAD if validator.is_valid(STORED | change)]
    assert str(allowed) == "[{'share': nan}]"  # no number of JSON


def test_the_sentences_of_the_schema_are_those_of_the_docstring() -> None:
    assert describe_fields(Tally)["share"] == "Share of all, or None without any."
    schema = json_schema("parcel", Parcel)
    assert schema["description"] == "One of everything."
    assert schema["properties"]["share"]["description"] == "Share of all, or null without any."
    assert schema["properties"]["by"]["additionalProperties"] == {
        "oneOf": [{"$ref": "#/$defs/Tally"}, {"type": "null"}]
    }


def test_documents_may_hold_several_records() -> None:
    schema = json_schema("both", Tally, Parcel)
    assert schema["description"] == "How often."
    assert {"share", "path"} <= {*schema["properties"]}
    assert schema["required"][:3] == ["n", "share", "name"]


def test_a_frame_has_the_dtypes_of_the_fields() -> None:
    rows = [({"set": "a"}, Tally(4, None)), ({"set": "b"}, Tally(2, 0.5, (0.1, 0.9)))]
    frame = record_frame(("set", "n", "share", "low", "high"), rows, Tally)
    assert frame.rows() == [("a", 4, None, None, None), ("b", 2, 0.5, 0.1, 0.9)]
    assert record_frame(("set", "n", "share", "low", "high"), [], Tally).schema == {
        "set": pl.String,
        "n": pl.Int64,
        "share": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
    }
