"""What the Hub holds is what the real clients read."""

import io
from http.client import HTTPConnection
from pathlib import Path

import polars as pl
import pytest
from support.hub.asking import Ask, refused
from support.hub.repository import Repository
from support.hub.server import Hub

CARD = b"""---
license: mit
configs:
- config_name: pairs
  default: true
  data_files:
  - split: test
    path: pairs/test-*
  - split: validation
    path: pairs/validation-*
- config_name: scores
  data_files:
  - split: train
    path: scores.parquet
---
# Quiz
"""


def parquet(values: list[int]) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame({"x": values}).write_parquet(buffer)
    return buffer.getvalue()


def quiz(hub: Hub, name: str) -> str:
    """Commit a dataset of two configurations, one of two splits."""
    return hub.commit(
        "datasets",
        name,
        {
            "README.md": CARD,
            "pairs/test-00000-of-00001.parquet": parquet([1, 2]),
            "pairs/validation-00000-of-00001.parquet": parquet([3]),
            "scores.parquet": parquet([4]),
        },
    )


def rows(name: str, *more: str) -> str:
    """The expression that loads a column of a dataset."""
    return f"list(load('datasets').load_dataset({', '.join([repr(name), *more])})['x'])"


@pytest.mark.parametrize(
    ("config", "split", "expected"),
    [
        ("None", "test", [1, 2]),
        ("'pairs'", "validation", [3]),
        ("'scores'", "train", [4]),
    ],
)
def test_a_dataset_loads(hub: Hub, ask: Ask, config: str, split: str, expected: list[int]) -> None:
    name = f"org/load-{split}"
    quiz(hub, name)
    assert ask(rows(name, config, f"split={split!r}")) == expected
    streamed = rows(name, config, f"split={split!r}", "streaming=True")
    assert ask(f"[r['x'] for r in {streamed[5:-6]}]") == expected


def test_a_dataset_loads_by_tag_and_by_pull_request(hub: Hub, ask: Ask) -> None:
    old = quiz(hub, "org/tagged")
    hub.repository("datasets", "org/tagged").refs["refs/tags/v1"] = old
    changed = {"scores.parquet": parquet([7])}
    new = hub.commit("datasets", "org/tagged", changed, branch="main")
    hub.repository("datasets", "org/tagged").refs["refs/pr/1"] = new
    load = "'scores', split='train', revision={!r}"
    assert ask(rows("org/tagged", load.format("v1"))) == [4]
    assert ask(rows("org/tagged", load.format("refs/pr/1"))) == [7]


def test_a_snapshot_holds_every_file(hub: Hub, ask: Ask) -> None:
    commit = quiz(hub, "org/whole")
    folder = Path(ask("api.snapshot_download('org/whole', repo_type='dataset')"))
    assert folder.name == commit
    found = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}
    held = hub.files("datasets", "org/whole")
    assert {path: file.read_bytes() for path, file in found.items()} == held


def test_a_card_loads_and_validates(hub: Hub, ask: Ask) -> None:
    quiz(hub, "org/carded")
    card = "load('huggingface_hub').DatasetCard.load('org/carded')"
    assert ask(f"{card}.data.license") == "mit"
    assert ask(f"{card}.validate(repo_type='dataset')") is None


def test_facts_of_a_repository(hub: Hub, ask: Ask) -> None:
    commit = quiz(hub, "org/facts")
    info = ask("vars(api.dataset_info('org/facts', files_metadata=True))")
    assert (info["id"], info["sha"], info["private"]) == ("org/facts", commit, False)
    siblings = ask(
        "[(s.rfilename, s.size, s.blob_id, s.lfs and s.lfs['sha256']) "
        "for s in api.dataset_info('org/facts', files_metadata=True).siblings]"
    )
    blobs = hub.repository("datasets", "org/facts").history[commit].files
    assert siblings == [
        [path, len(blob.data), blob.git_id, blob.lfs_id] for path, blob in blobs.items()
    ]


