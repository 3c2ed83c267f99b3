"""What lies in the Parquet files, for readers other than polars."""

from pathlib import Path
from typing import Any, NamedTuple

import datasets
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nnd.converters.folder.conversion import convert
from nnd.converters.folder.writing import write_parquet
from nnd.converters.source import load_source
from nnd.schemas import SchemaName, load_schema, polars_schema
from nnd.schemas.reading.parquet import read_parquet

FRAMES: dict[str, SchemaName] = {
    "pairs.parquet": "pair",
    "human_scores.parquet": "human_score",
    "annotations.parquet": "annotation",
}

FRAME = pl.DataFrame(
    {"text": ["a", None], "n": [1, 2], "inputs": [[{"key": "k", "value": "v"}], []]},
)


def test_frame_comes_back_as_it_was(tmp_path: Path) -> None:
    write_parquet(FRAME, tmp_path / "a.parquet")
    for back in (pl.read_parquet(tmp_path / "a.parquet"), read_parquet(tmp_path / "a.parquet")):
        assert back.schema == FRAME.schema
        assert back.equals(FRAME)


class Limited(NamedTuple):
    """A table whose texts are too many for one column if it has more than two rows."""

    table: pa.Table
    schema: pa.Schema

    def cast(self, schema: pa.Schema) -> pa.Table:
        if self.table.num_rows > 2:
            raise pa.ArrowInvalid
        return self.table.cast(schema)


def test_texts_above_2_gib_are_in_several_row_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five rows: halves of two and three, the latter of one and two."""
    frame = pl.DataFrame({"text": list("abcde")})
    whole = pl.DataFrame.to_arrow
    monkeypatch.setattr(
        pl.DataFrame, "to_arrow", lambda rows: Limited(whole(rows), whole(rows).schema)
    )
    write_parquet(frame, tmp_path / "a.parquet")
    metadata = pq.read_metadata(tmp_path / "a.parquet")
    groups = [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)]
    assert groups == [2, 1, 2]
    assert pl.read_parquet(tmp_path / "a.parquet").equals(frame)


def test_texts_and_lists_are_of_the_plain_kind(tmp_path: Path) -> None:
    write_parquet(FRAME, tmp_path / "a.parquet")
    schema = pq.read_schema(tmp_path / "a.parquet")
    assert str(schema.field("text").type) == "string"
    assert str(schema.field("inputs").type) == "list<element: struct<key: string, value: string>>"


def test_same_frame_gives_the_same_bytes(tmp_path: Path) -> None:
    write_parquet(FRAME, tmp_path / "a.parquet")
    write_parquet(FRAME.clone(), tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_a_frame_without_rows_keeps_its_columns(tmp_path: Path) -> None:
    write_parquet(FRAME.clear(), tmp_path / "a.parquet")
    assert read_parquet(tmp_path / "a.parquet").schema == FRAME.schema


# JSON Schema type → what `datasets` must make of it.
FEATURES: dict[str, Any] = {
    "string": datasets.Value("string"),
    "number": datasets.Value("float64"),
    "integer": datasets.Value("int64"),
    "object": datasets.List({"key": datasets.Value("string"), "value": datasets.Value("string")}),
}


@pytest.mark.parametrize(("file", "name"), FRAMES.items())
def test_datasets_reads_the_features_of_the_schema(
    file: str, name: SchemaName, sample: Path, tmp_path: Path
) -> None:
    loaded = datasets.Dataset.from_parquet(str(sample / file), cache_dir=str(tmp_path / "cache"))
    expected = {}
    for column in load_schema(name)["required"]:  # the others are optional
        spec = load_schema(name)["properties"][column]
        kinds = {spec["type"]} if isinstance(spec["type"], str) else {*spec["type"]} - {"null"}
        (kind,) = kinds
        expected[column] = (
            datasets.List(FEATURES[spec["items"]["type"]]) if kind == "array" else FEATURES[kind]
        )
    assert loaded.features == expected
    assert list(loaded.features) == polars_schema(name).names()


def test_datasets_reads_marked_spans(tmp_path: Path) -> None:
    source = load_source("quintd")
    convert("quintd", origin=source.folder / "fixture", out=tmp_path / "quintd")

    loaded = datasets.Dataset.from_parquet(
        str(tmp_path / "quintd/annotations.parquet"), cache_dir=str(tmp_path / "cache")
    )

    span = {name: datasets.Value("int64") for name in ("start", "end")}
    span |= {name: datasets.Value("string") for name in ("label", "severity")}
    assert loaded.features["spans"] == datasets.List(span | {"derived": datasets.Value("bool")})
    # "The Östwick 7 is a red red phone. "
    (other,) = (row["spans"] for row in loaded if row["label"] == "Other")
    assert [(each["start"], each["end"]) for each in other] == [(19, 26)]
