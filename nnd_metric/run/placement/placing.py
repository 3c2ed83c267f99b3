"""Choose between scoring models one after the other and side by side."""

from collections.abc import Generator

from nnd.metric.likelihood import LoadedModel
from nnd.metric.run.model_result import ScoredModel
from nnd.metric.run.placement.in_turn import ScoringTask, score_in_turn
from nnd.metric.run.placement.schedule import find_devices
from nnd.metric.run.placement.side_by_side import score_side_by_side


def score_models(task: ScoringTask) -> Generator[tuple[str, ScoredModel]]:
    """Score every model on every dataset; yield each dataset's name with the scores of one model.

    Models are scored side by side if there are several, all given by name, and several GPUs, and if
    the user does not choose a device; otherwise they are scored one after the other.
    """
    models = task.models.values()
    are_named = not any(isinstance(model, LoadedModel) for model in models)
    has_device = task.loading.device is not None or task.loading.device_map is not None
    if are_named and not has_device and len(models) > 1 and len(devices := find_devices()) > 1:
        return score_side_by_side(task, devices)
    return score_in_turn(task)
