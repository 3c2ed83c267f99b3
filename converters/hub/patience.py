"""Trying again, with pauses that grow, until it works or waiting is no use."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Patience:
    """How often, and for how long, to try again.

    Attributes:
        tries: Attempts in all.
        first_s: Seconds before the second attempt, give or take a half; twice as long each time.
        longest_s: Longest pause of our own choice, in seconds.
        total_s: Seconds after which no further attempt begins.
        sleep: Waits for some seconds.
        clock: Tells a time in seconds.
        chance: Gives a number from 0 to 1, so that several clients do not come back together.
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
        """Return what `attempt` returns in the end.

        Args:
            attempt: What to do; each time from the start.
            wanted_pause: Of an error, the seconds that have to pass before another attempt makes
                sense, 0 where unknown, or None where another attempt makes none.

        Raises:
            Exception: That of the last attempt.
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
