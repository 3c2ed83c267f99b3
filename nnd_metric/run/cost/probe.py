"""A probe: how fast a device computes with the shapes of a model that no run has measured.

A model of the same kind with two layers, a small vocabulary and random weights reads requests of
the data through the fastest path that it has, ever more of them at once, for about a third of a
second.
"""

import copy
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

import torch

from nnd.metric.likelihood import LoadedModel, Path, evaluation_mode, most_rows, paths_of
from nnd.metric.run.cost.flop_shapes import flop_shape
from nnd.metric.run.cost.flops import needed_flops
from nnd.metric.text import Encoded, Ids

_LAYERS: Final = 2
_VOCABULARY: Final = 8_192
_FIRST_TOKENS: Final = 64
_ENOUGH_S: Final = 0.1
"""Seconds of one batch that are enough to tell the speed."""

_COUNTS: Final = (
    *("num_hidden_layers", "num_layers", "num_decoder_layers", "encoder_layers", "decoder_layers"),
    *("num_encoder_layers", "n_layer"),
)
"""Fields of a config with a number of layers."""

_TOKENS: Final = ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id")


def probe_speed(loaded: LoadedModel, rows: Sequence[Encoded], budget: int) -> float | None:
    """Return the operations per second (`needed_flops`) that requests like these will reach.

    `budget` is the most positions at once. The result is None if there are no requests, or if the
    model cannot be made smaller: it reads images, say, or its config has another form.
    """
    if not rows or loaded.reads_images:
        return None
    folded = [_in_vocabulary(row) for row in rows]
    with suppress(Exception):  # models may raise anything at shapes they were not made for
        small = LoadedModel(_shallow(loaded), loaded.tokenizer, loaded.name)
        for path in paths_of(small):
            with suppress(Exception):  # nor is each path for every model
                return _measure(small, path, folded, budget)
    return None


def _measure(small: LoadedModel, path: Path, rows: Sequence[Encoded], budget: int) -> float:
    """Return the speed at the first number of positions that takes long enough."""
    tokens = _FIRST_TOKENS
    with evaluation_mode(small.model), path.open(small) as score:
        while True:
            batches = path.plan(rows, min(tokens, budget), most_rows(small))
            batch = batches[len(batches) // 2]
            times = list[float]()
            for _ in range(2):  # the first time, memory is fetched and kernels are chosen
                start = time.perf_counter()
                score(rows, batch).tolist()
                times.append(time.perf_counter() - start)
            seconds = min(times)
            if seconds >= _ENOUGH_S or tokens >= budget or len(batches) == 1:
                read = [rows[at] for at in batch.requests]
                return needed_flops(flop_shape(small), read) / seconds
            tokens *= 4


def _shallow(loaded: LoadedModel) -> Any:  # noqa: ANN401 - models share no type
    config = copy.deepcopy(loaded.model.config)
    whole = config.get_text_config().num_hidden_layers
    values = vars(config)
    for name, value in [*values.items()]:
        if name in _COUNTS and isinstance(value, int):
            setattr(config, name, min(value, _LAYERS))
        elif isinstance(value, list) and len(value) == whole:
            setattr(config, name, value[:_LAYERS])
    config.vocab_size = min(config.vocab_size, _VOCABULARY)
    for name in _TOKENS:
        if (token := getattr(config, name, None)) is not None and token >= config.vocab_size:
            setattr(config, name, 0)
    with torch.random.fork_rng(), torch.device(loaded.device):  # its weights are drawn
        model: Any = type(loaded.model)(config)
    return model.to(loaded.model.dtype)


def _in_vocabulary(row: Encoded) -> Encoded:
    def fold(ids: Ids) -> Ids:
        return tuple(each % _VOCABULARY for each in ids)

    return row._replace(
        context=fold(row.context), inputs=fold(row.inputs), targets=fold(row.targets)
    )
