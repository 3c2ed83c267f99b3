"""The packed path: contexts and candidates of many requests in one row, every token once.

A decoder-only model reads what all contexts begin with, the rest of each, then all candidates; an
encoder-decoder reads the contexts with its encoder and the candidates with its decoder, so that
each context is encoded once, and its keys and values for the decoder are made once. `attention`
keeps the requests apart; positions start at 0 in each.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain, groupby
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from transformers.activations import NewGELUActivation

from nnd.metric.likelihood.engine.attention.blocks import attend_blocks
from nnd.metric.likelihood.engine.attention.interface import laid_out, packed_attention
from nnd.metric.likelihood.engine.attention.kernel import Choose
from nnd.metric.likelihood.engine.attention.kernel_choice import choose_fastest
from nnd.metric.likelihood.engine.attention.row_layout import Layout, to_device
from nnd.metric.likelihood.engine.batch_plan import Batch
from nnd.metric.likelihood.engine.head import log_probabilities, most_rows, sum_each
from nnd.metric.likelihood.engine.positions import own_positions
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.likelihood.models.replacement import replaced
from nnd.metric.text import Encoded, Ids

Score: TypeAlias = Callable[[Sequence[Encoded], Batch], torch.Tensor]
"""Scores a batch: float64 [requests], the sum of log P over the scored targets of each."""

_Array: TypeAlias = npt.NDArray[np.int64]


@contextmanager
def open_packed(loaded: LoadedModel, choose: Choose = choose_fastest) -> Iterator[Score]:
    """Prepare a model for packed rows, and restore it at the end.

    Raises:
        CannotPackError: If the model cannot be packed.
    """
    trunk = loaded.model.get_decoder()  # type: ignore[no-untyped-call]
    most = most_rows(loaded)
    with ExitStack() as stack:
        stack.enter_context(packed_attention(loaded.model))
        stack.enter_context(_fused_gelu(loaded.model))
        takes_positions = "position_ids" in inspect.signature(trunk.forward).parameters
        if loaded.is_encoder_decoder or not takes_positions:
            stack.enter_context(own_positions(loaded.model))

        def states(part: Any, ids: _Array, layout: Layout, **options: Any) -> torch.Tensor:  # noqa: ANN401 - an encoder or a decoder, and what it takes
            """Return the last hidden states [row, size] of an encoder or a decoder."""
            with laid_out(layout, choose):
                answer = part(input_ids=to_device(ids, loaded.device)[None], **options)
            last: torch.Tensor = answer.last_hidden_state[0]
            return last

        def score(rows: Sequence[Encoded], batch: Batch) -> torch.Tensor:
            # An empty context offers nothing to attend to, so its candidates come last.
            order = sorted(batch.requests, key=lambda number: not rows[number].context)
            members = [rows[number] for number in order]
            contexts, candidates = _by_context(members)
            ids = _end_to_end(member.inputs for member in members)
            scored = _end_to_end(member.scored for member in members) > 0
            options: dict[str, Any] = {"use_cache": False}
            if loaded.is_encoder_decoder:
                lengths = [*map(len, contexts)]
                encoder = Layout(lengths, causal=False, device=loaded.device)
                encoded = states(loaded.model.get_encoder(), _end_to_end(contexts), encoder)
                options["encoder_hidden_states"] = encoded[None]
                layout = Layout(candidates=candidates, encoded=lengths, device=loaded.device)
            else:
                begun = batch.beginning
                lengths = [len(context) - begun for context in contexts if context]
                layout = Layout(lengths, candidates, beginning=begun, device=loaded.device)
                own = _end_to_end(context[begun:] for context in contexts)
                ids = np.concatenate([_end_to_end([contexts[0][:begun]]), own, ids])
                if takes_positions:
                    options["position_ids"] = layout.position[None]
            hidden = states(trunk, ids, layout, **options)
            predict = layout.beginning + sum(layout.contexts) + np.flatnonzero(scored)
            targets = _end_to_end(member.targets for member in members)[scored]
            scores = log_probabilities(
                loaded,
                trunk,
                hidden[to_device(predict, hidden.device)],
                to_device(targets, hidden.device),
                most,
            )
            sums = sum_each(scores, [member.scored.count(True) for member in members])
            place = {number: at for at, number in enumerate(order)}
            return sums[to_device(np.array([*map(place.get, batch.requests)]), sums.device)]

        yield score


@contextmanager
def open_blocks(loaded: LoadedModel) -> Iterator[Score]:
    """Prepare a model for packed rows, without kernels that are specific to its device."""
    with open_packed(loaded, lambda *_: attend_blocks) as score:
        yield score


def _by_context(members: Sequence[Encoded]) -> tuple[list[Ids], list[list[int]]]:
    """Return the contexts of neighbours, and the lengths of the candidates of each."""
    contexts, candidates = [], []
    for context, same in groupby(members, attrgetter("context")):
        contexts.append(context)
        candidates.append([len(member.inputs) for member in same])
    return contexts, candidates


def _end_to_end(ids: Iterable[Iterable[int]]) -> _Array:
    return np.fromiter(chain.from_iterable(ids), dtype=np.int64)


@contextmanager
def _fused_gelu(model: torch.nn.Module) -> Iterator[None]:
    """Replace GPT-2's GELU (eight passes over its input) by torch's (one): the same formula."""
    fused = torch.nn.GELU(approximate="tanh").forward
    with ExitStack() as stack:
        for module in model.modules():
            if isinstance(module, NewGELUActivation):
                stack.enter_context(replaced(module, forward=fused))
        yield
