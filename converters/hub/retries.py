"""Retries with growing pauses, until they succeed or waiting is useless."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Patience:
    """How often and how long to try again.

    Attributes:
        tries: Largest number of attempts.
        first_s: Seconds before the second attempt, ± 50 %; the pause doubles each time.
        longest_s: Longest pause in seconds, unless the server asks for a longer one.
        total_s: Seconds after which no further attempt begins.
        sleep: Waits for a number of seconds.
        clock: Returns a time in seconds.
        chance: Returns a number from 0 to 1, so that several clients do not retry together.
    """

    tries: int = 8
    first_s: float = 1.0
    longest_s: float = 30.0
    total_s: float = 600.0
    sleep: Callable[[float], object] = time.sleep
    clock: Callable[[], float] = time.monotonic
    chance: Callable[[], float] = random.random

    def keep_trying(
        self, attempt: Callable[[], Result], *, wanted_pause: Callable[[Exception], float | None]
    ) -> Result:
        """Call `attempt` until it succeeds, and return its result.

        Args:
            attempt: The work; each call starts from the beginning.
            wanted_pause: Returns the seconds to wait after an error, 0 if unknown, or None if
                another attempt is useless.

        Raises:
            Exception: The error of the last attempt.
        """
        start = self.clock()
        for number in range(1, self.tries + 1):
            try:
                return attempt()
            except Exception as error:
                wanted = wanted_pause(error)
                if wanted is None or number == self.tries:
                    raise
                own = min(self.longest_s, self.first_s * 2 ** (number - 1))
                pause = max(wanted, own * (0.5 + self.chance()))
                if self.clock() - start + pause > self.total_s:
                    raise
                self.sleep(pause)
        raise ValueError(f"{self.tries} tries; give at least 1")
