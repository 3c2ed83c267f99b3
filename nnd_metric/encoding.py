"""From (context, candidate) to token ids: what is read, what is predicted, what is scored.

Context and candidate are tokenised apart, so no token crosses the boundary and none is lost.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from .errors import ScoringError
from .models import LoadedModel
from .protocols import Protocol
from .targets import Target, make_targets
from .tokens import Context, Frame, Ids, context_ids, special_frame

Keep: TypeAlias = Literal["beginning", "end"]

Request: TypeAlias = tuple[Context, str]

_LONGEST_SHOWN = 60


class Encoded(NamedTuple):
    """One request in token ids.

    Attributes:
        context: What the encoder reads; for decoder-only models, what stands before `inputs`.
        inputs: What the decoder reads at the positions that predict `targets`.
        targets: The ids to predict, one per input.
        scored: Which targets count.
        truncated: Whether the context was cut to fit the window.
    """

    context: Ids
    inputs: Ids
    targets: Ids
    scored: tuple[bool, ...]
    truncated: bool


class _Prefix(NamedTuple):
    """A context in token ids with its special tokens, cut to fit."""

    ids: Ids
    truncated: bool


def encode(
    loaded: LoadedModel,
    protocol: Protocol,
    requests: Sequence[Request],
    *,
    separator: str = " ",
    keep: Keep | None = None,
) -> list[Encoded]:
    """Turn requests into token ids under a protocol.

    A context is cut once, to the window minus the longest of its candidates in `requests`, so that
    all candidates of a context are judged on the same one.

    Args:
        loaded: The model whose tokenizer and conventions count.
        protocol: Which tokens are fed and scored.
        requests: Pairs of context and candidate.
        separator: Stands between context and candidate of decoder-only models (`native`).
        keep: Which part of a context survives a cut; None means the beginning for
            encoder-decoders and the end for decoder-only models.

    Raises:
        ScoringError: If a candidate does not fit the window, or the tokenizer lacks a token that
            the protocol needs.
    """
    if keep not in (None, "beginning", "end"):
        raise ScoringError(f'there is no side "{keep}" to keep; choose beginning or end')
    contexts = list(dict.fromkeys(context for context, _ in requests))
    candidates = list(dict.fromkeys(candidate for _, candidate in requests))
    made = make_targets(loaded, protocol, candidates, separator)
    target_of = dict(zip(candidates, made, strict=True))
    room_of = _rooms(loaded, requests, target_of)
    side = keep or ("beginning" if loaded.is_encoder_decoder else "end")
    prefix_of = {
        context: _fit(loaded, _frame(loaded, protocol, body), body, room_of[context], side)
        for context, body in zip(contexts, context_ids(loaded.tokenizer, contexts), strict=True)
    }
    assemble = _join if loaded.is_encoder_decoder else _continue
    return [assemble(prefix_of[context], target_of[candidate]) for context, candidate in requests]


def _join(prefix: _Prefix, target: Target) -> Encoded:
    """The encoder reads the context, the decoder the candidate."""
    return Encoded(prefix.ids, target.fed, target.targets, target.scored, prefix.truncated)


def _continue(prefix: _Prefix, target: Target) -> Encoded:
    """One row is read; its last positions, one per target, are those that predict."""
    row = prefix.ids + target.fed
    start = len(row) - len(target.targets)
    return Encoded(row[:start], row[start:], target.targets, target.scored, prefix.truncated)


def _frame(loaded: LoadedModel, protocol: Protocol, body: Ids) -> Frame:
    """Return the special tokens around a context."""
    frame = special_frame(loaded.tokenizer)
    if loaded.is_encoder_decoder or protocol.tokens == "laban2022":
        return frame
    # An end token would part the candidate from its context; an empty context needs some token
    # that predicts the first of the candidate.
    return Frame(frame.lead or (() if body else _stand_in(loaded)), ())


def _stand_in(loaded: LoadedModel) -> Ids:
    for token in (loaded.tokenizer.bos_token_id, loaded.tokenizer.eos_token_id):
        if token is not None:
            return (token,)
    raise ScoringError(
        f"{loaded.name}: a context is empty, and the tokenizer has neither a bos nor an eos token "
        "to stand for it; leave that context out"
    )


def _rooms(
    loaded: LoadedModel, requests: Sequence[Request], target_of: dict[str, Target]
) -> dict[Context, int | None]:
    """Return how many tokens each context may have, its special tokens included."""
    window = loaded.decoder_window
    if loaded.is_encoder_decoder:
        for _, candidate in requests:
            _check_fits(loaded, candidate, len(target_of[candidate].targets), window)
        return dict.fromkeys((context for context, _ in requests), loaded.encoder_window)
    rooms: dict[Context, int | None] = {}
    for context, candidate in requests:
        length = len(target_of[candidate].targets)
        _check_fits(loaded, candidate, length + 1, window)
        room = None if window is None else window - length
        rooms[context] = min(room, rooms.get(context) or room) if room is not None else None
    return rooms


def _check_fits(loaded: LoadedModel, candidate: str, length: int, window: int | None) -> None:
    if window is not None and length > window:
        shown = candidate[:_LONGEST_SHOWN] + ("…" if len(candidate) > _LONGEST_SHOWN else "")
        raise ScoringError(
            f'{loaded.name}: the candidate "{shown}" takes {length} tokens where the model reads '
            f"{window}; leave the pair out, or use a model with a longer window"
        )


def _fit(loaded: LoadedModel, frame: Frame, body: Ids, room: int | None, keep: Keep) -> _Prefix:
    """Put the special tokens around a context, and cut its text to what is left of the room."""
    left = len(body) if room is None else room - len(frame.lead) - len(frame.trail)
    if left >= len(body):
        return _Prefix(frame.lead + body + frame.trail, truncated=False)
    if left < 0:
        raise ScoringError(
            f"{loaded.name}: the longest candidate leaves no room for the special tokens of "
            "its context; leave the pair out, or use a model with a longer window"
        )
    kept = body[:left] if keep == "beginning" else body[len(body) - left :]
    return _Prefix(frame.lead + kept + frame.trail, truncated=True)
