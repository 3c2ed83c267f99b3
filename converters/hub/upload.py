"""Files into a repository on the Hub: one commit or none, and looked at before anything is claimed.

    push(Repository("dataset", "org/name"), {"README.md": path, …}, message="…")

An attempt reads the state of the repository, sends what differs in one commit on top of exactly
that state, and reads back what the Hub then holds. Whatever passes (a rival's commit, a busy Hub, a
lost connection) leads to another attempt from the start. So an answer that got lost makes no second
commit: the next attempt finds the files there. And whoever is killed can simply start again.
"""

import contextlib
import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
from huggingface_hub.errors import HTTPError  # type: ignore[attr-defined]
from huggingface_hub.utils import (  # type: ignore[attr-defined]
    are_progress_bars_disabled,
    disable_progress_bars,
    enable_progress_bars,
    get_session,
)
from huggingface_hub.utils.logging import get_verbosity, set_verbosity

from nnd.converters.hub.check import find_pull_request, read_back
from nnd.converters.hub.errors import explain, is_unreachable, wanted_pause
from nnd.converters.hub.patience import Patience
from nnd.converters.hub.state import (
    Adapt,
    Change,
    Obsolete,
    Repository,
    State,
    check_name,
    check_token,
    compare,
    digests,
    held_files,
    is_same,
    look,
)
from nnd.schemas import NNDError, PublishError, Shown, text_table

if TYPE_CHECKING:
    from rich.table import Table

Result = TypeVar("Result")

_SILENCE_S = 120.0
"""The Hub ends a request after 60 s of silence; its client alone would wait forever."""


