"""The packed path: contexts and candidates of many requests in one row, every token once.

A decoder-only model reads `context candidate candidate … context candidate …`; an encoder-decoder
reads the contexts with its encoder and the candidates with its decoder, so that each context is
encoded once, and its keys and values for the decoder are made once. `attention` keeps the requests
apart; positions start again at 0 in each.
"""

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, TypeAlias

import torch
from transformers.activations import NewGELUActivation

from nnd.metric.encoding import Encoded, Ids
from nnd.metric.engine.attention import Block, Layout, laid_out, packed_attention
from nnd.metric.engine.head import log_probabilities, sum_each
from nnd.metric.engine.plan import Batch
from nnd.metric.engine.positions import Positions
from nnd.metric.models import LoadedModel, forward_replaced

Score: TypeAlias = Callable[[Sequence[Encoded], Batch], torch.Tensor]
"""Scores a batch: float64 [requests], the sum of log P over the scored targets of each."""

_QUERIES = 256  # neighbours meet in the attention, masked, only within so many


@dataclass(slots=True)
class _Row:
    """A row in the making."""

    ids: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    predicts: list[int] = field(default_factory=list)

    def read(self, ids: Ids, first: int = 0) -> slice:
        """Append ids whose positions count from `first`; return where they stand."""
        start = len(self.ids)
        self.ids += ids
        self.positions += range(first, first + len(ids))
        return slice(start, len(self.ids))

    def read_context(self, ids: Ids, *, causal: bool) -> slice:
        """Append a context that sees itself."""
        place = self.read(ids)
        if ids:
            self.blocks.append(Block(place, (place,), causal))
        return place

    def read_candidates(self, members: Sequence[Encoded], behind: slice) -> slice:
        """Append candidates that see their context, if it is in this row, and themselves."""
        start, first = len(self.ids), behind.stop - behind.start
        for some in _chunks(members):
            begin = len(self.ids)
            for member in some:
                place = self.read(member.inputs, first)
                scored = zip(range(place.start, place.stop), member.scored, strict=True)
                self.predicts += [at for at, counts in scored if counts]
            here = slice(begin, len(self.ids))
            keys = (behind, here) if first else (here,)
            if first and behind.stop == begin:
                keys = (slice(behind.start, here.stop),)  # no copy where they are neighbours
            lengths = tuple(len(member.inputs) for member in some)
            self.blocks.append(Block(here, keys, causal=True, candidates=lengths))
        return slice(start, len(self.ids))


@contextmanager
def open_packed(loaded: LoadedModel) -> Iterator[Score]:
    """Prepare a model for packed rows, and give it back as it was.

    Raises:
        CannotPackError: If the model cannot be packed.
    """
    trunk = loaded.model.get_decoder()  # type: ignore[no-untyped-call]
    places = Positions()
    with ExitStack() as stack:
        stack.enter_context(packed_attention(loaded.model))
        stack.enter_context(_fused_gelu(loaded.model))
        told = "position_ids" in inspect.signature(trunk.forward).parameters
        if loaded.is_encoder_decoder or not told:
            stack.enter_context(places.imposed_on(loaded.model))

        def score(rows: Sequence[Encoded], batch: Batch) -> torch.Tensor:
            members = [rows[number] for number in batch.requests]
            options: dict[str, Any] = {}
            row, other = _Row(), list[Block]()
            encoded = _Row() if loaded.is_encoder_decoder else row
            for context, same in groupby(members, key=lambda member: member.context):
                behind = encoded.read_context(context, causal=encoded is row)
                nothing = slice(0, 0)
                asked = row.read_candidates(list(same), behind if encoded is row else nothing)
                if encoded is not row:
                    other.append(Block(asked, (behind,), causal=False))
            if encoded is not row:
                states = _run(loaded, loaded.model.get_encoder(), encoded, places)
                options["encoder_hidden_states"] = states[None]
            elif told:
                options["position_ids"] = _tensor(loaded, row.positions)[None]
            hidden = _run(loaded, trunk, row, places, other=other, use_cache=False, **options)
            return _sums(loaded, trunk, hidden[_tensor(loaded, row.predicts)], members)

        yield score


def _run(
    loaded: LoadedModel,
    part: Any,  # noqa: ANN401 - whatever `get_encoder` and `get_decoder` answer
    row: _Row,
    places: Positions,
    *,
    other: Sequence[Block] = (),
    **options: Any,  # noqa: ANN401 - what the part takes beside ids
) -> torch.Tensor:
    """Return the last hidden states [row, size] of an encoder or a decoder."""
    places.now = _tensor(loaded, row.positions)
    with laid_out(Layout(row.blocks, other, places.now)):
        answer = part(input_ids=_tensor(loaded, row.ids)[None], **options)
    states: torch.Tensor = answer.last_hidden_state[0]
    return states


def _sums(
    loaded: LoadedModel,
    trunk: Any,  # noqa: ANN401 - whatever `get_decoder` answers
    hidden: torch.Tensor,
    members: Sequence[Encoded],
) -> torch.Tensor:
    targets = [
        target
        for member in members
        for target, counts in zip(member.targets, member.scored, strict=True)
        if counts
    ]
    found = log_probabilities(loaded, trunk, hidden, _tensor(loaded, targets))
    return sum_each(found, [sum(member.scored) for member in members])


def _chunks(members: Sequence[Encoded]) -> Iterator[list[Encoded]]:
    chunk: list[Encoded] = []
    for member in members:
        if chunk and sum(len(each.inputs) for each in [*chunk, member]) > _QUERIES:
            yield chunk
            chunk = []
        chunk.append(member)
    yield chunk


def _tensor(loaded: LoadedModel, numbers: Sequence[int]) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.long).to(loaded.device)


@contextmanager
def _fused_gelu(model: torch.nn.Module) -> Iterator[None]:
    """Let GPT-2's GELU, eight passes over its input, be torch's one: the same formula."""
    fused = torch.nn.GELU(approximate="tanh").forward
    with ExitStack() as stack:
        for module in model.modules():
            if isinstance(module, NewGELUActivation):
                stack.enter_context(forward_replaced(module, fused))
        yield
