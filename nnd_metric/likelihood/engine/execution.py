"""Execution: batch after batch through one path, with smaller batches if memory runs out."""

import warnings
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import NamedTuple, NoReturn, TypeAlias

import torch
from tqdm import tqdm

from nnd.metric.likelihood.engine.batch_plan import Batch, Planner
from nnd.metric.likelihood.engine.head import most_rows
from nnd.metric.likelihood.engine.lengths import read_lengths, side_of
from nnd.metric.likelihood.engine.memory import choose_budget, is_out_of_memory, release, room_for
from nnd.metric.likelihood.engine.model_state import as_found
from nnd.metric.likelihood.engine.packed_path import Score
from nnd.metric.likelihood.engine.paths import Path
from nnd.metric.likelihood.engine.proof import Alone, Checks, Proof
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.text import Encoded
from nnd.schemas import ScoringWarning

Done: TypeAlias = Callable[[Proof, Mapping[int, float]], None]
"""Called after every batch with the proof so far and the sums by number of request."""

Read: TypeAlias = Callable[[], list[float]]
"""Waits for the sums of a batch."""


class Ran(NamedTuple):
    """What an execution proved and cost.

    `tokens` are the positions that entered the model, `budget` is the final one, and
    `proof_seconds` the time of the proof, also of paths that failed.
    """

    proof: Proof
    tokens: int
    budget: int
    proof_seconds: float = 0.0


def run(
    path: Path, checks: Checks, done: Done, *, missing: frozenset[int] | None, budget: int | None
) -> Ran:
    """Score requests; pass the sums of each batch, by number of request, to `done`.

    The model in `checks` is in evaluation mode, and each of its requests has a scored token. `done`
    is not called before the first checks have passed. All requests are planned, but only those
    numbered in `missing` are scored; None means all. `budget` is how many positions are held at
    once; None means what memory allows.

    Raises:
        PathOffError: If a check fails.
        ScoringError: If memory does not suffice for a single request, or the model returns NaN.
    """
    loaded, rows = checks.alone.loaded, checks.alone.rows
    budget = budget or choose_budget(loaded)
    logits, tokens, held = most_rows(loaded), 0, dict[int, float]()
    plan = partial(_plan, checks.alone, path.plan, logits)
    batches = planned = plan(budget, range(len(rows)))
    if missing is not None:
        # A killed run leaves whole batches; runs of other requests leave parts of batches.
        whole = [batch for batch in planned if missing.issuperset(batch.requests)]
        lacking = missing.difference(*(batch.requests for batch in whole))
        batches = [*whole, *plan(budget, sorted(lacking))]
    checks.choose(batches, pads=path.pads, of=sum(batch.tokens for batch in planned))
    batches = checks.in_order(batches)
    ahead, launched = _ahead(loaded), deque[tuple[Batch, Read]]()
    bar: tqdm[NoReturn] = tqdm(
        total=sum(batch.tokens for batch in batches),
        desc=loaded.name,
        unit="tok",
        unit_scale=True,
        disable=None,
        leave=False,
    )
    with path.open(loaded) as score, bar:
        while batches or launched:
            if len(launched) > ahead or not batches:
                batch, read = launched.popleft()
                held |= zip(batch.requests, read(), strict=True)
                checks.compare({number: held[number] for number in batch.requests})
                if checks.passed:
                    done(checks.proof, held)
                    held = {}
                tokens += batch.tokens
                bar.update(batch.tokens)
                continue
            batch = batches.pop(0)
            last_try = budget == 1 or len(batch.requests) == 1
            launch = _within_memory(loaded, score, rows, batch, last_try=last_try)
            if launch is None:
                budget = max(1, min(budget, batch.tokens) // 2)
                warnings.warn(
                    f"{loaded.name}: out of memory; continuing with {budget} tokens at once",
                    ScoringWarning,
                    stacklevel=2,
                )
                left = sorted(number for some in [batch, *batches] for number in some.requests)
                batches = checks.in_order(plan(budget, left))
                continue
            launched.append((batch, launch))
    return Ran(checks.proof, tokens, budget, checks.alone.seconds)


def _plan(
    alone: Alone, planner: Planner, logits: int, budget: int, numbers: Iterable[int]
) -> list[Batch]:
    """Plan some of the requests; those whose positions mean different things are planned apart."""
    rows, side = alone.rows, side_of(alone.loaded)
    stacks = [map(side, lengths) for lengths in read_lengths(alone.loaded, rows).tolist()]
    sides = list(zip(*stacks, strict=True))
    groups: dict[Hashable, list[int]] = {}
    for number in numbers:
        groups.setdefault(sides[number], []).append(number)
    return [
        replace(batch, calls=tuple(tuple(group[at] for at in call) for call in batch.calls))
        for group in groups.values()
        for batch in planner([rows[number] for number in group], budget, logits)
    ]


def _within_memory(
    loaded: LoadedModel, score: Score, rows: Sequence[Encoded], batch: Batch, *, last_try: bool
) -> Read | None:
    """Return a function that reads the sums of a batch, or None if memory runs out."""
    longest = max(rows[at].length for at in batch.requests)
    try:
        with as_found(loaded.model), room_for(loaded, longest) if last_try else nullcontext():
            return _fetch(score(rows, batch))
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
    release(loaded)  # only now: the error held references to tensors
    return None


def _fetch(sums: torch.Tensor) -> Read:
    """Begin to copy sums from the device; return a function that waits for them."""
    if not sums.is_cuda:
        return sums.tolist
    copied = sums.to("cpu", non_blocking=True)
    arrival = torch.cuda.current_stream(sums.device).record_event()

    def read() -> list[float]:
        arrival.synchronize()
        sums: list[float] = copied.tolist()
        return sums

    return read


def _ahead(loaded: LoadedModel) -> int:
    """Return how many batches are launched before one is read, to keep a GPU busy."""
    return int(loaded.device.type == "cuda")
