"""Execution: batch after batch through one path, with smaller batches if memory runs out."""

import warnings
from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
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
from nnd.metric.likelihood.engine.proof import TRUSTED, Alone, Checks
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.text import Encoded
from nnd.schemas import ScoringWarning

Read: TypeAlias = Callable[[], list[float]]
"""Waits for the sums of a batch."""


class Ran(NamedTuple):
    """The cost of an execution: positions that entered the model, and the final budget."""

    tokens: int
    budget: int


def run(
    loaded: LoadedModel,
    path: Path,
    rows: Sequence[Encoded],
    done: Callable[[Mapping[int, float]], None],
    *,
    missing: frozenset[int] | None = None,
    checks: Checks | None = None,
    budget: int | None = None,
) -> Ran:
    """Score requests; pass the sums of each batch, by number of request, to `done`.

    Args:
        loaded: The model, in evaluation mode.
        path: The path to use.
        rows: Requests, each with a scored token.
        done: Called after every batch, but not before the first checks have passed.
        missing: Numbers of the requests to score, None means all. All are planned.
        checks: Checks of the path's numbers; None trusts them.
        budget: Positions held at once; None means what memory allows.

    Raises:
        PathOffError: If a check fails.
        ScoringError: If memory does not suffice for a single request, or the model returns NaN.
    """
    checks = checks or Checks(Alone(loaded, rows), TRUSTED, share=0)
    budget = budget or choose_budget(loaded)
    logits, tokens, held = most_rows(loaded), 0, dict[int, float]()
    plan = _apart(loaded, path.plan)
    planned = plan(rows, budget, logits)
    batches = _left(plan, rows, planned, missing, budget=budget, logits=logits)
    checks.choose(batches, pads=path.pads, of=sum(batch.tokens for batch in planned))
    batches = checks.in_order(batches)
    ahead, launched = _ahead(loaded), deque[tuple[Batch, Read]]()
    with path.open(loaded) as score, _progress(loaded, batches) as bar:
        while batches or launched:
            if len(launched) > ahead or not batches:
                batch, read = launched.popleft()
                held |= zip(batch.requests, read(), strict=True)
                checks.compare({number: held[number] for number in batch.requests})
                if checks.passed:
                    done(held)
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
                left = sorted(number for each in [batch, *batches] for number in each.requests)
                batches = checks.in_order(_plan_some(plan, rows, left, budget, logits))
                continue
            launched.append((batch, launch))
    return Ran(tokens, budget)


def _apart(loaded: LoadedModel, plan: Planner) -> Planner:
    """Return a planner that separates requests whose positions mean different things."""
    side = side_of(loaded)

    def planned(rows: Sequence[Encoded], budget: int, logits: int) -> list[Batch]:
        groups: dict[Hashable, list[int]] = {}
        stacks = [map(side, lengths) for lengths in read_lengths(loaded, rows).tolist()]
        for number, sides in enumerate(zip(*stacks, strict=True)):
            groups.setdefault(sides, []).append(number)
        return [
            batch
            for group in groups.values()
            for batch in _plan_some(plan, rows, group, budget, logits)
        ]

    return planned


def _plan_some(
    plan: Planner, rows: Sequence[Encoded], numbers: Sequence[int], budget: int, logits: int
) -> list[Batch]:
    """Plan some of the requests."""
    return [
        replace(batch, calls=tuple(tuple(numbers[at] for at in call) for call in batch.calls))
        for batch in plan([rows[number] for number in numbers], budget, logits)
    ]


def _left(
    plan: Planner,
    rows: Sequence[Encoded],
    planned: list[Batch],
    missing: frozenset[int] | None,
    *,
    budget: int,
    logits: int,
) -> list[Batch]:
    """Return the batches that are not scored at all, and new ones for missing requests.

    A killed run leaves whole batches; runs of other requests leave parts of batches.
    """
    if missing is None:
        return planned
    whole = [batch for batch in planned if missing.issuperset(batch.requests)]
    lacking = missing.difference(*(batch.requests for batch in whole))
    return [*whole, *_plan_some(plan, rows, sorted(lacking), budget, logits)]


def _within_memory(
    loaded: LoadedModel, score: Score, rows: Sequence[Encoded], batch: Batch, *, last_try: bool
) -> Read | None:
    """Return a function that reads the sums of a batch, or None if memory runs out."""
    longest = max(len(rows[at].context) + len(rows[at].inputs) for at in batch.requests)
    try:
        with as_found(loaded.model), room_for(loaded, longest) if last_try else nullcontext():
            read = _fetch(score(rows, batch))
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
    else:
        return read
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
        found: list[float] = copied.tolist()
        return found

    return read


def _ahead(loaded: LoadedModel) -> int:
    """Return how many batches are launched before one is read, to keep a GPU busy."""
    return int(loaded.device.type == "cuda")


def _progress(loaded: LoadedModel, batches: Sequence[Batch]) -> "tqdm[NoReturn]":
    total = sum(batch.tokens for batch in batches)
    return tqdm(
        total=total, desc=loaded.name, unit="tok", unit_scale=True, disable=None, leave=False
    )
