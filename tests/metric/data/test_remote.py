"""Pairs behind a URL: read where they are, a row group at a time."""

import sys
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest
from polars.testing import assert_frame_equal
from support.hub.server import Hub
from support.metric_runs import human_scores, pair_rows

from nnd.metric.data import load_pairs, name_datasets, open_pairs, read_human_scores, read_origin
from nnd.schemas import ScoringError


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
    ("name", "said"),
    [
        ("nowhere.parquet", "404, message='Not Found'"),
        ("notes.txt", "Parquet magic bytes not found in footer"),
    ],
)
def test_what_is_not_there_is_said(name: str, said: str, web: str) -> None:
    message = refusal(f"{web}/{name}")
    assert message.startswith(f"{web}/{name}: cannot be read as Parquet: ")
    assert said in message


def test_an_object_that_is_not_there_is_said(memory: str) -> None:
    assert refusal(f"{memory}/nowhere.parquet") == (
        f"{memory}/nowhere.parquet: cannot be read as Parquet: file not found; check the "
        "URL, which must name a single file"
    )


def test_what_is_private_is_said(hub: Hub, file: Path) -> None:
    hub.create("datasets", "org/private", private=True)
    hub.commit("datasets", "org/private", {file.name: file.read_bytes()})
    message = refusal(f"{hub.endpoint}/datasets/org/private/resolve/main/{file.name}")
    assert "401" in message
    assert message.endswith("; check the URL, and that this machine has access to it")


def test_a_server_that_is_down_is_said(hub: Hub, web: str) -> None:
    hub.stop()
    message = refusal(f"{web}/birds.parquet")
    assert "Cannot connect to host 127.0.0.1" in message


def test_a_file_system_without_its_package_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    assert refusal("s3://bucket/pairs.parquet") == (
        "s3://bucket/pairs.parquet: cannot be read as Parquet: Install s3fs to access S3"
    )


def test_an_unknown_file_system_is_refused() -> None:
    assert refusal("s33://bucket/pairs.parquet") == (
        "s33://bucket/pairs.parquet: cannot be read as Parquet: Protocol not known: s33; use "
        "https://, hf://, s3://, gs:// or az://"
    )


def refusal(url: str) -> str:
    with pytest.raises(ScoringError) as caught:
        open_pairs(url)
    message = str(caught.value)
    assert "\n" not in message
    return message
