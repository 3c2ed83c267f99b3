"""A converted folder as a dataset on the Hub, which `load_dataset` reads and its card explains.

Refused with a reason is what should not go out: a folder with problems, a licence that does not
allow it, addresses of people, a card that is not right.
"""

import difflib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from nnd.converters.hub import (
    Adapt,
    Change,
    Obsolete,
    Patience,
    Repository,
    ask,
    check_name,
    check_place,
    check_token,
    compare,
    digests,
    look,
    push,
    put_tag,
)
from nnd.converters.publish.earlier import card_there, earlier_files, with_card_there
from nnd.converters.publish.release import CARD, read_release, write_release
from nnd.schemas import PublishError, Shown, temporary_folder, text_table

if TYPE_CHECKING:
    from rich.table import Table

_TAG = re.compile(r"(?!.*\.\.)\w([\w.-]*[\w-])?(?<!\.lock)", re.ASCII)


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A file of a dataset on the Hub.

    Attributes:
        path: In the repository.
        bytes: Its size; 0 where it was deleted.
        change: What publishing meant for it.
    """

    path: str
    bytes: int
    change: Change


@dataclass(frozen=True, slots=True, repr=False)
class Published(Shown):
    """What became of publishing, or, after a dry run, what would.

    Attributes:
        repo_id: ORG/name.
        url: Address of its page.
        commit: Id of the commit that holds the files, read back and compared; None after a dry run.
        changed: Whether a commit was made, rather than found.
        pull_request: Address of the pull request that holds the commit, or None.
        tag: The tag that names the commit, or None.
        files: The files, those that went included.
        card_diff: After a dry run, what would change in the card, as a unified diff.
        usage: Lines of code and commands that take what was published.
    """

    repo_id: str
    url: str
    commit: str | None
    changed: bool
    pull_request: str | None
    tag: str | None
    files: tuple[PublishedFile, ...]
    card_diff: str = ""
    usage: tuple[str, ...] = ()

    def headline(self) -> str:
        """Return what became of it, and where it is."""
        if self.commit is None:
            return f"Dry run: nothing was written to {self.url}."
        done = "Published" if self.changed else "Unchanged; the Hub already has it"
        return f"{done}: {self.url} at {self.commit}."

    def table(self) -> "Table":
        """Return a row for each file."""
        rows = ((file.change, f"{file.bytes:,}", file.path) for file in self.files)
        return text_table(("change", "bytes", "file"), rows, right=["bytes"])

    def remarks(self) -> list[str]:
        """Return where the commit is found, and how it is used; what a dry run would change."""
        if self.commit is None:
            same = any(file.path == CARD and file.change == "same" for file in self.files)
            return ["The card stays as it is."] if same else [self.card_diff.rstrip()]
        pulled = [f"Pull request: {self.pull_request}"] if self.pull_request else []
        named = [f"Tag: {self.tag}"] if self.tag else []
        return [*pulled, *named, *(f"  {line}" for line in self.usage)]

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each file: path, bytes, change."""
        return pl.DataFrame([asdict(file) for file in self.files])

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain Python values."""
        return {name: value for name, value in asdict(self).items() if name != "usage"}


def publish(
    folder: str | Path,
    repo_id: str,
    *,
    private: bool = False,
    pr: bool = False,
    tag: str | None = None,
    dry_run: bool = False,
    permission: str | None = None,
    redact: bool = False,
    keep_contacts: str | None = None,
    unverified: str | None = None,
    patience: Patience | None = None,
) -> Published:
    """Publish a converted folder as a dataset on the Hub, in one commit.

    What is there already makes no commit. Files of an earlier publish that are no longer made go in
    the same commit; files that others put there stay. Interrupted at any moment, the repository is
    as before or complete, and the same call ends it.

    Args:
        folder: What `convert` wrote.
        repo_id: ORG/name; it is made where there is none.
        private: Make it private; one that is there and public is refused.
        pr: Open a pull request instead; an open one of ours with the same files is taken.
        tag: Name for the commit. One that names the same files already is left as it is; one that
            names others is refused, before anything is sent.
        dry_run: Only say what would be done; nothing is written, here or there.
        permission: Why the data may be published though its licence does not say so; is in the
            card.
        redact: Replace e-mail and IP addresses by `<email>` and `<ip>`.
        keep_contacts: Why they may stay; is quoted in the card.
        unverified: Why it may be published though files are not known to be the declared ones;
            is quoted in the card.
        patience: How long to try again where the Hub does not answer.

    Raises:
        SchemaError: If the folder has problems.
        LicenceError: If its licence does not allow it.
        PublishError: If its files are unverified, it holds addresses, the card is not right, the
            repository holds something else, or the Hub does not take it.
    """
    if pr and tag is not None:
        raise PublishError("--pr and --tag: a tag names a commit on main; tag it once it is merged")
    repository = Repository("dataset", repo_id, private=private)
    check_name(repository)
    _check_tag(tag)
    if not dry_run:
        check_token(repository)
    conversion = read_release(
        Path(folder),
        private=private,
        permission=permission,
        redact=redact,
        keep_contacts=keep_contacts,
        unverified=unverified,
    )
    source = conversion.manifest["source"]
    obsolete = partial(earlier_files, repository, source)
    with temporary_folder("nnd-publish") as place:
        files = write_release(conversion, place, repo_id)
        adapt = partial(with_card_there, repository, files[CARD])
        if tag is not None:  # before anything is sent: whether it is free
            put_tag(repository, tag, files, None, adapt=adapt, patience=patience)
        if dry_run:
            plan = partial(_plan, repository, files, obsolete, adapt, tag, pr=pr)
            return ask(repository, plan, patience=patience)
        pushed = push(
            repository,
            files,
            message=f"Publish {source['name']} with nnd {conversion.manifest['nnd_version']}",
            obsolete=obsolete,
            adapt=adapt,
            pull_request=pr,
            patience=patience,
        )
        if tag is not None:
            put_tag(repository, tag, files, pushed.commit, adapt=adapt, patience=patience)
        return Published(
            repo_id=repo_id,
            url=repository.url,
            commit=pushed.commit,
            changed=pushed.sent,
            pull_request=pushed.pull_request,
            tag=tag,
            files=_listed(files, pushed.changes),
            usage=(
                f'load_dataset("{repo_id}", "pairs", revision="{pushed.commit}")',
                f"nnd evaluate --data {repo_id}@{pushed.commit} --model MODEL",
            ),
        )


def _check_tag(tag: str | None) -> None:
    """What git takes for no tag, or for main, would be refused when all has been sent."""
    if tag is not None and (not _TAG.fullmatch(tag) or tag == "main"):
        raise PublishError(
            f'--tag "{tag}" is not the name of a tag; write letters, digits, ., _ and -, such as v1'
        )


def _plan(
    repository: Repository,
    files: Mapping[str, Path],
    obsolete: Obsolete,
    adapt: Adapt,
    tag: str | None,
    *,
    pr: bool,
) -> Published:
    """Say what publishing would do, or why it would be refused."""
    state = look(repository)
    check_place(repository, state, pull_request=pr)
    files = {**files, **adapt(state)}
    changes = compare(digests(files), state, obsolete)
    present = card_there(repository, state) or ""
    diff = difflib.unified_diff(
        present.splitlines(keepends=True),
        files[CARD].read_text(encoding="utf-8").splitlines(keepends=True),
        f"{repository.name}/{CARD}",
        CARD,
    )
    return Published(
        repo_id=repository.name,
        url=repository.url,
        commit=None,
        changed=False,
        pull_request=None,
        tag=tag,
        files=_listed(files, changes),
        card_diff="".join(diff),
    )


def _listed(files: Mapping[str, Path], changes: Mapping[str, Change]) -> tuple[PublishedFile, ...]:
    return tuple(
        PublishedFile(path, files[path].stat().st_size if path in files else 0, change)
        for path, change in sorted(changes.items())
    )
