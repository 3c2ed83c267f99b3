"""A converted folder as a dataset on the Hub, which `load_dataset` reads and its card explains.

Publishing is refused, with a reason, for a folder with problems, a licence that does not allow it,
addresses of people, or a card with problems.
"""

import difflib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import polars as pl

from nnd.converters.hub.earlier_files import card_there, earlier_files, with_card_there
from nnd.converters.hub.hub_calls import ask
from nnd.converters.hub.hub_errors import UnreachableError
from nnd.converters.hub.release_folder import CARD, check_release, read_release, write_release
from nnd.converters.hub.repository_state import (
    Adapt,
    Change,
    Obsolete,
    Repository,
    check_access,
    compare,
    digests,
    look,
)
from nnd.converters.hub.upload import Upload, check_place, push, put_tag
from nnd.schemas import UNSTORED, Printable, PublishError, Record, temporary_folder, text_table

if TYPE_CHECKING:
    from rich.table import Table

PlannedChange = Change | Literal["unknown"]

_TAG = re.compile(r"(?!.*\.\.)\w([\w.-]*[\w-])?(?<!\.lock)", re.ASCII)


@dataclass(frozen=True, slots=True)
class PublishedFile(Record):
    """A file of a dataset on the Hub.

    Attributes:
        path: Path in the repository.
        bytes: Its size; 0 if it was deleted.
        change: What publishing did to it; "unknown" after a dry run without the Hub.
    """

    path: str
    bytes: int
    change: PlannedChange


