"""Pairs behind a URL: read where they are, a row group at a time."""

import sys
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest
from polars.testing import assert_frame_equal
from support.hub.server import Hub
from support.metric_runs import human_scores, pair_rows
from support.refusals import refusal

from nnd.metric.data import load_pairs, name_datasets, open_pairs, read_human_scores, read_origin


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Eight pairs in three row groups."""
    path = tmp_path / "birds.parquet"
    pair_rows().write_parquet(path, row_group_size=3)
    return path


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub() as hub:
        yield hub


@pytest.fixture
def web(hub: Hub, file: Path) -> str:
    """The address of the folder with the file on a web server."""
    hub.commit("datasets", "org/name", {file.name: file.read_bytes(), "notes.txt": b"Buy milk!"})
    return f"{hub.endpoint}/datasets/org/name/resolve/main"


@pytest.fixture
def memory(file: Path) -> Iterator[str]:
    """The address of the folder with the file in fsspec's file system in memory."""
    system = fsspec.filesystem("memory")
    system.pipe(f"/bucket/{file.name}", file.read_bytes())
    yield "memory://bucket"
    system.rm("/bucket", recursive=True)


@pytest.mark.parametrize("place", ["web", "memory"])
def test_a_url_is_read_as_the_file_is(
    place: str, file: Path, request: pytest.FixtureRequest
) -> None:
    url = f"{request.getfixturevalue(place)}/{file.name}"
    here, there = load_pairs(file), load_pairs(url)
    assert_frame_equal(there.pairs, here.pairs)
    assert (there.name, there.version) == (here.name, here.version)
    assert name_datasets([url]) == ["birds"]
    assert read_origin(url) is None
    stream = open_pairs(url)
    assert stream.about.name == "birds"
    assert [chunk.rows for chunk in stream.tables[""]] == [3, 3, 2]
    assert_frame_equal(stream.rows("", [(2, 5)]).pairs, here.pairs[2:5])


def test_human_scores_have_a_url_too(tmp_path: Path) -> None:
    path = tmp_path / "scores.parquet"
    human_scores().write_parquet(path)
    assert_frame_equal(read_human_scores(f"file://{path}"), read_human_scores(path))


@pytest.mark.parametrize(
    ("name", "code"),
    [("nowhere.parquet", "file.not-readable"), ("notes.txt", "file.not-parquet")],
)
def test_what_is_not_there_is_said(name: str, code: str, web: str) -> None:
    with refusal(code, f"{web}/{name}"):
        open_pairs(f"{web}/{name}")


def test_an_object_that_is_not_there_is_said(memory: str) -> None:
    with refusal("file.not-found", f"{memory}/nowhere.parquet"):
        open_pairs(f"{memory}/nowhere.parquet")


def test_what_is_private_is_said(hub: Hub, file: Path) -> None:
    hub.create("datasets", "org/private", private=True)
    hub.commit("datasets", "org/private", {file.name: file.read_bytes()})
    with refusal("file.not-readable", hub.endpoint) as caught:
        open_pairs(f"{hub.endpoint}/datasets/org/private/resolve/main/{file.name}")
    assert "401" in caught.value.what


def test_a_server_that_is_down_is_said(hub: Hub, web: str) -> None:
    hub.stop()
    with refusal("file.not-readable", f"{web}/birds.parquet"):
        open_pairs(f"{web}/birds.parquet")


def test_a_file_system_without_its_package_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with refusal("extra.missing", "s3://bucket/pairs.parquet") as caught:
        open_pairs("s3://bucket/pairs.parquet")
    assert "s3fs" in caught.value.remedy


def test_an_unknown_file_system_is_refused() -> None:
    with refusal("file.not-found", "s33://bucket/pairs.parquet"):
        open_pairs("s33://bucket/pairs.parquet")
