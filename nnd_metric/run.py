"""The run: batch after batch through one path, with less at once where memory runs out."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, NoReturn

from tqdm import tqdm

from .encoding import Encoded
from .errors import ScoringError, ScoringWarning
from .head import most_rows
from .memory import choose_budget, is_out_of_memory, release
from .models import LoadedModel
from .packed import Score
from .paths import Path
from .plan import Batch
from .proof import check_numbers


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
    logits, tokens, waiting = most_rows(loaded), 0, list(range(len(rows)))
    with path.open(loaded) as score, _progress(loaded, path.plan(rows, budget, logits)) as bar:
        while waiting:
            some = [rows[number] for number in waiting]
            scored: set[int] = set()
            for batch in path.plan(some, budget, logits):
                sums = _within_memory(loaded, score, some, batch)
                if sums is None:
                    budget = max(1, min(budget, batch.tokens) // 2)
                    warnings.warn(
                        f"{loaded.name}: out of memory; going on with {budget} tokens at once",
                        ScoringWarning,
                        stacklevel=2,
                    )
                    break
                check_numbers(loaded, sums)
                done(dict(zip((waiting[at] for at in batch.requests), sums, strict=True)))
                scored.update(batch.requests)
                tokens += batch.tokens
                bar.update(batch.tokens)
            waiting = [number for at, number in enumerate(waiting) if at not in scored]
    return Ran(tokens, budget)


def _within_memory(
    loaded: LoadedModel, score: Score, rows: Sequence[Encoded], batch: Batch
) -> list[float] | None:
    """Return the sums of a batch, or None where it takes more memory than there is."""
    try:
        sums: list[float] = score(rows, batch).tolist()
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        if len(batch.requests) == 1:
            raise ScoringError(
                f"{loaded.name}: {loaded.model.device} has not enough memory for one request of "
                f"{batch.tokens} tokens; use half precision (bfloat16), or another device"
            ) from error
    else:
        return sums
    release(loaded)  # only now: the error held on to what was computed
    return None


def _progress(loaded: LoadedModel, batches: Sequence[Batch]) -> "tqdm[NoReturn]":
    total = sum(batch.tokens for batch in batches)
    return tqdm(
        total=total, desc=loaded.name, unit="tok", unit_scale=True, disable=None, leave=False
    )