def test_branches_tags_and_pull_requests_are_listed(hub: Hub, ask: Ask) -> None:
    head = hub.commit("datasets", "org/refs", {"a.txt": b"1"})
    hub.repository("datasets", "org/refs").refs |= {"refs/tags/v1": head, "refs/pr/1": head}
    refs = "api.list_repo_refs('org/refs', repo_type='dataset', include_pull_requests=True)"
    for group, name in (("branches", "main"), ("tags", "v1"), ("pull_requests", "1")):
        assert ask(f"[(r.name, r.target_commit) for r in {refs}.{group}]") == [[name, head]]


@pytest.fixture(scope="module")
def folders(served: Hub) -> Repository:
    """A dataset whose files lie at three depths."""
    served.commit("datasets", "org/tree", {"a.txt": b"1", "b/c/d.txt": b"2", "b/c/e.txt": b"3"})
    return served.repository("datasets", "org/tree")


@pytest.mark.usefixtures("folders")
@pytest.mark.parametrize(
    ("folder", "recursive", "expected"),
    [
        (None, "True", ["a.txt", "b", "b/c", "b/c/d.txt", "b/c/e.txt"]),
        (None, "False", ["a.txt", "b"]),
        ("b", "False", ["b/c"]),
        ("b/c", "True", ["b/c/d.txt", "b/c/e.txt"]),
    ],
)
def test_a_tree_lists_files_and_folders(
    ask: Ask, folder: str | None, recursive: str, expected: list[str]
) -> None:
    tree = f"api.list_repo_tree('org/tree', {folder!r}, recursive={recursive}, repo_type='dataset')"
    assert ask(f"[entry.path for entry in {tree}]") == expected


@pytest.mark.usefixtures("folders")
def test_paths_that_exist_are_described(ask: Ask) -> None:
    asked = "api.get_paths_info('org/tree', ['b', 'none', 'a.txt'], repo_type='dataset')"
    # printf 1 | git hash-object --stdin
    a = "56a6051ca2b02b04ef92d5150c9ef600403cb1de"
    found = ask(f"[(p.path, getattr(p, 'blob_id', None)) for p in {asked}]")
    assert found == [["b", None], ["a.txt", a]]


@pytest.mark.usefixtures("folders")
@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ("fetch('org/none', 'a.txt')", "RepositoryNotFoundError"),
        ("api.model_info('none')", "RepositoryNotFoundError"),
        ("fetch('org/tree', 'none.txt')", "RemoteEntryNotFoundError"),
        ("fetch('org/tree', 'a.txt', revision='none')", "RevisionNotFoundError"),
        (
            "list(api.list_repo_tree('org/tree', 'none', repo_type='dataset'))",
            "RemoteEntryNotFoundError",
        ),
    ],
)
def test_what_is_not_there_is_not_found(ask: Ask, expression: str, error: str) -> None:
    found = refused(ask, expression)
    assert (found.name, found.status) == (error, 404)


@pytest.mark.parametrize(
    ("asked", "status", "body", "said"),
    [
        ("bytes=2-4", 206, b"234", "bytes 2-4/10"),
        ("bytes=7-", 206, b"789", "bytes 7-9/10"),
        ("bytes=-2", 206, b"89", "bytes 8-9/10"),
        ("bytes=8-99", 206, b"89", "bytes 8-9/10"),
        ("bytes=10-", 416, b"", "bytes */10"),
    ],
)
def test_a_part_of_a_file(hub: Hub, asked: str, status: int, body: bytes, said: str) -> None:
    hub.commit("datasets", "org/part", {"a.txt": b"0123456789"})
    connection = HTTPConnection("127.0.0.1", hub.server_port)
    url = "/datasets/org/part/resolve/main/a.txt"
    connection.request("GET", url, headers={"Range": asked})
    answer = connection.getresponse()
    assert (answer.status, answer.headers["Content-Range"]) == (status, said)
    assert status == 416 or answer.read() == body
