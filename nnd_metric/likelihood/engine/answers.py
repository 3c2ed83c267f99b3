"""What a scorer returns, whether it is an engine or a baseline of your own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from nnd.metric.text import Request

OTHER_NUMBERS = "nats from those of requests scored alone"
"""What a reason says that a path is switched off for, after the largest difference."""


@dataclass(frozen=True, slots=True)
class Work:
    """How an engine computed its likelihoods.

    Attributes:
        path: The path that scored the requests.
        switched_off: Why faster paths were not used.
        deviation: Largest difference between the path, now or when the store was filled, and
            requests scored alone, in nats per scored token, or the rounding error of the precision
            if that is larger; None if nothing was scored.
        tokens: Positions that entered the model, padding included; those of the proof are not
            counted.
        requests: Distinct requests scored.
        stored: Distinct requests whose numbers were in the store.
        token_budget: Final number of positions held at once; 0 if nothing had to be scored.
    """

    path: str
    switched_off: tuple[str, ...]
    deviation: float | None
    tokens: int
    requests: int
    stored: int
    token_budget: int

    @property
    def moved_by_padding(self) -> bool:
        """Whether padding changes the numbers of requests that share nothing."""
        return any(
            reason.startswith("plain: ") and OTHER_NUMBERS in reason for reason in self.switched_off
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values that bear on the numbers, without the cost."""
        return {
            "path": self.path,
            "switched_off": list(self.switched_off),
            "deviation": self.deviation,
        }


NO_WORK = Work("none", (), None, 0, 0, 0, 0)
"""Work record for scorers that are not engines."""


@dataclass(frozen=True, slots=True)
class Likelihoods:
    """The likelihoods of n requests.

    Attributes:
        log_likelihood: float64 [n], in nats as the protocol normalises them; NaN if the protocol
            leaves no token to score.
        tokens: int64 [n], tokens scored.
        truncated: bool [n], whether the context was cut to fit the window.
        work: How they were computed.
    """

    log_likelihood: npt.NDArray[np.float64]
    tokens: npt.NDArray[np.int64]
    truncated: npt.NDArray[np.bool_]
    work: Work = NO_WORK


Scorer: TypeAlias = Callable[[Sequence[Request]], Likelihoods]
"""A function that scores every (context, candidate): an engine, or a baseline of your own."""
