"""A converted folder is checked against the contract, against itself, and against its manifest."""

import contextlib
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.refusals import refusal
from support.stored_folders import in_row, read_manifest, rewrite, store, write_manifest

from nnd.converters.folder.conversion import convert
from nnd.converters.folder.validation import validate
from nnd.schemas import SchemaError


@pytest.fixture
def folder(make_source: Callable[..., Path], tmp_path: Path) -> Path:
    """A converted folder with two pairs: a (good) over b (wrong) and over c (rude)."""
    convert(make_source(), out=tmp_path / "out")
    return tmp_path / "out"


def found(folder: Path) -> list[str]:
    return [str(finding) for finding in validate(folder)]


def test_a_good_folder_has_no_finding(folder: Path) -> None:
    assert found(folder) == []


def test_a_folder_that_was_written_again_unchanged_has_no_finding(folder: Path) -> None:
    # Or the tests below would find what `rewrite` breaks.
    for name in ("pairs.parquet", "human_scores.parquet", "annotations.parquet"):
        rewrite(folder, name)

    assert found(folder) == []


@pytest.mark.parametrize("name", ["pairs.parquet", "human_scores.parquet", "annotations.parquet"])
def test_a_file_that_is_not_the_manifests_is_found(folder: Path, name: str) -> None:
    frame = pl.read_parquet(folder / name)
    frame.write_parquet(folder / name, compression="uncompressed")

    assert found(folder) == [
        f"{name}: its SHA-256 is not the one in the manifest (convert the source again)"
    ]


def test_lost_rows_are_found(folder: Path) -> None:
    pl.read_parquet(folder / "human_scores.parquet").head(1).write_parquet(
        folder / "human_scores.parquet"
    )

    assert found(folder)[0] == (
        "human_scores.parquet: 1 rows, but the manifest states 9 (convert the source again)"
    )


def test_a_row_that_breaks_the_schema_is_found(folder: Path) -> None:
    rewrite(folder, "human_scores.parquet", in_row(0, float("nan"), "score"))

    assert found(folder) == [
        (
            "human_scores.parquet: row 0, score: nan is not of type 'number' "
            "(Higher is better, for example 0.684)"
        ),
        (
            "human_scores.parquet: row 0, score: NaN, but the annotations give 1.0 (convert the "
            "source again)"
        ),
    ]


def test_a_null_where_none_may_be_is_found(folder: Path) -> None:
    rewrite(folder, "pairs.parquet", in_row(0, None, "source", pl.String()))

    assert [line.partition(" (")[0] for line in found(folder)] == [
        "pairs.parquet: row 0, source: None is not of type 'string'",
        'pairs.parquet: row 0, source: null, but the annotations give "toy"',
    ]


def test_a_missing_column_is_found(folder: Path) -> None:
    store(folder, "pairs.parquet", pl.read_parquet(folder / "pairs.parquet").drop("margin"))

    assert found(folder) == [
        "pairs.parquet: margin: column is missing (add it as Float64)",
    ]


def test_a_column_of_another_dtype_is_found(folder: Path) -> None:
    rewrite(folder, "pairs.parquet", pl.col("margin").cast(pl.Int64))

    assert found(folder) == ["pairs.parquet: margin: column is Int64 (store it as Float64)"]


def test_a_column_too_many_is_found(folder: Path) -> None:
    rewrite(folder, "annotations.parquet", pl.lit("x").alias("note"))

    assert found(folder) == [
        "annotations.parquet: note: column is not in the contract (leave it out)"
    ]


def test_columns_in_another_order_hide_nothing(folder: Path) -> None:
    pairs = pl.read_parquet(folder / "pairs.parquet")
    turned = pairs.select(reversed(pairs.columns)).with_columns(in_row(0, "de", "language"))
    store(folder, "pairs.parquet", turned)

    assert found(folder) == [
        (
            'pairs.parquet: row 0, language: "de", but the annotations give "en" '
            "(convert the source again)"
        )
    ]


def test_a_manifest_that_was_changed_is_found(folder: Path) -> None:
    path = folder / "manifest.json"
    raw = path.read_text(encoding="utf-8")
    path.write_text(raw.replace('"licence": "CC0-1.0"', '"licence": "MIT"'), encoding="utf-8")

    assert path.read_text(encoding="utf-8") != raw
    assert found(folder) == [
        "manifest.json: changed since it was written (convert the source again)"
    ]


def test_a_size_that_is_not_the_files_is_found(folder: Path) -> None:
    manifest = read_manifest(folder)
    manifest["outputs"]["pairs.parquet"]["bytes"] = 1
    write_manifest(folder, manifest)

    size = (folder / "pairs.parquet").stat().st_size
    assert found(folder) == [
        f"pairs.parquet: {size} bytes, but the manifest states 1 (convert the source again)"
    ]


