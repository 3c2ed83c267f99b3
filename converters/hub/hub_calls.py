"""Calls of the Hub with retries, clear errors, and progress bars on a terminal only."""

import contextlib
import logging
import sys
from collections.abc import Callable, Iterator
from typing import TypeVar

from huggingface_hub.errors import HTTPError  # type: ignore[attr-defined]
from huggingface_hub.utils import (  # type: ignore[attr-defined]
    are_progress_bars_disabled,
    disable_progress_bars,
    enable_progress_bars,
    get_session,
)
from huggingface_hub.utils.logging import get_verbosity, set_verbosity

from nnd.converters.hub.hub_errors import explain, is_unreachable, wanted_pause
from nnd.converters.hub.repository_state import Repository
from nnd.converters.hub.retries import Patience
from nnd.schemas import NNDError

Result = TypeVar("Result")

_SILENCE_S = 120.0
"""The Hub ends a request after 60 s of silence; its client alone would wait forever."""


def ask(
    repository: Repository,
    attempt: Callable[[], Result],
    *,
    patience: Patience | None = None,
    reached: Callable[[], bool] = lambda: False,
) -> Result:
    """Call `attempt`, which uses the Hub, and call it again after temporary errors.

    Args:
        repository: The repository that errors name.
        attempt: The work; each call starts from the beginning.
        patience: How long to keep trying.
        reached: Whether the Hub has answered before. If it has not, a failed connection means that
            there is no network, so it is not tried again.

    Raises:
        PublishError: If the Hub refuses, or patience ends. The message is one line without
            secrets.
    """

    def pause(error: Exception) -> float | None:
        return None if is_unreachable(error) and not reached() else wanted_pause(error)

    def attempt_in_time() -> Result:
        get_session().timeout = _SILENCE_S  # each time, because errors may start a new session
        return attempt()

    with _client_for_us():
        try:
            return (patience or Patience()).keep_trying(attempt_in_time, wanted_pause=pause)
        except NNDError:
            raise
        except (HTTPError, OSError, ValueError, RuntimeError) as error:
            if getattr(error, "filename", None) is not None:
                raise  # an error of a local file names it
            raise explain(error, repository.name) from None


@contextlib.contextmanager
def _client_for_us() -> Iterator[None]:
    """Silence the Hub's client, hide its progress bars in pipes, and restore its time limit."""
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
