"""Checks of the content of a commit or a pull request on the Hub."""

import hashlib
from collections.abc import Mapping

from huggingface_hub import HfApi
from huggingface_hub.hf_api import RepoFile

from nnd.converters.hub.repository_state import (
    Change,
    Digests,
    Repository,
    fetch,
    held_files,
    is_same,
    look,
)
from nnd.schemas import PublishError

LARGEST_FETCHED = 16 * 2**20
"""Most bytes of a file that is fetched to read it back; for larger files the digest that the Hub
states is compared."""


def find_pull_request(
    repository: Repository,
    title: str,
    ours: Mapping[str, Digests],
    changes: Mapping[str, Change],
) -> tuple[str, str] | None:
    """Return commit and page of an open pull request with the same title and changes.

    Args:
        repository: The repository.
        title: The title of our pull request.
        ours: Path in the repository → digests of the local file.
        changes: What pushing does to each file.
    """
    api = HfApi()
    for pull in api.get_repo_discussions(
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


def read_back(
    repository: Repository,
    commit: str,
    ours: Mapping[str, Digests],
    changes: Mapping[str, Change],
) -> None:
    """Compare a commit on the Hub with what was sent: stated digests, and content of small files.

    Args:
        repository: The repository.
        commit: Full id.
        ours: Path in the repository → digests of the local file.
        changes: What pushing did to each file; deleted files must be gone.

    Raises:
        PublishError: If they differ.
    """
    wrong = _differences(held_files(repository, commit), ours, changes)
    if not wrong:
        wrong = [
            path
            for path, own in ours.items()
            if own.size <= LARGEST_FETCHED
            and hashlib.sha256(fetch(repository, commit, path)).hexdigest() != own.sha256
        ]
    if wrong:
        more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise PublishError(
            f"{repository.name}: commit {commit} does not hold what was sent ({wrong[0]}{more}): "
            "do not use it; run the same command again, and if that does not help delete that on "
            "the Hub first"
        )
