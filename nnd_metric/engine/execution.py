"""The run: batch after batch through one path, with less at once where memory runs out."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import NamedTuple, NoReturn

from tqdm import tqdm

from nnd.metric.encoding import Encoded
from nnd.metric.engine.head import most_rows
from nnd.metric.engine.memory import choose_budget, is_out_of_memory, release, room_for
from nnd.metric.engine.packed import Score
from nnd.metric.engine.paths import Path
from nnd.metric.engine.plan import Batch
from nnd.metric.engine.proof import check_numbers
from nnd.metric.models import LoadedModel
from nnd.schemas import ScoringWarning


class Ran(NamedTuple):
    """What a run did: positions that entered the model, and the budget it ended with."""

    tokens: int
    budget: int


def run(
    loaded: LoadedModel,
    path: Path,
    rows: Sequence[Encoded],
    done: Callable[[Mapping[int, float]], None],
    *,
    budget: int | None = None,
) -> Ran:
    """Score requests; tell `done` the sums of each batch, by number of request, as they come.

    Args:
        loaded: The model, in evaluation mode.
        path: The way to take.
        rows: Requests, each with a scored token.
        done: Called after every batch.
        budget: Positions held at once; None means what memory allows.

    Raises:
        ScoringError: If memory does not suffice for a single request, or the model answers with
            NaN.
    """
    budget = budget or choose_budget(loaded)
    logits, tokens = most_rows(loaded), 0
    batches = path.plan(rows, budget, logits)
    with path.open(loaded) as score, _progress(loaded, batches) as bar:
        while batches:
            batch = batches.pop(0)
            last_try = budget == 1 or len(batch.requests) == 1
            sums = _within_memory(loaded, score, rows, batch, last_try=last_try)
            if sums is None:
                budget = max(1, min(budget, batch.tokens) // 2)
                warnings.warn(
                    f"{loaded.name}: out of memory; going on with {budget} tokens at once",
                    ScoringWarning,
                    stacklevel=2,
                )
                batches = _plan_again(path, rows, [batch, *batches], budget, logits)
                continue
            check_numbers(loaded, sums)
            done(dict(zip(batch.requests, sums, strict=True)))
            tokens += batch.tokens
            bar.update(batch.tokens)
    return Ran(tokens, budget)


def _plan_again(
    path: Path, rows: Sequence[Encoded], batches: Sequence[Batch], budget: int, logits: int
) -> list[Batch]:
    """Plan what is in `batches` with another budget."""
    numbers = sorted(number for batch in batches for number in batch.requests)
    planned = path.plan([rows[number] for number in numbers], budget, logits)
    return [
        replace(batch, calls=tuple(tuple(numbers[at] for at in call) for call in batch.calls))
        for batch in planned
    ]


def _within_memory(
    loaded: LoadedModel, score: Score, rows: Sequence[Encoded], batch: Batch, *, last_try: bool
) -> list[float] | None:
    """Return the sums of a batch, or None where it takes more memory than there is."""
    longest = max(len(rows[at].context) + len(rows[at].inputs) for at in batch.requests)
    try:
        with room_for(loaded, longest) if last_try else nullcontext():
            sums: list[float] = score(rows, batch).tolist()
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
    else:
        return sums
    release(loaded)  # only now: the error held on to what was computed
    return None


def _progress(loaded: LoadedModel, batches: Sequence[Batch]) -> "tqdm[NoReturn]":
    total = sum(batch.tokens for batch in batches)
    return tqdm(
        total=total, desc=loaded.name, unit="tok", unit_scale=True, disable=None, leave=False
    )
