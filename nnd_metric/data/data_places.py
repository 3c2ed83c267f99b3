"""Find data: a folder, a file, or a dataset on the Hub, which is downloaded."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from nnd.schemas import ScoringError

_HUB_ID = re.compile(r"(?P<repo>\w[\w.-]*/\w[\w.-]*)(@(?P<revision>\S+))?")
_COMMIT = re.compile(r"[0-9a-f]{40}")


class DataPlace(NamedTuple):
    """A local file or folder, and the dataset and commit on the Hub that it was downloaded from."""

    path: Path
    repo: str | None = None
    commit: str | None = None


def find_place(data: str | Path, needed: Sequence[str]) -> DataPlace:
    """Return the file or folder that a path or a Hub id names.

    A dataset on the Hub, `ORG/name[@revision]`, is downloaded at exactly the commit of the
    revision; `needed` has patterns of the files to download.
    """
    hub = check_place(data)
    if hub is None:
        return DataPlace(Path(data))
    folder, commit = _fetch(hub["repo"], hub["revision"], needed)
    return DataPlace(folder, hub["repo"], commit)


def check_place(data: str | Path) -> re.Match[str] | None:
    """Return the parts of a Hub id, which is not looked up, or None for a path that exists."""
    path = Path(data)
    if path.exists() and str(data).strip():
        return None
    hub = _HUB_ID.fullmatch(str(data))
    if hub is None or isinstance(data, Path) or path.suffix in (".csv", ".jsonl", ".parquet"):
        named = data if str(data).strip() else '""'
        raise ScoringError(
            "file.not-found",
            "file or folder not found",
            named,
            "name a folder that `nnd convert` wrote, a JSON Lines, CSV or Parquet file, or "
            "ORG/name[@revision] on the Hub",
        )
    return hub


def _fetch(repo: str, revision: str | None, needed: Sequence[str]) -> tuple[Path, str]:
    """Download a Hub dataset at one commit, because branches and tags may change.

    A full commit id is not looked up, so a commit that was downloaded before can be read offline.
    """
    from huggingface_hub import HfApi, snapshot_download  # noqa: PLC0415 - slow to import, rarely needed
    from huggingface_hub.errors import HTTPError  # type: ignore[attr-defined]  # noqa: PLC0415

    try:
        pinned = revision is not None and _COMMIT.fullmatch(revision)
        commit = revision if pinned else HfApi().dataset_info(repo, revision=revision).sha
        folder = snapshot_download(
            repo, repo_type="dataset", revision=commit, allow_patterns=list(needed)
        )
    except (HTTPError, OSError, ValueError) as error:  # HTTPError comes from httpx
        name = repo if revision is None else f"{repo}@{revision}"
        problem, remedy = _hub_problem(error)
        raise ScoringError("data.on-the-hub", problem, name, remedy) from error
    return Path(folder), str(commit)


def _hub_problem(error: Exception) -> tuple[str, str]:
    """Say why a download failed, and what to do; the client's messages have several lines."""
    from huggingface_hub import errors  # noqa: PLC0415

    if isinstance(error, errors.GatedRepoError):
        return "the dataset is gated", "accept its terms on its page, and run `hf auth login`"
    if isinstance(error, errors.RepositoryNotFoundError):
        return (
            "neither a local folder nor a dataset on the Hub has this name",
            "correct it, or, if the dataset is private, run `hf auth login`",
        )
    if isinstance(error, errors.RevisionNotFoundError):
        return (
            "the dataset does not have this revision",
            "name one of its branches, tags or commits",
        )
    reason = " ".join(str(error).split()).rstrip(".") or repr(error)
    return (
        f"no local folder has this name, and the Hub did not provide the dataset: {reason}",
        "check the network, or name a downloaded commit, ORG/name@COMMIT, which is read offline",
    )
