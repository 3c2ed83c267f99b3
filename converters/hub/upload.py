"""Upload files to a repository on the Hub in one commit, or none, and read them back.

    push(Repository("dataset", "org/name"), {"README.md": path, …}, message="…")

An attempt reads the state of the repository, sends what differs in one commit on top of exactly
that state, and reads back what the Hub then holds. After a temporary error (a commit by someone
else, a busy Hub, a lost connection) it starts from the beginning. So a lost answer does not cause
a second commit: the next attempt finds the files there. After a kill, simply run it again.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
from huggingface_hub.hf_api import RepoFile

from nnd.converters.hub.hub_calls import ask
from nnd.converters.hub.repository_state import (
    Adapt,
    Change,
    Digests,
    Obsolete,
    Repository,
    State,
    check_access,
    compare,
    digests,
    fetch,
    held_files,
    is_same,
    look,
)
from nnd.schemas import PublishError, listed

_LARGEST_FETCHED = 16 * 2**20
"""Most bytes of a file that is fetched to read it back; for larger files the digest that the Hub
states is compared."""


@dataclass(frozen=True, slots=True)
class Upload:
    """The result of a push.

    Attributes:
        commit: Id of the commit that holds the files.
        sent: Whether a commit was sent for it, rather than found.
        pull_request: Address of the pull request that the commit belongs to, or None.
        changes: Path → whether the file was added, changed, deleted or the same.
    """

    commit: str
    sent: bool
    pull_request: str | None
    changes: Mapping[str, Change]


def push(
    repository: Repository,
    files: Mapping[str, Path],
    *,
    message: str,
    obsolete: Obsolete = lambda _: (),
    adapt: Adapt = lambda _: {},
    pull_request: bool = False,
) -> Upload:
    """Upload files to a repository in one commit, or in none if it holds them already.

    Args:
        repository: Created if it does not exist, unless `pull_request` is set.
        files: Path in the repository → local file. Other files in the repository stay.
        message: Title of the commit, and of the pull request.
        obsolete: Selects which of the other files to delete.
        adapt: Returns replacements for some of the files, given the state of the repository.
        pull_request: Open a pull request against main, or use the open one that has the same title
            and the same files.

    Raises:
        PublishError: If the Hub refuses the files, or holds others afterwards. The repository then
            is unchanged or holds all of them; a second call finishes the work.
    """
    check_access(repository)
    seen: list[Mapping[str, Change]] = []
    sent = False

    def attempt() -> Upload:
        nonlocal sent
        present = look(repository)
        check_place(repository, present, pull_request=pull_request)
        state = present or _create(repository)
        local = {**files, **adapt(state)}
        ours = digests(local)
        changes = compare(ours, state, obsolete)
        seen.append(changes)
        commit, page = state.commit, None
        if {*changes.values()} - {"same"}:
            opened: tuple[str, str | None] | None = None
            if pull_request:
                opened = _find_pull_request(repository, message, ours, changes)
            if opened is None:
                sent = True
                done = HfApi().create_commit(
                    repository.name,
                    [
                        CommitOperationDelete(path)
                        if change == "deleted"
                        else CommitOperationAdd(path, local[path])
                        for path, change in changes.items()
                        if change != "same"
                    ],
                    commit_message=message,
                    repo_type=repository.kind,
                    parent_commit=state.commit,  # exactly the state that was compared
                    create_pr=pull_request,
                )
                opened = done.oid, done.pr_url
            commit, page = opened
        _read_back(repository, commit, ours, changes)
        return Upload(commit, sent, page, seen[0])

    return ask(repository, attempt, reached=lambda: bool(seen))


def put_tag(
    repository: Repository,
    tag: str,
    files: Mapping[str, Path],
    commit: str | None,
    *,
    adapt: Adapt = lambda _: {},
) -> None:
    """Create a tag; an existing one may stay if its commit holds the same files.

    A commit (full id) of None means to check only that the tag is free, or names such a commit.
    `adapt` returns replacements for some of the files, given the state of main.
    """

    def attempt() -> None:
        state = look(repository)
        if state is None:
            return  # without a repository, the tag is free
        api = HfApi()
        refs = api.list_repo_refs(repository.name, repo_type=repository.kind)
        named = next((ref.target_commit for ref in refs.tags if ref.name == tag), None)
        if named is None and commit is not None:
            api.create_tag(repository.name, tag=tag, revision=commit, repo_type=repository.kind)
        elif named not in (None, commit):
            ours = digests({**files, **adapt(state)})
            if _differences(held_files(repository, str(named)), ours, {}):
                raise PublishError(
                    "hub.tag",
                    f"the tag {tag} already names commit {named}, which holds other files",
                    repository.name,
                )

    ask(repository, attempt, reached=lambda: commit is not None)


def _create(repository: Repository) -> State:
    HfApi().create_repo(
        repository.name,
        repo_type=repository.kind,
        private=repository.private or None,  # None: public, unless the organisation wants otherwise
        # Free, and enough for `evaluate.load`; the Hub asks money for Spaces that run code.
        space_sdk="static" if repository.kind == "space" else None,
        exist_ok=True,
    )
    state = look(repository)
    if state is None:
        raise PublishError("hub.run-again", "was created, but is not visible yet", repository.name)
    check_place(repository, state)
    return state


def check_place(repository: Repository, state: State | None, *, pull_request: bool = False) -> None:
    """Check that a repository in some state accepts this push.

    A pull request needs a repository, and one that should be private must not be public.
    """
    if state is None and pull_request:
        raise PublishError(
            "hub.not-found",
            "is not there, or the token may not see it",
            repository.name,
            "a pull request needs something to change: publish without --pr first",
        )
    if repository.private and state is not None and not state.private:
        raise PublishError(
            "hub.public-already",
            "is public already, and --private makes only new ones private",
            repository.name,
        )


def _find_pull_request(
    repository: Repository,
    title: str,
    ours: Mapping[str, Digests],
    changes: Mapping[str, Change],
) -> tuple[str, str] | None:
    """Return commit and page of an open pull request with the same title and changes."""
    for pull in HfApi().get_repo_discussions(
        repository.name,
        repo_type=repository.kind,
        discussion_type="pull_request",
        discussion_status="open",
    ):
        if pull.title == title and pull.is_pull_request:
            state = look(repository, revision=f"refs/pr/{pull.num}")
            if state is not None and not _differences(state.files, ours, changes):
                return state.commit, f"{repository.url}/discussions/{pull.num}"
    return None


def _differences(
    held: Mapping[str, RepoFile], ours: Mapping[str, Digests], changes: Mapping[str, Change]
) -> list[str]:
    """Return the files that differ from the local ones, according to the Hub."""
    wrong = [path for path, digests in ours.items() if not is_same(digests, held.get(path))]
    return wrong + [
        path for path, change in changes.items() if change == "deleted" and path in held
    ]


def _read_back(
    repository: Repository,
    commit: str,
    ours: Mapping[str, Digests],
    changes: Mapping[str, Change],
) -> None:
    """Compare stated digests and the content of small files with what was sent."""
    wrong = _differences(held_files(repository, commit), ours, changes)
    if not wrong:
        wrong = [
            path
            for path, own in ours.items()
            if own.size <= _LARGEST_FETCHED
            and hashlib.sha256(fetch(repository, commit, path)).hexdigest() != own.sha256
        ]
    if wrong:
        raise PublishError(
            "hub.run-again",
            f"commit {commit} does not hold what was sent ({listed(wrong, 1)}): do not use it",
            repository.name,
            "run the same command again, and if that does not help delete that on the Hub first",
        )
