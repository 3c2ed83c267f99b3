"""The paths through a model, fastest first.

The last is `alone`: one request at a time, without padding, and nothing is carried over to the
next. Its numbers are the model's by definition; every other path must give the same (`proof`).
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import torch

from nnd.metric.likelihood.engine.batch_plan import (
    Batch,
    Planner,
    plan_alone,
    plan_begun,
    plan_cached,
    plan_decoder,
    plan_encoder_decoder,
    plan_masked,
    plan_packed,
    plan_shared,
)
from nnd.metric.likelihood.engine.masked_path import open_masked
from nnd.metric.likelihood.engine.packed_path import Score, open_blocks, open_packed
from nnd.metric.likelihood.engine.padded_paths import (
    open_cached,
    score_one,
    score_plainly,
    score_shared,
)
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.text import Encoded

Open: TypeAlias = Callable[[LoadedModel], AbstractContextManager[Score]]


@dataclass(frozen=True, slots=True)
class Path:
    """A path through a model: it groups requests into batches, and prepares the model for them.

    `shares` says whether requests share their contexts, and `pads` whether short requests are
    padded beside longer ones.
    """

    name: str
    plan: Planner
    open: Open
    shares: bool = True
    pads: bool = True


def _ready(score: Callable[[LoadedModel, Sequence[Encoded], Batch], torch.Tensor]) -> Open:
    """Return an `open` that prepares nothing."""
    return lambda loaded: nullcontext(partial(score, loaded))


ALONE = Path("alone", plan_alone, _ready(score_one), shares=False, pads=False)
_DECODER_ONLY = (
    Path("packed", plan_begun, open_packed, pads=False),
    Path("cached", plan_cached, open_cached),
    Path("plain", plan_decoder, _ready(score_plainly), shares=False),
    ALONE,
)
_ENCODER_DECODER = (
    Path("packed", plan_packed, open_packed, pads=False),
    Path("shared", plan_shared, _ready(score_shared)),
    Path("plain", plan_encoder_decoder, _ready(score_plainly), shares=False),
    ALONE,
)
_MASKED = (Path("plain", plan_masked, open_masked, shares=False), ALONE)


def paths_of(loaded: LoadedModel) -> tuple[Path, ...]:
    """Return the paths for a model's kind, fastest first; the last is `ALONE`.

    Virtual tokens precede each text as a context does, so requests share nothing after them. If a
    device has its own attention kernels, `blocks` does the same without them.
    """
    if loaded.is_masked:
        return _MASKED
    paths: tuple[Path, ...] = _ENCODER_DECODER if loaded.is_encoder_decoder else _DECODER_ONLY
    if loaded.device.type == "cuda":
        blocks = replace(paths[0], name="blocks", open=open_blocks)
        paths = (paths[0], blocks, *paths[1:])
    return tuple(path for path in paths if not (path.shares and loaded.virtual_tokens))
