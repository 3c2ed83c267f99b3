"""Reading a folder in either layout."""

from pathlib import Path

import polars as pl
import pytest
from support.refusals import refusal

from nnd.schemas.files.folder import frame_files, published_path, read_frame, read_manifest

ROWS = pl.DataFrame({"split": ["dev", "test", "test"], "n": [1, 2, 3]})


def test_both_layouts_give_the_same_rows(tmp_path: Path) -> None:
    converted, published = tmp_path / "converted", tmp_path / "published"
    for folder in (converted, published / "pairs"):
        folder.mkdir(parents=True)
    ROWS.write_parquet(converted / "pairs.parquet")
    for (split,), rows in ROWS.group_by("split"):
        rows.write_parquet(published / published_path("pairs", str(split)))

    assert read_frame(converted, "pairs").equals(ROWS)
    assert read_frame(published, "pairs").equals(ROWS)
    assert read_frame(published, "pairs", ["n"]).columns == ["n"]
    assert [path.name for path in frame_files(published, "pairs")] == [
        "dev-00000-of-00001.parquet",
        "test-00000-of-00001.parquet",
    ]


def test_human_scores_lie_in_one_file() -> None:
    assert published_path("human_scores", "all") == "human_scores.parquet"
    assert published_path("annotations", "test") == "annotations/test-00000-of-00001.parquet"


@pytest.mark.parametrize("split", ["a/b", "", "a b", "..", "test-1", "a."])
def test_a_split_that_the_hub_cannot_load_is_refused(split: str) -> None:
    with refusal("data.split-name"):
        published_path("pairs", split)


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    with refusal("data.convert-again", "test_what_cannot_be_read_is_na0"):
        read_frame(tmp_path, "pairs")
    (tmp_path / "pairs.parquet").write_bytes(b"PAR1 no PAR1")
    with refusal("data.convert-again", "pairs.parquet"):
        read_frame(tmp_path, "pairs")
    ROWS.write_parquet(tmp_path / "pairs.parquet")
    with refusal("data.convert-again", "pairs.parquet"):
        read_frame(tmp_path, "pairs", ["n", "m"])


def test_files_that_do_not_fit_together_are_named(tmp_path: Path) -> None:
    (tmp_path / "pairs").mkdir()
    ROWS.write_parquet(tmp_path / published_path("pairs", "a"))
    ROWS.with_columns(n=pl.lit("x")).write_parquet(tmp_path / published_path("pairs", "b"))

    with refusal("data.convert-again", "pairs"):
        read_frame(tmp_path, "pairs")


@pytest.mark.parametrize("text", ["[1]", "{", "\ufeff[]", "[" * 100_000])
def test_a_manifest_is_an_object(text: str, tmp_path: Path) -> None:
    with refusal("data.convert-again"):
        read_manifest(tmp_path)
    (tmp_path / "manifest.json").write_text(text, encoding="utf-8")
    with refusal("contract.broken", "manifest.json"):
        read_manifest(tmp_path)
