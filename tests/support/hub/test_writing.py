"""What the real clients write is what the Hub holds."""

import subprocess

import pytest
from support.hub.asking import Ask, commit, commit_by_hand, refused
from support.hub.repository import Blob
from support.hub.server import Hub

CARD = "---\nlicense: mit\n---\n# Title\n"


def test_a_repository_begins_with_a_commit_of_the_hubs_own(hub: Hub, ask: Ask) -> None:
    url = ask("api.create_repo('org/new', repo_type='dataset', private=True)")
    assert url == f"{hub.endpoint}/datasets/org/new"
    assert list(hub.files("datasets", "org/new")) == [".gitattributes"]
    assert hub.repository("datasets", "org/new").private


def test_a_repository_is_created_once(hub: Hub, ask: Ask) -> None:
    hub.create("datasets", "org/twice")
    assert refused(ask, "api.create_repo('org/twice', repo_type='dataset')").status == 409
    url = ask("api.create_repo('org/twice', repo_type='dataset', exist_ok=True)")
    assert url == f"{hub.endpoint}/datasets/org/twice"
    assert len(hub.commits("datasets", "org/twice")) == 1


def test_a_gradio_space_costs_and_a_static_one_does_not(hub: Hub, ask: Ask) -> None:
    create = "api.create_repo('org/page', repo_type='space', space_sdk={!r})"
    assert refused(ask, create.format("gradio")).status == 402
    assert not hub.exists("spaces", "org/page")
    ask(create.format("static"))
    assert b"sdk: static" in hub.files("spaces", "org/page")["README.md"]


def test_a_commit_holds_regular_and_large_files(hub: Hub, ask: Ask) -> None:
    first = hub.create("datasets", "org/both").refs["refs/heads/main"]
    files = {"README.md": CARD, "pairs/a.parquet": "PAR1", "empty.parquet": ""}
    found = ask(commit("org/both", files, parent_commit=first))
    assert hub.refs("datasets", "org/both") == {"refs/heads/main": found["oid"]}
    held = hub.files("datasets", "org/both")
    del held[".gitattributes"]
    assert held == {path: text.encode() for path, text in files.items()}
    newest, oldest = hub.commits("datasets", "org/both")
    assert (newest.title, newest.parent, oldest.id) == ("ours", first, first)
    # printf PAR1 | sha256sum; the empty file is a regular one.
    sha = "fbc62d3b511368ee275ddc74117d8689b430e1427220e25d30816201d89ca7b6"
    uploads = [line for line in hub.requests if line.startswith("PUT /lfs/datasets/org/both")]
    assert uploads == [f"PUT /lfs/datasets/org/both/{sha}"]


def test_the_same_again_is_no_commit_and_no_upload(hub: Hub, ask: Ask) -> None:
    hub.create("datasets", "org/same")
    first = ask(commit("org/same", {"README.md": CARD, "a.parquet": "PAR1"}))
    asked = len(hub.requests)
    again = ask(commit("org/same", {"README.md": CARD, "a.parquet": "PAR1"}))
    assert again["oid"] == first["oid"]
    assert len(hub.commits("datasets", "org/same")) == 2
    assert not [line for line in hub.requests[asked:] if "/commit/" in line or "PUT" in line]


def test_files_and_folders_are_deleted(hub: Hub, ask: Ask) -> None:
    files = {"a.txt": b"1", "old/b.txt": b"2", "old/c.txt": b"3", "d.txt": b"4"}
    hub.commit("datasets", "org/less", files)
    delete = (
        "api.create_commit('org/less', [delete('a.txt'), delete('old/')], commit_message='less', "
        "repo_type='dataset')"
    )
    ask(delete)
    assert hub.files("datasets", "org/less") == {"d.txt": b"4"}
    error = refused(ask, delete)
    assert (error.name, error.status) == ("RemoteEntryNotFoundError", 404)


@pytest.mark.parametrize("revision", ["nope", "v1"])
def test_only_a_branch_can_be_committed_to(hub: Hub, ask: Ask, revision: str) -> None:
    hub.commit("datasets", f"org/only-{revision}", {"a.txt": b"1"})
    ask(f"api.create_tag('org/only-{revision}', tag='v1', repo_type='dataset')")
    error = refused(ask, commit(f"org/only-{revision}", {"b.txt": "2"}, revision=revision))
    assert (error.name, error.status) == ("RevisionNotFoundError", 404)


@pytest.mark.parametrize(
    ("card", "reason"),
    [
        ("---\nlicense: [\n---\n", "YAML Metadata Error"),
        ("---\n- a list\n---\n", "metadata must be a mapping"),
        ("---\nlanguage: no\n---\n", '"language" must be a string'),
        ("---\nconfigs:\n- data_files: x\n---\n", '"configs" must be a list'),
    ],
)
def test_a_card_with_wrong_metadata_is_refused(hub: Hub, ask: Ask, card: str, reason: str) -> None:
    before = hub.commit("datasets", "org/card", {"a.txt": b"1"})
    error = refused(ask, commit("org/card", {"README.md": card}))
    assert error.name == "ValueError"
    assert reason in error.message
    assert hub.refs("datasets", "org/card") == {"refs/heads/main": before}


@pytest.mark.parametrize(
    ("path", "text"),
    [("README.md", "---\nlicense: [\n---\n"), ("../a.txt", "a"), ("/a.txt", "a"), (".git/a", "a")],
)
def test_the_hub_itself_refuses_a_wrong_commit(hub: Hub, path: str, text: str) -> None:
    before = hub.commit("datasets", "org/wrong", {"a.txt": b"1"})
    assert commit_by_hand(hub.server_port, "org/wrong", text, path=path) == 400
    assert hub.refs("datasets", "org/wrong") == {"refs/heads/main": before}


POINTER = b"""version https://git-lfs.github.com/spec/v1
oid sha256:fbc62d3b511368ee275ddc74117d8689b430e1427220e25d30816201d89ca7b6
size 4
"""


@pytest.mark.parametrize(
    ("blob", "held"),
    [
        (Blob.of("empty.parquet", b""), b""),
        (Blob.of("a.txt", b"PAR1"), b"PAR1"),
        (Blob.of("a.bin", bytes(range(256))), bytes(range(256))),
        (Blob.of("a.parquet", b"PAR1"), POINTER),
    ],
)
def test_ids_are_gits(blob: Blob, held: bytes) -> None:
    command = ["git", "hash-object", "--no-filters", "--stdin"]
    asked = subprocess.run(command, input=held, capture_output=True, check=True)
    assert blob.git_id == asked.stdout.decode().strip()
