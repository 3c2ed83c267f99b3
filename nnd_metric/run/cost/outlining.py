"""The outline of a model with its network, or with a skeleton of it."""

from nnd.metric.likelihood import (
    LoadedModel,
    bytes_per_position,
    choose_budget,
    most_rows,
    paths_of,
)
from nnd.metric.run.cost.flop_shapes import flop_shape
from nnd.metric.run.cost.measured_speeds import speed_key
from nnd.metric.run.cost.model_outline import ModelOutline, OutlinedModel


def outline_of(loaded: LoadedModel) -> OutlinedModel:
    """Return the outline of a model, and its fastest plan."""
    outline = ModelOutline(
        device=str(loaded.device),
        dtype=loaded.dtype,
        parameters=loaded.parameters,
        weight_bytes=loaded.weight_bytes,
        position_bytes=bytes_per_position(loaded),
        budget=choose_budget(loaded),
        logit_rows=most_rows(loaded),
        speed_key=speed_key(loaded),
        flops=flop_shape(loaded),
    )
    return OutlinedModel(loaded, outline, paths_of(loaded)[0].plan)
