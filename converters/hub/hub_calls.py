"""Calls of the Hub with retries, clear errors, and progress bars on a terminal only."""

import contextlib
import logging
import random
import sys
import time
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
from nnd.schemas import NNDError

Result = TypeVar("Result")

TRIES = 8
FIRST_S = 1.0
"""Seconds before the second attempt, ± 50 % so that clients do not retry together; the pause
doubles each time."""

LONGEST_S = 30.0
"""Longest pause in seconds, unless the Hub asks for a longer one."""

TOTAL_S = 600.0
"""Seconds after which no further attempt begins."""

_SILENCE_S = 120.0
"""The Hub ends a request after 60 s of silence; its client alone would wait forever."""


def ask(
    repository: Repository,
    attempt: Callable[[], Result],
    *,
    reached: Callable[[], bool] = lambda: False,
) -> Result:
    """Call `attempt`, which uses the Hub, and call it again after temporary errors.

    Each call starts from the beginning. `reached` says whether the Hub has answered before; if it
    has not, a failed connection means that there is no network, so it is not tried again.

    Raises PublishError, one line without secrets, if the Hub refuses, or still fails after `TRIES`
    attempts or `TOTAL_S`.
    """
    start = time.monotonic()
    with _client_for_us():
        number = 0
        while True:
            number += 1
            get_session().timeout = _SILENCE_S  # each time, because errors may start a new session
            try:
                return attempt()
            except NNDError:
                raise
            except (HTTPError, OSError, ValueError, RuntimeError) as error:
                if getattr(error, "filename", None) is not None:
                    raise  # an error of a local file names it
                wanted = wanted_pause(error)
                own = min(LONGEST_S, FIRST_S * 2 ** (number - 1)) * (0.5 + random.random())  # noqa: S311
                pause = max(wanted or 0, own)
                is_late = number == TRIES or time.monotonic() - start + pause > TOTAL_S
                is_alone = is_unreachable(error) and not reached()
                if wanted is None or is_late or is_alone:
                    raise explain(error, repository.name) from None
            time.sleep(pause)


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
