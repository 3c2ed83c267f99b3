"""What a scorer returns, whether it is an engine or a baseline of your own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, TypeAlias

import numpy as np
import numpy.typing as npt

from nnd.metric.likelihood.engine.token_reading import TokenReading
from nnd.metric.text import Request
from nnd.schemas import UNSTORED, Amount, Count, Limit, Record

OTHER_NUMBERS = "nats from those of requests scored alone"
"""What a reason says that a path is switched off for, after the largest difference."""


_PATH = "(packed|blocks|cached|shared|plain|alone|none)"


@dataclass(frozen=True, slots=True)
class Work(Record):
    """How an engine computed its likelihoods.

    Attributes:
        path: The path through the model that scored the requests: packed, blocks (packed, without
            kernels of the device), cached, shared, plain or alone; none if nothing was scored;
            several in a run that was joined from parts.
        switched_off: Why faster paths were not used.
        deviation: Largest difference between the path, now or when the store was filled, and
            requests scored alone, in nats per scored token, or the rounding error if that is
            larger: that of the precision, and of the worst token of some requests in float64; None
            if nothing was scored.
        deviation_requests: How many requests were scored in float64 for the deviation; 0 in older
            results, and for models that do not compute in float32 or have no float64.
        tokens: Positions that entered the model, padding included; those of the proof are not
            counted.
        requests: Distinct requests scored.
        stored: Distinct requests whose numbers were in the store.
        token_budget: Final number of positions held at once; 0 if nothing had to be scored.
        fingerprint: What the numbers are stored under; empty without a store.
        seconds: How long the model worked, without the proof.
        proof_seconds: How long the proof took.
        baseline: Share of the tokens in requests without a context.
    """

    path: Annotated[str, Limit("pattern", f"^{_PATH}(, {_PATH})*$")]
    switched_off: tuple[str, ...]
    deviation: Amount | None
    deviation_requests: Count = 0
    tokens: Annotated[int, UNSTORED] = 0
    requests: Annotated[int, UNSTORED] = 0
    stored: Annotated[int, UNSTORED] = 0
    token_budget: Annotated[int, UNSTORED] = 0
    fingerprint: Annotated[str, UNSTORED] = ""
    seconds: Annotated[float, UNSTORED] = field(default=0.0, compare=False)
    proof_seconds: Annotated[float, UNSTORED] = field(default=0.0, compare=False)
    baseline: Annotated[float, UNSTORED] = 0.0

    @property
    def moved_by_padding(self) -> bool:
        """Whether padding changes the numbers of requests that share nothing."""
        return any(
            reason.startswith("plain: ") and OTHER_NUMBERS in reason for reason in self.switched_off
        )


NO_WORK = Work("none", (), None)
"""Work record for scorers that are not engines."""


@dataclass(frozen=True, slots=True)
class Likelihoods:
    """The likelihoods of n requests.

    Attributes:
        log_likelihood: float64 [n], in nats as the protocol normalises them; NaN if the protocol
            leaves no token to score.
        tokens: int64 [n], tokens scored.
        truncated: bool [n], whether the context was cut to fit the window.
        end_tokens: How many of a candidate's scored tokens are not its own, such as the end token.
        divisors: int64 [n], what the sum of log-probabilities was divided by; None if unknown.
        reading: How the tokenizer reads the requests; None without one.
    """

    log_likelihood: npt.NDArray[np.float64]
    tokens: npt.NDArray[np.int64]
    truncated: npt.NDArray[np.bool_]
    work: Work = NO_WORK
    end_tokens: int = 0
    divisors: npt.NDArray[np.int64] | None = None
    reading: TokenReading | None = None


Scorer: TypeAlias = Callable[[Sequence[Request]], Likelihoods]
"""A function that scores every (context, candidate): an engine, or a baseline of your own."""
