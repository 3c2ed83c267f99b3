"""A repository as git keeps it: commits, and the branches, tags and pull requests on them."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any, Literal, TypeGuard

from support.hub.answers import Refusal

Kind = Literal["datasets", "models", "spaces"]

LARGE = 10_000_000
"""Bytes from which the Hub wants a file as LFS, whatever it is called."""


def is_kind(word: str) -> TypeGuard[Kind]:
    return word in ("datasets", "models", "spaces")


def goes_to_lfs(path: str, size: int) -> bool:
    """Whether the Hub wants a file as LFS; an empty one never, clients cannot upload it."""
    return size > LARGE or (size > 0 and path.endswith((".parquet", ".arrow", ".safetensors")))


@dataclass(frozen=True)
class Blob:
    """A file.

    Args:
        data: What is handed out, which differs from what was uploaded if the storage is damaged.
        pointer: Of an LFS file, what git holds in its place; else None.
    """

    data: bytes
    pointer: bytes | None = None

    @classmethod
    def of(cls, path: str, data: bytes) -> "Blob":
        """Return a file as the Hub would keep it."""
        return cls.lfs(data, sha256(data)) if goes_to_lfs(path, len(data)) else cls(data)

    @classmethod
    def lfs(cls, data: bytes, oid: str) -> "Blob":
        pointer = (
            f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(data)}\n"
        )
        return cls(data, pointer.encode())

    @property
    def git_id(self) -> str:
        """The id git gives the file, or the pointer to it."""
        held = self.data if self.pointer is None else self.pointer
        return sha1(b"blob %d\0" % len(held) + held)

    @property
    def lfs_id(self) -> str | None:
        """The SHA-256 of the file, as its uploader said, if it is an LFS file."""
        if self.pointer is None:
            return None
        return self.pointer.split()[3].decode().removeprefix("sha256:")

    @property
    def content_id(self) -> str:
        """What a client compares with its own file to tell whether it has to upload it."""
        return self.lfs_id or self.git_id


@dataclass(frozen=True)
class Commit:
    """A commit; the first one's parent is None."""

    id: str
    title: str
    message: str
    parent: str | None
    date: str
    files: Mapping[str, Blob]


@dataclass(frozen=True)
class Discussion:
    """A discussion or, if it has a base, a pull request onto that branch."""

    number: int
    title: str
    description: str
    date: str
    base: str | None


@dataclass
class Repository:
    """What the Hub knows of a repository; `refs` maps full names (refs/heads/main) to commits."""

    kind: Kind
    name: str
    private: bool = False
    gated: str | Literal[False] = False
    sdk: str | None = None
    history: dict[str, Commit] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    discussions: list[Discussion] = field(default_factory=list)
    expected: dict[str, int] = field(default_factory=dict)
    """Uploads that the LFS batch endpoint agreed to: SHA-256 -> size."""
    objects: dict[str, bytes] = field(default_factory=dict)
    """Uploaded LFS files: SHA-256 -> what was kept."""

    @property
    def url(self) -> str:
        """The path of its page, without the leading slash."""
        return self.name if self.kind == "models" else f"{self.kind}/{self.name}"

    def ref(self, revision: str) -> str | None:
        """Return the full name of a branch, a tag or a pull request, if there is one."""
        names = (revision, f"refs/heads/{revision}", f"refs/tags/{revision}")
        return next((name for name in names if name in self.refs), None)

    def resolve(self, revision: str) -> Commit:
        """Return the commit of a branch, a tag, a pull request or a commit's full id."""
        name = self.ref(revision)
        commit = self.history.get(revision if name is None else self.refs[name])
        if commit is None:
            raise Refusal(HTTPStatus.NOT_FOUND, "RevisionNotFound", f"Invalid rev id: {revision}")
        return commit

    def ancestry(self, revision: str) -> Iterator[Commit]:
        """Yield a revision's commits, newest first."""
        commit: Commit | None = self.resolve(revision)
        while commit is not None:
            yield commit
            commit = None if commit.parent is None else self.history[commit.parent]

    def add(
        self, ref: str, parent: str | None, files: Mapping[str, Blob], title: str, message: str = ""
    ) -> Commit:
        """Add a commit after `parent` and let `ref` (its full name) point to it."""
        number = len(self.history)
        commit = Commit(
            # The number keeps two commits of the same files apart, as their dates do in git.
            id=sha1(f"{self.url} {number} {title} after {parent}".encode()),
            title=title,
            message=message,
            parent=parent,
            date=date(number),
            files=dict(sorted(files.items())),
        )
        self.history[commit.id] = commit
        large = ((blob.lfs_id, blob.data) for blob in files.values())
        self.objects.update((oid, data) for oid, data in large if oid is not None)
        self.refs[ref] = commit.id
        return commit

    def discuss(self, title: str, description: str, *, base: str | None) -> Discussion:
        """Open a discussion, or a pull request onto `base`, whose commits the caller adds."""
        number = len(self.discussions) + 1
        discussion = Discussion(number, title, description, date(number), base)
        self.discussions.append(discussion)
        return discussion


def entry(path: str, blob: Blob) -> dict[str, Any]:
    """Return a file as the endpoints that list files describe it."""
    listed = {"type": "file", "path": path, "size": len(blob.data), "oid": blob.git_id}
    if blob.pointer is None:
        return listed
    lfs = {"oid": blob.lfs_id, "size": len(blob.data), "pointerSize": len(blob.pointer)}
    return {**listed, "lfs": lfs}


def date(number: int) -> str:
    """Return the moment of the `number`-th event: a Hub of its own time, a second each."""
    moment = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=number)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def sha1(data: bytes) -> str:
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
