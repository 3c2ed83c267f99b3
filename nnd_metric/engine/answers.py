"""What a scorer answers, whether it is an engine or a baseline of your own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from nnd.metric.encoding import Request


@dataclass(frozen=True, slots=True)
class Work:
    """What an engine did for its answer.

    Attributes:
        path: The path its requests took.
        switched_off: Why faster paths were not taken.
        deviation: Largest difference seen between the path, now or when the store was filled, and
            requests scored by themselves, nats per scored token, or what the precision leaves open
            where that is more; None where nothing was scored.
        tokens: Positions that entered the model, padding included; the proof's are not counted.
        requests: Distinct requests scored.
        stored: Distinct requests whose numbers an earlier run had left in the store.
        token_budget: Positions held at once in the end; 0 where nothing had to be scored.
    """

    path: str
    switched_off: tuple[str, ...]
    deviation: float | None
    tokens: int
    requests: int
    stored: int
    token_budget: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values: what bears on the numbers, not what it took."""
        return {
            "path": self.path,
            "switched_off": list(self.switched_off),
            "deviation": self.deviation,
        }


NO_WORK = Work("none", (), None, 0, 0, 0, 0)
"""Of a scorer that is no engine."""


@dataclass(frozen=True, slots=True)
class Likelihoods:
    """What an engine says of n requests.

    Attributes:
        log_likelihood: float64 [n], in nats as the protocol normalises them; NaN where the protocol
            leaves no token to score.
        tokens: int64 [n], tokens scored.
        truncated: bool [n], whether the context was cut to fit the window.
        work: What an engine did for it.
    """

    log_likelihood: npt.NDArray[np.float64]
    tokens: npt.NDArray[np.int64]
    truncated: npt.NDArray[np.bool_]
    work: Work = NO_WORK


Scorer: TypeAlias = Callable[[Sequence[Request]], Likelihoods]
"""Whatever gives every (context, candidate) a number: an engine, or a baseline of your own."""
