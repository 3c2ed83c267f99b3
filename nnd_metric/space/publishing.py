"""The metric as a Space on the Hub, so that `evaluate.load("ORG/name")` works without nnd."""

import contextlib
import re
import warnings
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from nnd.converters.hub import (
    Change,
    Obsolete,
    Patience,
    Repository,
    State,
    ask,
    check_name,
    check_token,
    compare,
    digests,
    fetch,
    look,
    push,
)
from nnd.converters.publish import Published, PublishedFile
from nnd.metric.space.files import Sdk, siblings_of, write_space
from nnd.schemas import PublishError, nnd_version, temporary_folder

_METRIC = re.compile(rb"^class NND\b", re.MULTILINE)
_HUBS_OWN = {".gitattributes", ".gitignore", "README.md", "index.html", "style.css", "LICENSE"}
"""What a Space may hold before the metric is first published there."""


def publish_metric(
    repo_id: str,
    *,
    sdk: Sdk = "static",
    dry_run: bool = False,
    patience: Patience | None = None,
) -> Published:
    """Publish the metric as a Space, in one commit; what is there already makes none.

    The Space holds the modules that the metric needs, its card, a page to try it on with the
    embedded sample, and what they require. Modules of an earlier publish that are no longer needed
    go in the same commit; files that others put there stay.

    Args:
        repo_id: ORG/name; the Space is made where there is none.
        sdk: "static" shows the card as a page; "gradio" runs the page to try it on, for which the
            Hub may want to be paid.
        dry_run: Only say what would be done; nothing is written, here or there.
        patience: How long to try again where the Hub does not answer.

    Raises:
        PublishError: If the name cannot be that of a metric, the Space holds something else, or the
            Hub does not take it.
    """
    if sdk not in ("static", "gradio"):
        raise PublishError(f'there is no SDK "{sdk}"; choose static or gradio')
    repository = Repository("space", repo_id, sdk=sdk)
    check_name(repository)
    if not dry_run:
        check_token(repository)
    obsolete = partial(_earlier_files, repository)
    with temporary_folder("nnd-space") as place:
        files = write_space(repo_id, place, sdk=sdk)
        if dry_run:
            plan = partial(_plan, repository, files, obsolete)
            return ask(repository, plan, patience=patience)
        message = f"Publish the metric of nnd {nnd_version()}"
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*commit a data file.*")  # the sample
            pushed = push(repository, files, message=message, obsolete=obsolete, patience=patience)
        return _published(repository, files, pushed.changes, pushed.commit, changed=pushed.sent)


def _earlier_files(repository: Repository, state: State) -> Iterator[str]:
    """Yield the modules of an earlier publish; raise where this is no place for the metric."""
    script = f"{repository.name.rpartition('/')[2]}.py"
    if script in state.files:
        text = fetch(repository, state.commit, script)
        if _METRIC.search(text):
            yield "index.html"
            with contextlib.suppress(SyntaxError, UnicodeDecodeError):  # broken: it is replaced
                yield from (f"{module}.py" for module in siblings_of(text.decode()))
            return
    others = sorted(state.files.keys() - _HUBS_OWN)
    if others:
        raise PublishError(
            f"{repository.name}: is a Space that holds something else ({others[0]}); name another, "
            "or empty this one"
        )


def _plan(repository: Repository, files: Mapping[str, Path], obsolete: Obsolete) -> Published:
    ours = digests(files)
    changes = compare(ours, look(repository), obsolete)
    return _published(repository, files, changes, None, changed=False)


def _published(
    repository: Repository,
    files: Mapping[str, Path],
    changes: Mapping[str, Change],
    commit: str | None,
    *,
    changed: bool,
) -> Published:
    return Published(
        repo_id=repository.name,
        url=repository.url,
        commit=commit,
        changed=changed,
        pull_request=None,
        tag=None,
        files=tuple(
            PublishedFile(path, files[path].stat().st_size if path in files else 0, change)
            for path, change in sorted(changes.items())
        ),
        usage=(f'evaluate.load("{repository.name}")',) if commit is not None else (),
    )
