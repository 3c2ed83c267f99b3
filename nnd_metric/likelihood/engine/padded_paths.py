"""The paths that use a model as it was written: whole batches, padded, with masks.

`score_one` reads one request at a time, as in the formula; the others are compared with it.
`score_plainly` shares nothing between requests. `open_cached` repeats a context's keys and values
over its candidates (decoder-only), `score_shared` its encoder states. All but `score_one` pad on
the right, which changes the numbers of models that attend in blocks, such as BigBird.
"""

import copy
import inspect
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import torch
from transformers.modeling_outputs import BaseModelOutput

from nnd.metric.likelihood.engine.batch_plan import Batch
from nnd.metric.likelihood.engine.head import from_logits, sum_each
from nnd.metric.likelihood.engine.lengths import Side, side_of
from nnd.metric.likelihood.engine.packed_path import Score
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.text import Encoded, Ids


class CannotShareError(Exception):
    """A context that is read once would differ from what each of its requests reads."""


def score_one(loaded: LoadedModel, rows: Sequence[Encoded], batch: Batch) -> torch.Tensor:
    """Read one request by itself, without padding, mask or cache."""
    (row,) = (rows[number] for number in batch.requests)
    return _sums([score_one_by_token(loaded, row)])


def score_one_by_token(loaded: LoadedModel, row: Encoded) -> torch.Tensor:
    """Return log P of each scored target of a request that is read by itself, as `score_one`."""
    options = _keep(loaded, len(row.inputs))
    read = row.context + row.inputs
    if loaded.is_encoder_decoder:
        options = {"decoder_input_ids": torch.tensor([row.inputs], device=loaded.device)}
        read = row.context
    ids = torch.tensor([read], device=loaded.device)
    logits = loaded.model(input_ids=ids, **options, **whole_reading(loaded, [row])).logits
    (scores,) = _scored(logits[:, -len(row.inputs) :], [row])
    return scores


def score_plainly(loaded: LoadedModel, rows: Sequence[Encoded], batch: Batch) -> torch.Tensor:
    """Read every request with its own context."""
    return _sums(score_tokens(loaded, [rows[number] for number in batch.requests]))


def score_tokens(loaded: LoadedModel, members: Sequence[Encoded]) -> list[torch.Tensor]:
    """Return log P of each scored target of each request; each reads its own context."""
    if loaded.is_encoder_decoder:
        ids, mask = pad(loaded, [member.context for member in members])
        inputs, _ = pad(loaded, [member.inputs for member in members])
        options: dict[str, Any] = {"decoder_input_ids": inputs}
    else:
        ids, mask = pad(loaded, [member.context + member.inputs for member in members])
        options = _keep(loaded, ids.shape[1] - min(len(member.context) for member in members))
    options |= whole_reading(loaded, members)
    logits = loaded.model(input_ids=ids, attention_mask=mask, **options).logits
    if not loaded.is_encoder_decoder:
        skipped = ids.shape[1] - logits.shape[1]
        pairs = zip(members, logits, strict=True)
        logits = [own[len(member.context) - skipped :] for member, own in pairs]
    return _scored(logits, members)


def open_cached(loaded: LoadedModel) -> AbstractContextManager[Score]:
    """Read a context once, and repeat its keys and values over its candidates.

    Scoring raises CannotShareError if a context would be read differently without a candidate.
    """
    return nullcontext(partial(_score_cached, loaded, side_of(loaded)))


def _score_cached(
    loaded: LoadedModel, side: Side, rows: Sequence[Encoded], batch: Batch
) -> torch.Tensor:
    (context,) = batch.contexts
    wholes = {side(rows[number].length) for number in batch.requests}
    if context and wholes != {side(len(context))}:
        raise CannotShareError("its positions depend on the length of the whole request")
    past = None
    if context:
        ids, mask = pad(loaded, [context])
        options = _keep(loaded, 1)
        past = loaded.model(input_ids=ids, attention_mask=mask, use_cache=True, **options)
        past = past.past_key_values
    sums = []
    for call in batch.calls:
        members = [rows[number] for number in call]
        ids, mask = pad(loaded, [member.inputs for member in members])
        seen = torch.cat([mask.new_ones((len(members), len(context))), mask], dim=1)
        own = copy.deepcopy(past)
        if own is not None:
            own.batch_repeat_interleave(len(members))
        logits = loaded.model(
            input_ids=ids, attention_mask=seen, past_key_values=own, use_cache=True
        ).logits
        sums.append(_sums(_scored(logits, members)))
    return torch.cat(sums)


def score_shared(loaded: LoadedModel, rows: Sequence[Encoded], batch: Batch) -> torch.Tensor:
    """Encode a context once, and use its states for each of its candidates."""
    ids, mask = pad(loaded, batch.contexts)
    answer = loaded.model.get_encoder()(input_ids=ids, attention_mask=mask)
    states = answer.last_hidden_state.to(ids.device)
    place = {context: number for number, context in enumerate(batch.contexts)}
    sums = []
    for call in batch.calls:
        members = [rows[number] for number in call]
        whose = torch.tensor([place[member.context] for member in members]).to(ids.device)
        logits = loaded.model(
            input_ids=ids[whose],  # without it, FSMT's decoder would look ahead
            encoder_outputs=BaseModelOutput(last_hidden_state=states[whose]),
            attention_mask=mask[whose],
            decoder_input_ids=pad(loaded, [member.inputs for member in members])[0],
            use_cache=False,
        ).logits
        sums.append(_sums(_scored(logits, members)))
    return torch.cat(sums)


def whole_reading(loaded: LoadedModel, rows: Sequence[Encoded]) -> dict[str, Any]:
    """Return the options with which a model reads whole rows: no cache, and their segments."""
    if not loaded.is_masked:  # which has no cache
        return {"use_cache": False}
    segments, _ = pad(loaded, [row.segments or (0,) * row.length for row in rows])
    return {"token_type_ids": segments} if any(row.segments for row in rows) else {}


def _keep(loaded: LoadedModel, last: int) -> dict[str, Any]:
    known = "logits_to_keep" in inspect.signature(loaded.model.forward).parameters
    return {"logits_to_keep": last} if known else {}


def _sums(scores: Sequence[torch.Tensor]) -> torch.Tensor:
    return sum_each(torch.cat([*scores]), [*map(len, scores)])


def _scored(logits: Iterable[torch.Tensor], members: Sequence[Encoded]) -> list[torch.Tensor]:
    """Return log P of the scored targets of each request.

    The first logits of each request predict its targets.
    """
    scores = []
    for member, own in zip(members, logits, strict=True):
        scored = torch.tensor(member.scored, device=own.device)
        targets = torch.tensor(member.targets, device=own.device)
        scores.append(from_logits(own[: len(targets)][scored], targets[scored]))
    return scores


def pad(loaded: LoadedModel, rows: Sequence[Ids]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return ids and mask [rows, longest], padded on the right."""
    filler = loaded.tokenizer.pad_token_id or 0
    width = max(len(row) for row in rows)
    ids = torch.full((len(rows), width), filler)
    mask = torch.zeros((len(rows), width), dtype=torch.long)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = torch.tensor(row)
        mask[number, : len(row)] = 1
    return ids.to(loaded.device), mask.to(loaded.device)
