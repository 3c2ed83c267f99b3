"""The ways through a model, fastest first, and the proof that a fast one gives the same numbers."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from nnd.metric.engine.packed import Score, open_packed
from nnd.metric.engine.plan import (
    Planner,
    plan_cached,
    plan_decoder,
    plan_encoder_decoder,
    plan_packed,
    plan_shared,
)
from nnd.metric.engine.unpacked import open_cached, open_plain, open_shared
from nnd.metric.models import LoadedModel

# How far a fast path may be from the plain one, in nats per scored token. Half precision rounds
# differently for every shape of a batch; the bounds are what models under test needed, and leave
# room for deeper ones.
BOUNDS = {"float64": 1e-4, "float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2}


@dataclass(frozen=True, slots=True)
class Path:
    """A way through a model.

    Attributes:
        name: What results call it.
        plan: Puts requests into batches.
        open: Prepares the model, and gives it back as it was.
    """

    name: str
    plan: Planner
    open: Callable[[LoadedModel], AbstractContextManager[Score]]


_DECODER_ONLY = (
    Path("packed", plan_packed, open_packed),
    Path("cached", plan_cached, open_cached),
    Path("plain", plan_decoder, open_plain),
)
_ENCODER_DECODER = (
    Path("packed", plan_packed, open_packed),
    Path("shared", plan_shared, open_shared),
    Path("plain", plan_encoder_decoder, open_plain),
)


def paths_of(loaded: LoadedModel) -> tuple[Path, ...]:
    """Return the paths of a model's kind, fastest first; the last is the plain one."""
    return _ENCODER_DECODER if loaded.is_encoder_decoder else _DECODER_ONLY
