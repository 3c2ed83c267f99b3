"""Who may read and write what, and where the token goes."""

import pytest
from support.hub.asking import Ask, commit, refused
from support.hub.publishing import TOKEN
from support.hub.server import Hub

SECRET = "hf_loopback_do_not_tell"  # noqa: S105


def theirs(expression: str) -> str:
    """The same, asked by somebody who does not say who it is."""
    return expression.replace("api.", "stranger.")


@pytest.fixture(scope="module")
def _repositories(served: Hub) -> None:
    served.commit("datasets", "org/public", {"a.txt": b"1"})
    served.create("datasets", "org/private", private=True)
    served.commit("datasets", "org/private", {"a.txt": b"1"})
    served.commit("datasets", "org/gated", {"a.txt": b"1"})
    served.repository("datasets", "org/gated").gated = "auto"


FILE = "load('huggingface_hub').hf_hub_url({!r}, 'a.txt', repo_type='dataset')"
READS = (
    "api.dataset_info({!r}).id",
    "list(api.list_repo_tree({!r}, repo_type='dataset'))[-1].path",
    f"api.get_hf_file_metadata(url={FILE}).size",
)
WRITES = (
    commit("org/public", {"b.txt": "2"}),
    "api.create_tag('org/public', tag='v1', repo_type='dataset')",
    "api.create_repo('org/other', repo_type='dataset')",
)


@pytest.mark.usefixtures("_repositories")
@pytest.mark.parametrize("read", READS)
def test_reading(ask: Ask, read: str) -> None:
    public, private = read.format("org/public"), read.format("org/private")
    assert ask(public) == ask(theirs(public))
    ask(private)
    error = refused(ask, theirs(private))
    assert (error.name, error.status) == ("RepositoryNotFoundError", 401)


@pytest.mark.usefixtures("_repositories")
def test_a_gated_dataset_is_described_but_not_handed_out(ask: Ask) -> None:
    describe, _, look = (read.format("org/gated") for read in READS)
    assert ask(theirs(describe)) == "org/gated"
    assert ask(look) == 1
    assert refused(ask, theirs(look)).name == "GatedRepoError"


@pytest.mark.usefixtures("_repositories")
@pytest.mark.parametrize("write", WRITES)
def test_writing_needs_a_token(hub: Hub, ask: Ask, write: str) -> None:
    before = hub.refs("datasets", "org/public")
    assert refused(ask, theirs(write)).status == 401
    assert hub.refs("datasets", "org/public") == before
    assert not hub.exists("datasets", "org/other")


@pytest.mark.usefixtures("_repositories")
def test_a_token_the_hub_does_not_know(ask: Ask) -> None:
    wrong = "load('huggingface_hub').HfApi(token='hf_other').dataset_info('org/public')"
    error = refused(ask, wrong)
    assert error.status == 401
    assert "Invalid credentials in Authorization header" in error.message


def test_leaks_are_found_wherever_they_are(hub: Hub, ask: Ask) -> None:
    hub.commit("datasets", "org/leaks", {"a.txt": b"1"})
    assert any(one.headers.get("authorization") == f"Bearer {TOKEN}" for one in hub.received)
    assert hub.leaks(TOKEN) == []
    ask(commit("org/leaks", {"b.txt": f"{'x' * 99}{SECRET}"}))
    told = ask(commit("org/leaks", {"c.txt": "2"}, title=f"by {SECRET}"))
    ask(f"api.get_paths_info('org/leaks', ['{SECRET}'], repo_type='dataset')")
    found = hub.leaks(SECRET)
    assert "POST /api/datasets/org/leaks/paths-info/main" in found
    assert "POST /api/datasets/org/leaks/commit/main" in found  # the one whose message tells
    assert f"datasets/org/leaks at {told['oid']}: b.txt" in found
    assert f"datasets/org/leaks at {told['oid']}: its message" in found
