"""What the real clients write is what the Hub holds."""

import subprocess
from pathlib import Path

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


def test_a_stale_parent_is_refused(hub: Hub, ask: Ask) -> None:
    first = hub.create("datasets", "org/stale").refs["refs/heads/main"]
    hub.commit("datasets", "org/stale", {"theirs.txt": b"theirs"})
    error = refused(ask, commit("org/stale", {"ours.txt": "ours"}, parent_commit=first))
    assert (error.name, error.status) == ("HfHubHTTPError", 412)
    assert "A commit has happened since" in error.message
    assert "ours.txt" not in hub.files("datasets", "org/stale")


def test_a_pull_request_leaves_main_alone(hub: Hub, ask: Ask) -> None:
    head = hub.commit("datasets", "org/pull", {"a.txt": b"old"})
    found = ask(commit("org/pull", {"a.txt": "new"}, title="Please", create_pr=True))
    assert found["pr_url"] == f"{hub.endpoint}/datasets/org/pull/discussions/1"
    assert hub.refs("datasets", "org/pull") == {
        "refs/heads/main": head,
        "refs/pr/1": found["oid"],
    }
    assert hub.files("datasets", "org/pull", "refs/pr/1") == {"a.txt": b"new"}
    more = ask(commit("org/pull", {"b.txt": "more"}, revision="refs/pr/1"))
    assert hub.refs("datasets", "org/pull")["refs/pr/1"] == more["oid"]
    listed = ask("[vars(d) for d in api.get_repo_discussions('org/pull', repo_type='dataset')]")
    assert [(one["num"], one["title"], one["is_pull_request"]) for one in listed] == [
        (1, "Please", True)
    ]


def test_a_pull_request_can_be_opened_before_its_commits(hub: Hub, ask: Ask) -> None:
    head = hub.commit("datasets", "org/draft", {"a.txt": b"old"})
    found = ask("vars(api.create_pull_request('org/draft', 'Soon', repo_type='dataset'))")
    assert (found["num"], found["target_branch"]) == (1, "refs/heads/main")
    assert hub.refs("datasets", "org/draft")["refs/pr/1"] == head


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


def test_a_large_file_is_renamed_without_an_upload(hub: Hub, ask: Ask) -> None:
    hub.commit("datasets", "org/moved", {"old.parquet": b"PAR1"})
    operations = (
        "[load('huggingface_hub').CommitOperationCopy('old.parquet', 'new.parquet'), "
        "delete('old.parquet')]"
    )
    ask(f"api.create_commit('org/moved', {operations}, commit_message='m', repo_type='dataset')")
    assert hub.files("datasets", "org/moved") == {"new.parquet": b"PAR1"}
    assert not [line for line in hub.requests if line.startswith("PUT /lfs/datasets/org/moved")]


def test_a_folder_is_uploaded_in_one_commit(hub: Hub, ask: Ask, tmp_path: Path) -> None:
    hub.commit("datasets", "org/folder", {"gone.txt": b"1", "keep.md": b"2"})
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.parquet").write_bytes(b"PAR1")
    (tmp_path / "b.txt").write_text("b")
    ask(
        f"api.upload_folder(repo_id='org/folder', folder_path={str(tmp_path)!r}, "
        "repo_type='dataset', delete_patterns='*.txt')"
    )
    assert hub.files("datasets", "org/folder") == {
        "keep.md": b"2",
        "b.txt": b"b",
        "sub/a.parquet": b"PAR1",
    }
    assert len(hub.commits("datasets", "org/folder")) == 2


def test_tags_and_branches_come_and_go(hub: Hub, ask: Ask) -> None:
    head = hub.commit("datasets", "org/names", {"a.txt": b"1"})
    tag = "api.create_tag('org/names', tag='v1', repo_type='dataset')"
    ask(tag)
    ask("api.create_branch('org/names', branch='fix/labels', revision='v1', repo_type='dataset')")
    assert hub.refs("datasets", "org/names") == {
        "refs/heads/main": head,
        "refs/tags/v1": head,
        "refs/heads/fix/labels": head,
    }
    assert refused(ask, tag).status == 409
    ask(commit("org/names", {"b.txt": "2"}, revision="fix/labels"))
    assert list(hub.files("datasets", "org/names", "fix/labels")) == ["a.txt", "b.txt"]
    ask("api.delete_tag('org/names', tag='v1', repo_type='dataset')")
    ask("api.delete_branch('org/names', branch='fix/labels', repo_type='dataset')")
    assert hub.refs("datasets", "org/names") == {"refs/heads/main": head}


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


def test_a_dataset_pushes_itself(hub: Hub, ask: Ask) -> None:
    push = (
        "load('datasets').Dataset.from_dict({{'x': {}}}).push_to_hub('org/pushed', {!r}, "
        "split='test')"
    )
    ask(push.format([1, 2], "pairs"))
    ask(push.format([3], "scores"))
    held = hub.files("datasets", "org/pushed")
    assert {"pairs/test-00000-of-00001.parquet", "scores/test-00000-of-00001.parquet"} < {*held}
    assert held["README.md"].count(b"config_name: ") == 4  # configs and dataset_info, each twice


def test_a_model_card_gets_its_results_by_pull_request(hub: Hub, ask: Ask) -> None:
    hub.commit("models", "org/bart", {"README.md": b"---\nlicense: mit\n---\n# BART\n"})
    ask("load('huggingface_hub').metadata_update('org/bart', {'tags': ['nnd']}, create_pr=True)")
    card = hub.files("models", "org/bart", "refs/pr/1")["README.md"]
    assert (b"license: mit" in card, b"- nnd" in card, b"# BART" in card) == (True, True, True)


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
