"""Publish the metric as a Space, so that `evaluate.load("ORG/name")` works without nnd."""

import contextlib
import re
from collections.abc import Iterator
from functools import partial

from nnd.converters.hub import (
    Publication,
    Repository,
    State,
    ask,
    check_access,
    compare,
    digests,
    fetch,
    look,
    push,
)
from nnd.metric.space.files import siblings_of, write_space
from nnd.schemas import PublishError, nnd_version, temporary_folder

_METRIC = re.compile(rb"^class NND\b", re.MULTILINE)
_HUBS_OWN = {".gitattributes", ".gitignore", "README.md", "index.html", "style.css", "LICENSE"}
"""Files that a Space may have before the metric is first published there."""


def publish_metric(repo_id: str, *, dry_run: bool = False) -> Publication:
    """Publish the metric as a Space on the Hub.

    Then evaluate.load("ORG/name") works where nnd is not installed. It needs a token with write
    access: `hf auth login`, or HF_TOKEN. It makes one commit, which also deletes the modules of
    earlier versions; other files of the Space stay.

    Args:
        repo_id: ORG/name of the Space, e.g. my-org/nnd.
        dry_run: Whether to print what would change, and write nothing.

    Raises:
        PublishError: If a metric cannot have the name, the Space has other contents, or the Hub
            refuses the upload.

    Examples:
        nnd publish-metric my-org/nnd
    """
    repository = Repository("space", repo_id)
    check_access(repository, dry_run=dry_run)
    obsolete = partial(_earlier_files, repository)
    with temporary_folder("nnd-space") as place:
        files = write_space(repo_id, place)
        if dry_run:
            ours = digests(files)
            changes = ask(repository, lambda: compare(ours, look(repository), obsolete))
            return Publication.of(repository, files, changes)
        pushed = push(
            repository,
            files,
            message=f"Publish the metric of nnd {nnd_version()}",
            obsolete=obsolete,
        )
        return Publication.of(
            repository,
            files,
            pushed.changes,
            pushed,
            usage=(f'evaluate.load("{repo_id}")',),
        )


def _earlier_files(repository: Repository, state: State) -> Iterator[str]:
    """Yield the modules of an earlier release."""
    script = f"{repository.name.rpartition('/')[2]}.py"
    text = fetch(repository, state.commit, script) if script in state.files else b""
    if _METRIC.search(text):
        yield "index.html"
        with contextlib.suppress(SyntaxError, UnicodeDecodeError):  # a broken script is replaced
            yield from (f"{module}.py" for module in siblings_of(text.decode()))
    elif others := sorted(state.files.keys() - _HUBS_OWN):
        raise PublishError(
            "hub.foreign-files", f"the Space has other contents ({others[0]})", repository.name
        )
