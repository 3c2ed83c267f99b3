"""Lengths beyond which a model computes differently, as named in its config.

Two things follow. Requests on different sides of a length at which *all* positions change (LongRoPE
switches its frequencies, dynamic RoPE stretches them) never share a batch: each would change the
other's numbers. And the proof checks the requests nearest to every length that a config names: a
window, a chunk, a block, a limit of positions.
"""

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from transformers import PreTrainedModel

from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.text import Encoded

Side: TypeAlias = Callable[[int], Hashable]
"""Says on which side of its critical lengths a request is."""

_NAMES = re.compile("window|chunk|block|position|distance")
_STATIC = {None, "default", "linear", "llama3", "yarn", "proportional"}


def read_lengths(loaded: LoadedModel, rows: Sequence[Encoded]) -> npt.NDArray[np.int64]:
    """Return how many tokens each stack of a model reads of each request.

    The lengths are int64 [1, rows]; for an encoder-decoder [2, rows], those of the encoder first.
    """
    contexts = np.fromiter((len(row.context) for row in rows), np.int64, len(rows))
    inputs = np.fromiter((len(row.inputs) for row in rows), np.int64, len(rows))
    stacks = [contexts, inputs] if loaded.is_encoder_decoder else [contexts + inputs]
    return np.stack(stacks) + loaded.virtual_tokens


def side_of(loaded: LoadedModel) -> Side:
    """Return a function that is equal for lengths at which a model's positions mean the same."""
    limits = sorted({limit for config in _configs(loaded.model) for limit in _limits(config)})

    @cache
    def side(length: int) -> tuple[int, ...]:
        # Frequencies that grow with the length apply to one length only.
        return tuple((length if grows else 1) if length > limit else 0 for limit, grows in limits)

    return side


def crossed_lengths(loaded: LoadedModel, rows: Sequence[Encoded]) -> tuple[int, ...]:
    """Return the named lengths that some of the requests exceed and others do not."""
    lengths = read_lengths(loaded, rows)
    ranges = list(zip(lengths.min(axis=1).tolist(), lengths.max(axis=1).tolist(), strict=True))
    named = {length for part in _configs(loaded.model) for length in _named(part.to_dict())}
    return tuple(
        length for length in sorted(named) if any(least <= length < most for least, most in ranges)
    )


def _configs(model: PreTrainedModel) -> list[Any]:
    parts = [part.config for part in model.modules() if isinstance(part, PreTrainedModel)]
    return list({id(config): config for config in parts}.values())


def _limits(config: Any) -> Iterator[tuple[int, bool]]:  # noqa: ANN401 - any config
    """Yield lengths beyond which frequencies change, and whether these depend on the length."""
    ropes = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    by_layer = [value for value in ropes.values() if isinstance(value, Mapping)]
    for rope in by_layer or [ropes]:
        kind = rope.get("rope_type", rope.get("type"))
        if kind in _STATIC:
            continue
        grows = "dynamic" in kind
        named = "max_position_embeddings" if grows else "original_max_position_embeddings"
        limit = (None if grows else rope.get(named)) or getattr(config, named, None)
        if limit:
            yield int(limit), grows


def _named(value: object, name: str = "") -> Iterator[int]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _named(inner, str(key))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _named(inner, name)
    elif type(value) is int and value > 1 and _NAMES.search(name):
        yield value
