"""From hidden states to log-probabilities, only where a target is scored, a few rows at a time.

A batch x length x vocabulary tensor never exists. The steps between a model's trunk and its logits
(a bias, a cap, a scale) are the model's own code: its trunk is made to return the given rows, and
the rest of its forward pass runs as usual.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from transformers.modeling_outputs import BaseModelOutput, BaseModelOutputWithPastAndCrossAttentions

from nnd.metric.likelihood.engine.attention.row_layout import to_device
from nnd.metric.likelihood.engine.memory import choose_logits
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.likelihood.models.replacement import replaced

_BYTES_ON_CPU = 2**24  # of logits: glibc maps 32 MB and more again each time
_ROWS = 8  # normalised at a time on a CPU: temporary values then fit into its caches
_COLUMNS = 1024  # of the vocabulary at a time on a CPU: all at once takes 1.5 times as long
_HALF_COLUMNS = 4096  # in half precision, whose matrix units need larger tiles


class _Answer(BaseModelOutputWithPastAndCrossAttentions):
    """The given last hidden states, as the answer of any trunk: all else it could have is None."""

    def __getattr__(self, name: str) -> None:
        if name.startswith("_"):
            raise AttributeError(name)


def most_rows(loaded: LoadedModel) -> int:
    """Return how many rows of logits may be held at once."""
    on_cpu = loaded.device.type == "cpu"
    limit = _BYTES_ON_CPU // loaded.model.dtype.itemsize if on_cpu else choose_logits(loaded)
    return max(1, limit // int(loaded.model.config.get_text_config().vocab_size))


def log_probabilities(
    loaded: LoadedModel,
    trunk: Any,  # noqa: ANN401 - whatever `get_decoder` answers
    hidden: torch.Tensor,
    targets: torch.Tensor,
    most: int,
) -> torch.Tensor:
    """Return log P of each target.

    Args:
        loaded: The model.
        trunk: Its `get_decoder()`, or `base_model` if it is masked, whose states the head reads.
        hidden: [n, size], the trunk's last hidden states at the positions that predict.
        targets: int64 [n], the ids to predict.
        most: How many rows of logits may be held at once (`most_rows`).

    Returns:
        float32 or better [n].
    """
    # All parts have the same number of rows: a small rest would cost the whole vocabulary once
    # more.
    parts = math.ceil(len(hidden) / most) or 1
    step = math.ceil(len(hidden) / parts) or 1
    made = [
        from_logits(_logits(loaded, trunk, some), ids)
        for some, ids in zip(torch.split(hidden, step), torch.split(targets, step), strict=True)
    ]
    return torch.cat(made)


def from_logits(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return log P of each target, float32 or better [n], from logits [n, vocabulary]."""
    rows = _ROWS if logits.device.type == "cpu" else max(1, len(logits))
    exact = torch.promote_types(logits.dtype, torch.float32)
    made = [
        some.log_softmax(-1, dtype=exact).gather(-1, ids[:, None])[:, 0]
        for some, ids in zip(torch.split(logits, rows), torch.split(targets, rows), strict=True)
    ]
    return torch.cat(made)


def sum_each(log_probabilities: torch.Tensor, lengths: Sequence[int]) -> torch.Tensor:
    """Return the sums, float64 [rows], of rows that are laid end to end.

    Numbers on a GPU are added there, so that nothing waits for it, and all others on the CPU. The
    order of addition is fixed on each, so that the same numbers have the same sum.
    """
    if log_probabilities.is_cuda:
        return _sum_each_there(log_probabilities, np.asarray(lengths, dtype=np.int64))
    whose = torch.arange(len(lengths)).repeat_interleave(torch.tensor(lengths))
    sums = torch.zeros(len(lengths), dtype=torch.float64)
    return sums.index_add(0, whose, log_probabilities.cpu().double())  # MPS has no float64


def _sum_each_there(
    log_probabilities: torch.Tensor, lengths: npt.NDArray[np.int64]
) -> torch.Tensor:
    """Do the same as `sum_each` on the device; rows are padded with zeros."""
    steps = np.arange(lengths.max(initial=0))
    starts = np.cumsum(lengths) - lengths
    places = np.where(steps < lengths[:, None], starts[:, None] + steps, lengths.sum())
    padded = nn.functional.pad(log_probabilities.double(), (0, 1))
    return padded[to_device(places, padded.device)].sum(1)


def _logits(loaded: LoadedModel, trunk: Any, hidden: torch.Tensor) -> torch.Tensor:  # noqa: ANN401 - as above
    ids = torch.zeros((1, len(hidden)), dtype=torch.long, device=hidden.device)
    answered = _Answer(last_hidden_state=hidden[None])
    with replaced(trunk, forward=lambda *_, **__: answered), _by_columns(loaded.model):
        if loaded.is_encoder_decoder:
            states = BaseModelOutput(last_hidden_state=hidden[None, :1])
            answer = loaded.model(encoder_outputs=states, decoder_input_ids=ids, use_cache=False)
        elif loaded.is_masked:
            answer = loaded.model(input_ids=ids)
        else:
            answer = loaded.model(input_ids=ids, use_cache=False)
    logits: torch.Tensor = answer.logits[0]
    return logits


@contextmanager
def _by_columns(model: Any) -> Iterator[None]:  # noqa: ANN401 - transformers' models
    """Let a CPU multiply by parts of the vocabulary: the same product, within its caches."""
    head = model.get_output_embeddings()
    if type(head) is not nn.Linear or head.weight.device.type != "cpu":
        yield
        return

    def product(hidden: torch.Tensor) -> torch.Tensor:
        rows = hidden.flatten(0, -2)
        logits = rows.new_empty((len(rows), head.out_features))
        columns = _COLUMNS if rows.dtype.itemsize > 2 else _HALF_COLUMNS  # noqa: PLR2004 - bytes
        for start in range(0, head.out_features, columns):
            some = slice(start, start + columns)
            torch.mm(rows, head.weight[some].T, out=logits[:, some])
        if head.bias is not None:
            logits += head.bias
        return logits.view(*hidden.shape[:-1], head.out_features)

    with replaced(head, forward=product):
        yield