@pytest.mark.parametrize(
    ("count", "line"),
    [
        ({"pairs": 3}, "counts/pairs: 3, but the annotations give 2"),
        ({"contexts": 2}, "counts/contexts: 2, but the annotations give 1"),
        (
            {"by_error_category": {"wrong": 2}},
            (
                "counts/by_error_category: {'wrong': 2}, but the annotations give {'rude': 1, "
                "'wrong': 1}"
            ),
        ),
    ],
)
def test_a_count_that_the_folder_does_not_hold_is_found(
    folder: Path, count: dict[str, Any], line: str
) -> None:
    manifest = read_manifest(folder)
    manifest["counts"] |= count
    write_manifest(folder, manifest)

    assert found(folder) == [f"manifest.json: {line} (convert the source again)"]


def test_a_report_that_the_texts_do_not_give_is_found(folder: Path) -> None:
    manifest = read_manifest(folder)
    manifest["hygiene"]["pairs"]["overall"]["longer_wins"] = 0.25
    write_manifest(folder, manifest)

    (line,) = found(folder)
    assert line.startswith("manifest.json: hygiene: does not follow from the annotations")


def test_a_declared_file_that_gives_something_else_is_found(folder: Path) -> None:
    manifest = read_manifest(folder)
    manifest["files"][0]["verified"] = True
    manifest["source"]["files"][0]["sha256"] = manifest["files"][0]["sha256"]
    manifest["source"]["expected"]["pairs"] = 7
    write_manifest(folder, manifest)

    assert found(folder) == [
        "manifest.json: counts/pairs: 2, but the source expects 7 (convert the source again)"
    ]


def test_what_another_file_gives_need_not_be_what_is_expected(folder: Path) -> None:
    manifest = read_manifest(folder)
    manifest["source"]["expected"]["pairs"] = 7
    write_manifest(folder, manifest)

    assert found(folder) == []


def test_a_converter_that_read_no_declared_file_need_not_give_what_is_expected(
    folder: Path,
) -> None:
    manifest = read_manifest(folder)
    manifest["files"] = []
    manifest["source"]["expected"]["pairs"] = 7
    write_manifest(folder, manifest)

    assert found(folder) == []


def test_a_source_that_is_none_is_found(folder: Path) -> None:
    manifest = read_manifest(folder)
    manifest["source"]["licence"] = 3
    write_manifest(folder, manifest)

    assert [line.partition(" (")[0] for line in found(folder)] == [
        "manifest.json: source/licence: 3 is not of type 'string'"
    ]


@pytest.mark.parametrize(
    "section",
    ["outputs", "counts", "source", "files", "hygiene", "dropped", "oddities", "normalised"],
)
@pytest.mark.parametrize("value", [None, 3, [["x"]], {}])
def test_a_manifest_in_another_shape_is_found(folder: Path, section: str, value: object) -> None:
    write_manifest(folder, read_manifest(folder) | {section: value})

    assert found(folder) != []


def test_a_folder_without_a_manifest_is_no_converted_folder(tmp_path: Path) -> None:
    with refusal("data.convert-again", "test_a_folder_without_a_manife0"):
        found(tmp_path)


def test_a_folder_without_permission_is_an_error(folder: Path) -> None:
    assert found(folder) == []
    folder.chmod(0)
    was_root = os.geteuid() == 0
    if was_root:  # whom no permission stops
        os.seteuid(65534)
    try:
        with refusal("contract.broken", "manifest.json"):
            found(folder)
    finally:
        if was_root:
            os.seteuid(0)
        folder.chmod(0o700)


@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"[1]", b"\xff\xfe{\x00}\x00", b"[" * 100_000],
    ids=["empty", "cut off", "list", "utf-16", "deep"],
)
def test_a_manifest_that_is_no_json_object_is_an_error(folder: Path, raw: bytes) -> None:
    (folder / "manifest.json").write_bytes(raw)

    with refusal("contract.broken", "manifest.json") as caught:
        found(folder)

    assert "\n" not in str(caught.value)


def test_a_file_instead_of_a_folder_is_an_error(folder: Path) -> None:
    with refusal("data.convert-again", "pairs.parquet"):
        found(folder / "pairs.parquet")


def test_a_missing_parquet_file_is_an_error(folder: Path) -> None:
    (folder / "pairs.parquet").unlink()

    with refusal("data.convert-again", "out") as caught:
        found(folder)

    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("size", [0, 3, 200, -1])
def test_a_parquet_file_that_is_cut_off_is_an_error(folder: Path, size: int) -> None:
    raw = (folder / "pairs.parquet").read_bytes()
    (folder / "pairs.parquet").write_bytes(raw[:size])

    with refusal("data.convert-again", "pairs.parquet"):
        found(folder)


def test_a_damaged_parquet_file_is_a_finding_or_an_error(folder: Path) -> None:
    raw = (folder / "pairs.parquet").read_bytes()
    for seed in range(40):
        damage = bytearray(raw)
        chance = random.Random(seed)
        for _ in range(3):
            damage[chance.randrange(len(raw))] = chance.randrange(256)
        (folder / "pairs.parquet").write_bytes(damage)

        with contextlib.suppress(SchemaError):
            assert damage == raw or found(folder)
