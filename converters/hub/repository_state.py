"""Reads the state of a repository on the Hub and compares local files with it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from huggingface_hub import HfApi, constants, get_token, hf_hub_url
from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils import (  # type: ignore[attr-defined]
    build_hf_headers,
    get_session,
    hf_raise_for_status,
)

from nnd.cards import check_repo_id
from nnd.converters.hub.hub_errors import OFFLINE
from nnd.schemas import PublishError, fingerprint, git_blob

Change = Literal["added", "changed", "same", "deleted"]


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository, ORG/name, which may not exist yet; then it is created, as `private` says."""

    kind: Literal["dataset", "model", "space"]
    name: str
    private: bool = False

    @property
    def url(self) -> str:
        """The address of its page."""
        prefix = "" if self.kind == "model" else f"{self.kind}s/"
        return f"{constants.ENDPOINT}/{prefix}{self.name}"


@dataclass(frozen=True, slots=True)
class State:
    """A repository as it is at a commit: path → what the Hub states about the file."""

    commit: str
    private: bool
    files: Mapping[str, RepoFile]


class Digests(NamedTuple):
    """Digests for comparing a local file with one on the Hub."""

    size: int
    sha256: str
    git_id: str


Obsolete = Callable[[State], Iterable[str]]
"""Returns the files of a repository to delete in the same commit, or raises a PublishError if our
files do not belong there."""

Adapt = Callable[[State | None], Mapping[str, Path]]
"""Returns path → file to use in place of ours, for files that depend on the state of the repository
(None: it does not exist)."""


def check_access(repository: Repository, *, dry_run: bool = False) -> None:
    """Check that a name is ORG/name, and that there is a token, unless `dry_run`."""
    check_repo_id(repository.name)
    if dry_run:
        return
    if constants.is_offline_mode():
        raise PublishError("hub.offline", OFFLINE, repository.name)
    if get_token() is None:
        raise PublishError("hub.no-token", "no token found", repository.name)


def look(repository: Repository, revision: str | None = None) -> State | None:
    """Return the state of a repository, or None if the token cannot see one."""
    api = HfApi()
    try:
        info = api.repo_info(repository.name, repo_type=repository.kind, revision=revision)
    except GatedRepoError:
        raise
    except RepositoryNotFoundError:
        return None
    commit = str(info.sha)
    return State(commit, bool(info.private), held_files(repository, commit))


def held_files(repository: Repository, revision: str) -> dict[str, RepoFile]:
    """Return path → what the Hub states about the file, for every file of a revision."""
    listed = HfApi().list_repo_tree(
        repository.name, recursive=True, revision=revision, repo_type=repository.kind
    )
    return {entry.path: entry for entry in listed if isinstance(entry, RepoFile)}


def fetch(repository: Repository, revision: str, path: str) -> bytes:
    """Return the content of a file on the Hub, without any cache."""
    url = hf_hub_url(repository.name, path, repo_type=repository.kind, revision=revision)
    answer = get_session().get(url, headers=build_hf_headers())
    hf_raise_for_status(answer)
    return answer.content


def digest(file: Path) -> Digests:
    """Return the digests of a local file, including its git id."""
    facts = fingerprint(file)
    return Digests(facts["bytes"], facts["sha256"], git_blob(file))


def digests(files: Mapping[str, Path]) -> dict[str, Digests]:
    """Return the digests of local files, by path in the repository."""
    return {path: digest(file) for path, file in files.items()}


def is_same(ours: Digests, held: RepoFile | None) -> bool:
    """Say whether a file on the Hub is the same as a local file, by its digest.

    The Hub states the SHA-256 of large files, and the git id of others.
    """
    if held is None or held.size != ours.size:
        return False
    return held.blob_id == ours.git_id if held.lfs is None else held.lfs.sha256 == ours.sha256


def compare(
    ours: Mapping[str, Digests], state: State | None, obsolete: Obsolete
) -> dict[str, Change]:
    """Return what pushing would do to each of our files and each obsolete one.

    Our files are given as path in the repository → digests of the local file. The state is None if
    the repository does not exist; `obsolete` selects which of its files to delete.
    """
    present = {} if state is None else state.files
    changes: dict[str, Change] = {}
    for path, own in ours.items():
        same = is_same(own, present.get(path))
        changes[path] = "same" if same else "changed" if path in present else "added"
    gone = set() if state is None else {*obsolete(state)} & present.keys() - ours.keys()
    return {**changes, **dict.fromkeys(sorted(gone), "deleted")}