@dataclass(frozen=True, slots=True, repr=False)
class Publication(Printable):
    """The result of publishing or of a dry run.

    Attributes:
        repo_id: ORG/name.
        url: Address of its page.
        commit: Id of the commit that holds the files, read back and compared; None after a dry run.
        changed: Whether a new commit was made.
        pull_request: Address of the pull request that holds the commit, or None.
        tag: The tag that names the commit, or None.
        files: The files, including deleted ones.
        card_diff: After a dry run, the changes of the card as a unified diff.
        usage: Lines of code and commands that use the dataset.
        unasked: Why a dry run could not ask the Hub, or None.
        doubts: What `nnd check` finds in the pairs.
    """

    repo_id: str
    url: str
    commit: str | None
    changed: bool
    pull_request: str | None
    tag: str | None
    files: tuple[PublishedFile, ...]
    card_diff: str = ""
    usage: Annotated[tuple[str, ...], UNSTORED] = ()
    unasked: str | None = None
    doubts: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        repository: Repository,
        files: Mapping[str, Path],
        changes: Mapping[str, PlannedChange],
        pushed: Upload | None = None,
        **more: Any,  # noqa: ANN401 - the other fields
    ) -> "Publication":
        """Return the result for files with their changes; without `pushed`, of a dry run."""
        listed = [
            PublishedFile(path, files[path].stat().st_size if path in files else 0, change)
            for path, change in sorted(changes.items())
        ]
        return cls(
            repository.name,
            repository.url,
            commit=None if pushed is None else pushed.commit,
            changed=pushed is not None and pushed.sent,
            pull_request=None if pushed is None else pushed.pull_request,
            files=tuple(listed),
            **{"tag": None, **more},
        )

    def headline(self) -> str:
        """Return whether anything was published, and where."""
        if self.commit is None:
            without = " without the Hub" if self.unasked is not None else ""
            return f"Dry run{without}: nothing was written to {self.url}."
        done = "Published" if self.changed else "Unchanged; the Hub already has it"
        return f"{done}: {self.url} at {self.commit}."

    def table(self) -> "Table":
        """Return a row for each file."""
        rows = ((file.change, f"{file.bytes:,}", file.path) for file in self.files)
        return text_table(("change", "bytes", "file"), rows, right=["bytes"])

    def remarks(self) -> list[str]:
        """Return what is to be looked at, and how to use the commit or what would change."""
        return [*self.doubts, *self._outcome()]

    def _outcome(self) -> list[str]:
        if self.unasked is not None:
            tagged = "" if self.tag is None else f", whether the tag {self.tag} is free"
            unknown = (
                f"{self.unasked}. So it is not known whether the repository exists and takes these "
                f"files, which of them it already has, which others would be deleted{tagged}, and "
                "which text of other people its card keeps. The card below is that of a new one."
            )
            return [unknown, self.card_diff.rstrip()]
        if self.commit is None:
            same = any(file.path == CARD and file.change == "same" for file in self.files)
            return ["The card stays as it is."] if same else [self.card_diff.rstrip()]
        named = {"Pull request": self.pull_request, "Tag": self.tag}
        found = [f"{what}: {name}" for what, name in named.items() if name]
        return [*found, *(f"  {line}" for line in self.usage)]

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each file: path, bytes, change."""
        return pl.DataFrame([asdict(file) for file in self.files])


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
    preferences: bool = True,
    eval_yaml: bool = False,
) -> Publication:
    """Publish a converted folder as a dataset on the Hub.

    It makes one commit, which is read back and compared; if it is interrupted, the repository is
    unchanged or complete. It needs a token with write access: `hf auth login`, or HF_TOKEN. Only
    the text between nnd's marks in the card is replaced; files of others stay. What `nnd check`
    finds in the pairs is printed, and stands on the card. A dry run shows the changes, and works
    offline.

    Args:
        folder: A folder that `nnd convert` wrote.
        repo_id: ORG/name of the dataset on the Hub.
        private: Whether to create a private dataset; an existing public one is refused.
        pr: Whether to open a pull request instead of committing to main.
        tag: Tag for the commit, such as v1.
        dry_run: Whether to print what would change, and write nothing.
        permission: Why it may be published although the licence does not allow it expressly; the
            card quotes it.
        redact: Whether to replace e-mail and IP addresses by <email> and <ip>.
        keep_contacts: Why such addresses may stay; the card quotes it.
        unverified: Why it may be published although files are unverified; the card quotes it.
        preferences: Whether to add the configuration `preferences`, for training: each test as
            messages (prompt, chosen, rejected).
        eval_yaml: Whether to add eval.yaml, by which the Hub knows a benchmark.

    Raises:
        SchemaError: If the folder has problems.
        LicenceError: If its licence does not allow it.
        PublishError: If its files are unverified, it holds addresses, the card has problems, the
            repository holds something else, or the Hub refuses it.

    Examples:
        nnd publish quiz_design-nnd my-org/quiz_design --dry-run
    """
    if pr and tag is not None:
        raise PublishError(
            "option.conflict",
            "a tag names a commit on main",
            "--pr and --tag",
            "tag it once it is merged",
        )
    repository = Repository("dataset", repo_id, private=private)
    check_access(repository, dry_run=dry_run)
    # The Hub would refuse an invalid tag only after everything was sent.
    if tag is not None and (not _TAG.fullmatch(tag) or tag == "main"):
        raise PublishError(
            "hub.tag",
            f'"{tag}" cannot be the name of a tag',
            "--tag",
            "write letters, digits, ., _ and -, such as v1",
        )
    conversion = read_release(
        Path(folder),
        private=private,
        permission=permission,
        redact=redact,
        keep_contacts=keep_contacts,
        unverified=unverified,
    )
    checked, doubts = check_release(conversion)
    with temporary_folder("nnd-publish") as place:
        files = write_release(
            checked, place, repo_id, with_preferences=preferences, eval_yaml=eval_yaml
        )
        sent = _publish(repository, checked.manifest, files, pr=pr, tag=tag, dry_run=dry_run)
    return replace(sent, doubts=doubts)


def _publish(
    repository: Repository,
    manifest: Mapping[str, Any],
    files: dict[str, Path],
    *,
    pr: bool,
    tag: str | None,
    dry_run: bool,
) -> Publication:
    """Send what may be published, or plan to; errors are those of `publish`."""
    source = manifest["source"]
    obsolete = partial(earlier_files, repository, source, files)
    adapt = partial(with_card_there, repository, files[CARD])
    try:
        if tag is not None:  # checks that the tag is free before anything is sent
            put_tag(repository, tag, files, None, adapt=adapt)
        if dry_run:
            plan = partial(_plan, repository, files, obsolete, adapt, tag, pr=pr)
            return ask(repository, plan)
    except UnreachableError as error:
        if not dry_run:
            raise
        unknown: dict[str, PlannedChange] = dict.fromkeys(files, "unknown")
        return _planned(repository, files, unknown, None, tag=tag, unasked=str(error))
    pushed = push(
        repository,
        files,
        message=f"Publish {source['name']} with nnd {manifest['nnd_version']}",
        obsolete=obsolete,
        adapt=adapt,
        pull_request=pr,
    )
    if tag is not None:
        put_tag(repository, tag, files, pushed.commit, adapt=adapt)
    usage = (
        f'load_dataset("{repository.name}", "pairs", revision="{pushed.commit}")',
        f"nnd evaluate --data {repository.name}@{pushed.commit} --model MODEL",
    )
    return Publication.of(repository, files, pushed.changes, pushed, tag=tag, usage=usage)


def _plan(
    repository: Repository,
    files: Mapping[str, Path],
    obsolete: Obsolete,
    adapt: Adapt,
    tag: str | None,
    *,
    pr: bool,
) -> Publication:
    """Return what publishing would do, or raise the error for which it would be refused."""
    state = look(repository)
    check_place(repository, state, pull_request=pr)
    files = {**files, **adapt(state)}
    changes = compare(digests(files), state, obsolete)
    return _planned(repository, files, changes, card_there(repository, state), tag=tag)


def _planned(
    repository: Repository,
    files: Mapping[str, Path],
    changes: Mapping[str, PlannedChange],
    present: str | None,
    **more: Any,  # noqa: ANN401 - the other fields of a publication
) -> Publication:
    """Return a dry run; `present` is the card in the repository, if there is one."""
    diff = difflib.unified_diff(
        (present or "").splitlines(keepends=True),
        files[CARD].read_text(encoding="utf-8").splitlines(keepends=True),
        f"{repository.name}/{CARD}",
        CARD,
    )
    return Publication.of(repository, files, changes, card_diff="".join(diff), **more)
