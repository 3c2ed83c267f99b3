"""The proof: before a fast path is trusted, it scores a few requests beside the plain one.

The plain path scores them one at a time, nothing padded, nothing shared. The requests are those
that would show a mistake: the longest of all and the shortest of the same context, the next to
longest of another, which is padded where a path pads, and those of the shortest context. All are in
one batch if the path allows, so that a leak between neighbours or beyond a window is seen.
"""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import torch

from nnd.metric.encoding import Encoded
from nnd.metric.engine.memory import release, room_for
from nnd.metric.engine.paths import BOUNDS, Path, paths_of
from nnd.metric.models import LoadedModel
from nnd.schemas import ScoringError, excerpt

# Two texts that part after 4 tokens. How far may the predictions before that move, in shares of
# how far those behind it do? Causal models: not at all; untrained masked ones: from 0.006.
_PARTING_TEXTS, _SHARED = ([0, 1, 2, 3] + [1] * 12, [0, 1, 2, 3] + [2] * 12), 4
_LOOK_AHEAD = 0.005


@dataclass(frozen=True, slots=True)
class Proof:
    """Which path a model takes, and how far its numbers are from the plain ones.

    Attributes:
        path: Its name.
        deviation: Largest difference seen, nats per scored token.
        reach: Tokens of the longest request that was tried.
        switched_off: Why each faster path is not taken.
    """

    path: str
    deviation: float
    reach: int
    switched_off: tuple[str, ...] = ()


def prove(loaded: LoadedModel, rows: Sequence[Encoded], *, only: str | None = None) -> Proof:
    """Return the first path of a model that gives the numbers of the plain one.

    Args:
        loaded: The model, in evaluation mode.
        rows: Requests to choose from; at least one has a scored token.
        only: Name of the one path to try; None means all, fastest first.

    Raises:
        ScoringError: If the model looks ahead or answers with NaN, or `only` names no path of the
            model's kind, or one that cannot be taken.
    """
    if not loaded.is_encoder_decoder:
        with room_for(loaded, len(_PARTING_TEXTS[0])):
            _check_causal(loaded)
    paths = paths_of(loaded)
    tried = [path for path in paths if only in (None, path.name)]
    if not tried:
        known = ", ".join(path.name for path in paths)
        raise ScoringError(f'{loaded.name}: there is no path "{only}"; choose one of {known}')
    sample = _sample(rows)
    exact = [_alone(loaded, paths[-1], row) for row in sample]
    check_numbers(loaded, exact)
    reach = max(map(_length, sample))
    reasons: list[str] = []
    for path in tried:
        deviation, reason = _deviation(loaded, path, sample, exact)
        if reason is None:
            return Proof(path.name, deviation, reach, tuple(reasons))
        reasons.append(f"{path.name}: {reason}")
    raise ScoringError(f"{loaded.name}: no path can be taken; {'; '.join(reasons)}")


def check_numbers(loaded: LoadedModel, sums: Sequence[float]) -> None:
    """Refuse a model whose log-likelihoods are no numbers.

    Raises:
        ScoringError: If one is NaN.
    """
    if any(math.isnan(value) for value in sums):
        raise ScoringError(
            f"{loaded.name}: the model answers with NaN in {loaded.dtype}; load it "
            "in another dtype (float32, bfloat16), or check its weights"
        )


def _deviation(
    loaded: LoadedModel, path: Path, sample: Sequence[Encoded], exact: Sequence[float]
) -> tuple[float, str | None]:
    """Return how far a path is from `exact`, and why it cannot be taken, if so."""
    plain = path is paths_of(loaded)[-1]
    try:
        found = _together(loaded, path, sample)
    except Exception as error:  # models fail in any way at what they were not written for
        if plain:
            raise
        return math.inf, excerpt(str(error) or type(error).__name__)
    pairs = zip(found, exact, sample, strict=True)
    apart = [0.0 if a == b else abs(a - b) / sum(row.scored) for a, b, row in pairs]
    deviation = math.nan if any(map(math.isnan, apart)) else max(apart)
    bound = BOUNDS.get(loaded.dtype, BOUNDS["bfloat16"])
    if plain or deviation <= bound:
        return deviation, None
    return deviation, f"{deviation:.1e} nats from the plain path, more than {bound:.0e}"


def _alone(loaded: LoadedModel, plain: Path, row: Encoded) -> float:
    with room_for(loaded, _length(row)):
        return _scores(loaded, plain, [row], 1)[0]


def _together(loaded: LoadedModel, path: Path, rows: Sequence[Encoded]) -> list[float]:
    with suppress(torch.OutOfMemoryError, RuntimeError, MemoryError):
        return _scores(loaded, path, rows, sum(map(_length, rows)) * len(rows))
    release(loaded)
    return _scores(loaded, path, rows, 1)  # whatever it was: if it was not memory, it says so again


def _scores(loaded: LoadedModel, path: Path, rows: Sequence[Encoded], budget: int) -> list[float]:
    found = [math.nan] * len(rows)
    with path.open(loaded) as score:
        for batch in path.plan(rows, budget, budget):
            for number, value in zip(batch.requests, score(rows, batch).tolist(), strict=True):
                found[number] = value
    return found


def _sample(rows: Sequence[Encoded]) -> list[Encoded]:
    members: dict[tuple[int, ...], list[Encoded]] = {}
    for row in rows:
        if any(row.scored):
            members.setdefault(row.context, []).append(row)
    groups = [sorted(group, key=_length, reverse=True) for group in members.values()]
    groups.sort(key=lambda group: _length(group[0]), reverse=True)
    next_to_longest = [rows[0] for rows in groups[1:-1][:1]]
    shortest = _ends(groups[-1]) if groups[1:] else []
    return [*_ends(groups[0]), *next_to_longest, *shortest]


def _length(row: Encoded) -> int:
    return len(row.context) + len(row.inputs)


def _ends(rows: list[Encoded]) -> list[Encoded]:
    return [rows[0], rows[-1]] if rows[1:] else rows


def _check_causal(loaded: LoadedModel) -> None:
    """Masked language models load as causal ones without complaint, and see what they predict."""
    ids = torch.tensor(_PARTING_TEXTS, device=loaded.model.device)
    mask = torch.ones_like(ids)
    one, other = loaded.model(input_ids=ids, attention_mask=mask, use_cache=False).logits.float()
    moved = (one - other).abs().amax(-1)
    if moved[:_SHARED].max() > _LOOK_AHEAD * moved[_SHARED:].max():
        raise ScoringError(
            f"{loaded.name}: {type(loaded.model).__name__} looks ahead: later tokens change its "
            "earlier predictions, so it gives texts no likelihood; use a causal language model"
        )
