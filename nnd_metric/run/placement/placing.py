"""Choose between scoring models one after the other and side by side."""

from collections.abc import Generator, Mapping

from nnd.metric.data import PairSet
from nnd.metric.likelihood import LoadedModel, Loading, Model, Scoring
from nnd.metric.run.model_result import Scored
from nnd.metric.run.placement.in_turn import score_in_turn
from nnd.metric.run.placement.schedule import find_devices
from nnd.metric.run.placement.side_by_side import score_side_by_side
from nnd.metric.run.survival import Trouble


def score_models(
    models: Mapping[str, Model],
    pairs: Mapping[str, PairSet],
    scorings: Mapping[str, Scoring],
    loading: Loading,
    trouble: Trouble,
) -> Generator[tuple[str, Scored]]:
    """Score every model on every dataset; yield each dataset's name with the scores of one model.

    Models are scored side by side if there are several, all given by name, and several GPUs, and if
    `loading` does not choose a device; otherwise they are scored one after the other.

    Args:
        models: Name → model.
        pairs: Dataset → its pairs.
        scorings: Name of a model → its scoring options.
        loading: Loading options of all models.
        trouble: Records the failures.
    """
    named = {
        name: str(model) for name, model in models.items() if not isinstance(model, LoadedModel)
    }
    has_device = loading.device is not None or loading.device_map is not None
    if not has_device and len(models) == len(named) > 1 and len(devices := find_devices()) > 1:
        return score_side_by_side(named, pairs, scorings, loading, trouble, devices=devices)
    return score_in_turn(models, pairs, scorings, loading, trouble)