@dataclass(frozen=True, slots=True, repr=False)
class Pushed(Shown):
    """What became of a push.

    Attributes:
        commit: Id of the commit that holds the files.
        sent: Whether a commit was sent for it, rather than found.
        pull_request: Address of the pull request that the commit belongs to, or None.
        changes: Path → what it meant for what was there before.
    """

    commit: str
    sent: bool
    pull_request: str | None
    changes: Mapping[str, Change]

    def headline(self) -> str:
        """Return whether anything was sent, and where it is."""
        done = "Sent" if self.sent else "Unchanged; the Hub already has it"
        return f"{done}: {self.pull_request or f'commit {self.commit}'}."

    def table(self) -> "Table":
        """Return a row for each file."""
        rows = ((change, path) for path, change in sorted(self.changes.items()))
        return text_table(("change", "file"), rows)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain Python values."""
        return asdict(self)


def push(
    repository: Repository,
    files: Mapping[str, Path],
    *,
    message: str,
    obsolete: Obsolete = lambda _: (),
    adapt: Adapt = lambda _: {},
    pull_request: bool = False,
    patience: Patience | None = None,
) -> Pushed:
    """Bring files into a repository: in one commit, or in none where they are there already.

    Args:
        repository: It is made where there is none, unless a pull request is asked for.
        files: Path in the repository → file here. Others that are there stay.
        message: Title of the commit, and of the pull request.
        obsolete: Which of the others go.
        adapt: What to send for some of the files, given what is there.
        pull_request: Open a pull request against main. One that is open, has the same title and
            holds the same files is taken instead.
        patience: How long to try again.

    Raises:
        PublishError: If the Hub does not take the files, or holds others afterwards. The
            repository is as it was then, or holds all of them; running again ends it.
    """
    check_name(repository)
    check_token(repository)
    unadapted = digests(files)
    seen: list[Mapping[str, Change]] = []
    sent = False

    def attempt() -> Pushed:
        nonlocal sent
        found_state = look(repository)
        check_place(repository, found_state, pull_request=pull_request)
        state = found_state or _create(repository)
        adapted = adapt(state)
        ours = {**unadapted, **digests(adapted)}
        changes = compare(ours, state, obsolete)
        seen.append(changes)
        commit, page = state.commit, None
        if {*changes.values()} - {"same"}:
            found = find_pull_request(repository, message, ours, changes) if pull_request else None
            sent = sent or found is None
            commit, page = found or _commit(
                repository,
                {**files, **adapted},
                changes,
                message,
                state,
                pull_request=pull_request,
            )
        read_back(repository, commit, ours, changes)
        return Pushed(commit, sent, page, seen[0])

    return ask(repository, attempt, patience=patience, reached=lambda: bool(seen))


def put_tag(
    repository: Repository,
    tag: str,
    files: Mapping[str, Path],
    commit: str | None,
    *,
    adapt: Adapt = lambda _: {},
    patience: Patience | None = None,
) -> None:
    """Let a tag name a commit; one that names another commit with the same files may stay.

    Args:
        repository: Where.
        tag: The tag's name.
        files: What the commit holds, by path.
        commit: Full id; None: only check that the tag is free, or names such a commit.
        adapt: What to take for some of the files, given what is on main.
        patience: How long to try again.

    Raises:
        PublishError: If it names a commit that holds something else, or the Hub does not take it.
    """
    unadapted = digests(files)

    def attempt() -> None:
        state = look(repository)
        if state is None:
            return  # nothing is there, so no tag is
        api = HfApi()
        refs = api.list_repo_refs(repository.name, repo_type=repository.kind)
        named = next((ref.target_commit for ref in refs.tags if ref.name == tag), None)
        if named is None and commit is not None:
            api.create_tag(repository.name, tag=tag, revision=commit, repo_type=repository.kind)
        elif named not in (None, commit):
            held = held_files(repository, str(named))
            ours = {**unadapted, **digests(adapt(state))}
            if not all(is_same(own, held.get(path)) for path, own in ours.items()):
                raise PublishError(
                    f"{repository.name}: the tag {tag} already names commit {named}, which "
                    "holds something else; choose another tag, or delete that one"
                )

    ask(repository, attempt, patience=patience, reached=lambda: commit is not None)


def ask(
    repository: Repository,
    attempt: Callable[[], Result],
    *,
    patience: Patience | None = None,
    reached: Callable[[], bool] = lambda: False,
) -> Result:
    """Return what an attempt returns that talks to the Hub, tried again where that may help.

    Args:
        repository: Whose name an error begins with.
        attempt: What to do, each time from the start.
        patience: How long to try again.
        reached: Whether the Hub has been reached before. Until then no connection means that there
            is no network, and waiting is no use.

    Raises:
        PublishError: In one line, without secrets.
    """

    def pause(error: Exception) -> float | None:
        return None if is_unreachable(error) and not reached() else wanted_pause(error)

    def attempt_in_time() -> Result:
        get_session().timeout = _SILENCE_S  # each time: after some errors it is a new session
        return attempt()

    with _client_for_us():
        try:
            return (patience or Patience()).keep_trying(attempt_in_time, wanted_pause=pause)
        except NNDError:
            raise
        except (HTTPError, OSError, ValueError, RuntimeError) as error:
            if getattr(error, "filename", None) is not None:
                raise  # of a file here
            raise explain(error, repository.name) from None


@contextlib.contextmanager
def _client_for_us() -> Iterator[None]:
    """A client that leaves the talking to us, and draws progress bars on a terminal only."""
    timeout, verbosity = get_session().timeout, get_verbosity()
    hidden = not sys.stderr.isatty() and not are_progress_bars_disabled()
    set_verbosity(logging.ERROR)
    if hidden:
        disable_progress_bars()
    try:
        yield
    finally:
        get_session().timeout = timeout
        set_verbosity(verbosity)
        if hidden:
            enable_progress_bars()


def _create(repository: Repository) -> State:
    HfApi().create_repo(
        repository.name,
        repo_type=repository.kind,
        private=repository.private or None,  # None: public, unless the organisation wants otherwise
        space_sdk=repository.sdk,
        exist_ok=True,
    )
    state = look(repository)
    if state is None:
        raise PublishError(
            f"{repository.name}: was created, but is not visible yet; run the same command again"
        )
    check_place(repository, state)
    return state


def check_place(repository: Repository, state: State | None, *, pull_request: bool = False) -> None:
    """Check that a push may go to a repository as it is.

    Args:
        repository: What is asked for.
        state: What is there, or None where there is none.
        pull_request: Whether a pull request is to be opened.

    Raises:
        PublishError: If there is nothing to open one against, or all can see what is to be private.
    """
    if state is None and pull_request:
        raise PublishError(
            f"{repository.name}: is not there, or the token may not see it; a pull request needs "
            "something to change: publish without --pr first"
        )
    if repository.private and state is not None and not state.private:
        raise PublishError(
            f"{repository.name}: is public already, and --private makes only new ones private; "
            f"change that at {repository.url}/settings first, or name another"
        )


def _commit(
    repository: Repository,
    files: Mapping[str, Path],
    changes: Mapping[str, Change],
    message: str,
    state: State,
    *,
    pull_request: bool,
) -> tuple[str, str | None]:
    """Send what differs, on top of exactly the state it was compared with."""
    operations = [
        CommitOperationDelete(path)
        if change == "deleted"
        else CommitOperationAdd(path, files[path])
        for path, change in changes.items()
        if change != "same"
    ]
    done = HfApi().create_commit(
        repository.name,
        operations,
        commit_message=message,
        repo_type=repository.kind,
        parent_commit=state.commit,
        create_pr=pull_request,
    )
    return done.oid, done.pr_url
