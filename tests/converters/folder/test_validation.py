"""A converted folder is checked against the contract, against itself, and against its manifest."""

import contextlib
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from support.card_folders import make_folder
from support.refusals import refusal
from support.stored_folders import (
    in_row,
    read_manifest,
    restated,
    rewrite,
    store,
    write_manifest,
)

from nnd.converters.folder.validation import validate
from nnd.schemas import SchemaError

PAIRS, SCORES, ANNOTATIONS = "pairs.parquet", "human_scores.parquet", "annotations.parquet"
FRAMES = (PAIRS, SCORES, ANNOTATIONS)

Change = Callable[[Path], None]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    counts = {"annotations": 3, "contexts": 1, "systems": 3, "pairs": 2}
    expected = {**counts, "by_error_category": {"rude": 1, "wrong": 1}}
    return make_folder(tmp_path_factory.mktemp("toy"), name="toy", expected=expected)


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A converted folder with two pairs: a (good) over b (wrong) and over c (rude)."""
    return shutil.copytree(made, tmp_path / "out")


def found(folder: Path) -> list[str]:
    return [str(finding) for finding in validate(folder)]


def rewritten(name: str, *columns: pl.Expr) -> Change:
    return lambda folder: rewrite(folder, name, *columns)


def unread(folder: Path) -> None:
    """A converter that read no declared file."""
    restated([], "files")(folder)
    restated(7, "source", "expected", "pairs")(folder)


def of_the_declared_file(folder: Path) -> None:
    """Its counts are not those that the source expects."""
    (file,) = read_manifest(folder)["files"]
    restated(True, "files", 0, "verified")(folder)
    restated(file["sha256"], "source", "files", 0, "sha256")(folder)
    restated(7, "source", "expected", "pairs")(folder)


def turned(folder: Path) -> None:
    """Columns in another order, which hide nothing."""
    pairs = pl.read_parquet(folder / PAIRS)
    other = pairs.select(reversed(pairs.columns)).with_columns(in_row(0, "de", "language"))
    store(folder, PAIRS, other)


def without_margin(folder: Path) -> None:
    store(folder, PAIRS, pl.read_parquet(folder / PAIRS).drop("margin"))


AGAIN = "(convert the source again)"
EXPECTED = ("source", "expected", "pairs")

CHANGES: dict[str, tuple[Change, list[str]]] = {
    "nothing": (lambda _: None, []),
    # Or what is below would find what `rewrite` breaks.
    **{f"{name} written again": (rewritten(name), []) for name in FRAMES},
    "NaN": (
        rewritten(SCORES, in_row(0, float("nan"), "score")),
        [
            (
                f"{SCORES}: row 0, score: nan is not of type 'number' "
                "(Higher is better, for example 0.684)"
            ),
            f"{SCORES}: row 0, score: NaN, but the annotations give 1.0 {AGAIN}",
        ],
    ),
    "a missing column": (
        without_margin,
        [f"{PAIRS}: margin: column is missing (add it as Float64)"],
    ),
    "another dtype": (
        rewritten(PAIRS, pl.col("margin").cast(pl.Int64)),
        [f"{PAIRS}: margin: column is Int64 (store it as Float64)"],
    ),
    "a column too many": (
        rewritten(ANNOTATIONS, pl.lit("x").alias("note")),
        [f"{ANNOTATIONS}: note: column is not in the contract (leave it out)"],
    ),
    "columns in another order": (
        turned,
        [f'{PAIRS}: row 0, language: "de", but the annotations give "en" {AGAIN}'],
    ),
    **{
        f"another count of {name}": (
            restated(value, "counts", name),
            [f"manifest.json: counts/{name}: {value}, but the annotations give {given} {AGAIN}"],
        )
        for name, value, given in (
            ("pairs", 3, 2),
            ("contexts", 2, 1),
            ("by_error_category", {"wrong": 2}, {"rude": 1, "wrong": 1}),
        )
    },
    "other counts than those of the declared file": (
        of_the_declared_file,
        [f"manifest.json: counts/pairs: 2, but the source expects 7 {AGAIN}"],
    ),
    "what another file gives need not be what is expected": (restated(7, *EXPECTED), []),
    "nor what a converter gives that reads no declared file": (unread, []),
}


@pytest.mark.parametrize(("change", "lines"), CHANGES.values(), ids=CHANGES)
def test_what_was_changed_is_found(folder: Path, change: Change, lines: list[str]) -> None:
    change(folder)

    assert found(folder) == lines


@pytest.mark.parametrize("name", FRAMES)
def test_a_file_that_is_not_the_manifests_is_found(folder: Path, name: str) -> None:
    frame = pl.read_parquet(folder / name)
    frame.write_parquet(folder / name, compression="uncompressed")

    assert found(folder) == [f"{name}: its SHA-256 is not the one in the manifest {AGAIN}"]


def test_lost_rows_are_found(folder: Path) -> None:
    pl.read_parquet(folder / SCORES).head(1).write_parquet(folder / SCORES)

    assert found(folder)[0] == f"{SCORES}: 1 rows, but the manifest states 9 {AGAIN}"


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        (
            rewritten(PAIRS, in_row(0, None, "source", pl.String())),
            [
                f"{PAIRS}: row 0, source: None is not of type 'string'",
                f'{PAIRS}: row 0, source: null, but the annotations give "toy"',
            ],
        ),
        (
            restated(3, "source", "licence"),
            ["manifest.json: source/licence: 3 is not of type 'string'"],
        ),
    ],
    ids=["a null", "a licence"],
)
def test_what_breaks_the_schema_is_found(folder: Path, change: Change, lines: list[str]) -> None:
    change(folder)

    assert [line.partition(" (")[0] for line in found(folder)] == lines


def test_a_manifest_that_was_changed_is_found(folder: Path) -> None:
    path = folder / "manifest.json"
    raw = path.read_text(encoding="utf-8")
    path.write_text(raw.replace('"licence": "CC0-1.0"', '"licence": "MIT"'), encoding="utf-8")

    assert path.read_text(encoding="utf-8") != raw
    assert found(folder) == [
        "manifest.json: changed since it was written (convert the source again)"
    ]


def test_a_size_that_is_not_the_files_is_found(folder: Path) -> None:
    restated(1, "outputs", PAIRS, "bytes")(folder)

    size = (folder / PAIRS).stat().st_size
    assert found(folder) == [f"{PAIRS}: {size} bytes, but the manifest states 1 {AGAIN}"]


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
