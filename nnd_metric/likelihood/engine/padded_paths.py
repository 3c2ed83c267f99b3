"""The paths that use a model as it was written: whole batches, padded, with masks.

`open_alone` reads one request at a time, as in the formula; the others are compared with it.
`open_plain` shares nothing between requests. `open_cached` repeats a context's keys and values over
its candidates (decoder-only), `open_shared` its encoder states. All but `open_alone` pad on the
right, which changes the numbers of models that attend in blocks, such as BigBird.
"""

import copy
import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from transformers.modeling_outputs import BaseModelOutput

from nnd.metric.likelihood.engine.batch_plan import Batch
from nnd.metric.likelihood.engine.head import from_logits, sum_each
from nnd.metric.likelihood.engine.lengths import side_of
from nnd.metric.likelihood.engine.packed_path import Score
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.text import Encoded, Ids


class CannotShareError(Exception):
    """A context that is read once would differ from what each of its requests reads."""


@contextmanager
def open_alone(loaded: LoadedModel) -> Iterator[Score]:
    """Every request is read by itself, without padding, mask or cache."""

    def score(rows: Sequence[Encoded], batch: Batch) -> torch.Tensor:
        (number,) = batch.requests
        return _sums(iter([_alone_logits(loaded, rows[number])]), [rows[number]])

    yield score


@contextmanager
def open_plain(loaded: LoadedModel) -> Iterator[Score]:
    """Every request reads its own context."""
    forward = _encoder_decoder_logits if loaded.is_encoder_decoder else _decoder_logits

    def score(rows: Sequence[Encoded], batch: Batch) -> torch.Tensor:
        (call,) = batch.calls
        members = [rows[number] for number in call]
        return _sums(forward(loaded, members), members)

    yield score


@contextmanager
def open_cached(loaded: LoadedModel) -> Iterator[Score]:
    """A context is read once; its keys and values are repeated over its candidates.

    Raises:
        CannotShareError: If a context would be read differently without a candidate.
    """
    side = side_of(loaded)

    def score(rows: Sequence[Encoded], batch: Batch) -> torch.Tensor:
        (context,) = batch.contexts
        wholes = {side(len(context) + len(rows[number].inputs)) for number in batch.requests}
        if context and wholes != {side(len(context))}:
            raise CannotShareError("its positions depend on the length of the whole request")
        past = None
        if context:
            ids, mask = _pad(loaded, [context])
            options = _keep(loaded, 1)
            past = loaded.model(input_ids=ids, attention_mask=mask, use_cache=True, **options)
            past = past.past_key_values
        found = []
        for call in batch.calls:
            members = [rows[number] for number in call]
            ids, mask = _pad(loaded, [member.inputs for member in members])
            seen = torch.cat([mask.new_ones((len(members), len(context))), mask], dim=1)
            own = copy.deepcopy(past)
            if own is not None:
                own.batch_repeat_interleave(len(members))
            logits = loaded.model(
                input_ids=ids, attention_mask=seen, past_key_values=own, use_cache=True
            ).logits
            found.append(_sums(iter(logits), members))
        return torch.cat(found)

    yield score


@contextmanager
def open_shared(loaded: LoadedModel) -> Iterator[Score]:
    """A context is encoded once; its states are used for each of its candidates."""

    def score(rows: Sequence[Encoded], batch: Batch) -> torch.Tensor:
        ids, mask = _pad(loaded, batch.contexts)
        states = loaded.model.get_encoder()(input_ids=ids, attention_mask=mask).last_hidden_state
        place = {context: number for number, context in enumerate(batch.contexts)}
        found = []
        for call in batch.calls:
            members = [rows[number] for number in call]
            whose = torch.tensor([place[member.context] for member in members]).to(ids.device)
            logits = loaded.model(
                input_ids=ids[whose],  # without it, FSMT's decoder would look ahead
                encoder_outputs=BaseModelOutput(last_hidden_state=states[whose]),
                attention_mask=mask[whose],
                decoder_input_ids=_pad(loaded, [member.inputs for member in members])[0],
                use_cache=False,
            ).logits
            found.append(_sums(iter(logits), members))
        return torch.cat(found)

    yield score


def _alone_logits(loaded: LoadedModel, row: Encoded) -> torch.Tensor:
    """Return the logits that predict a request's targets."""
    options: dict[str, Any] = _keep(loaded, len(row.inputs))
    read = row.context + row.inputs
    if loaded.is_encoder_decoder:
        options = {"decoder_input_ids": _tensor(loaded, row.inputs)}
        read = row.context
    answer = loaded.model(input_ids=_tensor(loaded, read), use_cache=False, **options)
    logits: torch.Tensor = answer.logits[0, -len(row.inputs) :]
    return logits


def _decoder_logits(loaded: LoadedModel, members: Sequence[Encoded]) -> Iterator[torch.Tensor]:
    """Yield, for each request, logits of which the first predict its targets."""
    ids, mask = _pad(loaded, [member.context + member.inputs for member in members])
    first = min(len(member.context) for member in members)
    options = _keep(loaded, ids.shape[1] - first)
    logits = loaded.model(input_ids=ids, attention_mask=mask, use_cache=False, **options).logits
    skipped = ids.shape[1] - logits.shape[1]
    for member, own in zip(members, logits, strict=True):
        yield own[len(member.context) - skipped :]


def _encoder_decoder_logits(
    loaded: LoadedModel, members: Sequence[Encoded]
) -> Iterator[torch.Tensor]:
    """Yield, for each request, the logits that predict its targets."""
    ids, mask = _pad(loaded, [member.context for member in members])
    inputs, _ = _pad(loaded, [member.inputs for member in members])
    yield from loaded.model(
        input_ids=ids, attention_mask=mask, decoder_input_ids=inputs, use_cache=False
    ).logits


def _keep(loaded: LoadedModel, last: int) -> dict[str, Any]:
    known = "logits_to_keep" in inspect.signature(loaded.model.forward).parameters
    return {"logits_to_keep": last} if known else {}


def _sums(logits: Iterator[torch.Tensor], members: Sequence[Encoded]) -> torch.Tensor:
    """Return the sum of log P over the scored targets of each request."""
    found = []
    for member, own in zip(members, logits, strict=True):
        scored = torch.tensor(member.scored, device=own.device)
        targets = torch.tensor(member.targets, device=own.device)
        found.append(from_logits(own[: len(targets)][scored], targets[scored]))
    return sum_each(torch.cat(found), [len(each) for each in found])


def _tensor(loaded: LoadedModel, ids: Ids) -> torch.Tensor:
    return torch.tensor([ids], device=loaded.device)


def _pad(loaded: LoadedModel, rows: Sequence[Ids]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return ids and mask [rows, longest], padded on the right."""
    filler = loaded.tokenizer.pad_token_id or 0
    width = max(len(row) for row in rows)
    ids = torch.full((len(rows), width), filler)
    mask = torch.zeros((len(rows), width), dtype=torch.long)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = torch.tensor(row)
        mask[number, : len(row)] = 1
    return ids.to(loaded.device), mask.to(loaded.device)
