"""Where data is: a folder, a file, or a dataset on the Hub, which is fetched."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from nnd.schemas import ScoringError

_HUB_ID = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)(@(?P<revision>\S+))?")
_COMMIT = re.compile(r"[0-9a-f]{40}")


class Place(NamedTuple):
    """A file or folder here.

    Attributes:
        path: Where it is.
        repo: The dataset on the Hub that it was fetched from, or None.
        commit: At which commit, or None.
    """

    path: Path
    repo: str | None = None
    commit: str | None = None


def find_place(data: str | Path, needed: Sequence[str]) -> Place:
    """Return the file or folder that a name stands for.

    Args:
        data: A path, or `ORG/name[@revision]` of a dataset on the Hub, which is fetched at exactly
            the commit that the revision stands for.
        needed: Patterns of the files that are fetched from the Hub.

    Raises:
        ScoringError: If there is no such thing, or the Hub does not hand it out.
    """
    path = Path(data)
    if path.exists():
        return Place(path)
    hub = _HUB_ID.fullmatch(str(data))
    if hub is None or isinstance(data, Path) or path.suffix == ".parquet":
        raise ScoringError(
            f"{data}: there is no such file or folder; name a folder that `nnd convert` wrote, a "
            "Parquet file, or ORG/name[@revision] on the Hub"
        )
    folder, commit = _fetch(hub["repo"], hub["revision"], needed)
    return Place(folder, hub["repo"], commit)


def _fetch(repo: str, revision: str | None, needed: Sequence[str]) -> tuple[Path, str]:
    """Fetch a Hub dataset at one commit: a name that moves must not decide what is scored.

    A commit is not looked up, so that one fetched before is read without the Hub.
    """
    from huggingface_hub import HfApi, snapshot_download  # noqa: PLC0415 - slow, seldom needed
    from huggingface_hub.errors import HTTPError  # type: ignore[attr-defined]  # noqa: PLC0415

    try:
        pinned = revision is not None and _COMMIT.fullmatch(revision)
        commit = revision if pinned else HfApi().dataset_info(repo, revision=revision).sha
        folder = snapshot_download(
            repo, repo_type="dataset", revision=commit, allow_patterns=list(needed)
        )
    except (HTTPError, OSError, ValueError) as error:  # HTTPError: of httpx, behind the Hub client
        name = repo if revision is None else f"{repo}@{revision}"
        raise ScoringError(f"{name}: {_hub_problem(error)}") from error
    return Path(folder), str(commit)


def _hub_problem(error: Exception) -> str:
    """Say in one line why the Hub gave nothing: its client needs several, of little use here."""
    from huggingface_hub import errors  # noqa: PLC0415

    if isinstance(error, errors.GatedRepoError):
        return "the dataset is gated: accept its terms on its page, then `hf auth login`"
    if isinstance(error, errors.RepositoryNotFoundError):
        return (
            "there is no such folder here, and no such dataset on the Hub "
            "(to read a private one, `hf auth login`)"
        )
    if isinstance(error, errors.RevisionNotFoundError):
        return "the dataset has no such revision; name one of its branches, tags or commits"
    reason = " ".join(str(error).split()) or repr(error)
    return (
        f"there is no such folder here, and the Hub did not hand out such a dataset: {reason} "
        "(a commit that was fetched before, ORG/name@commit, needs no Hub)"
    )
