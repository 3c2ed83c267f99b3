"""What `nnd evaluate` does instead of scoring once: score under other choices, or not at all."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nnd.metric.cli.datasets import find_data
from nnd.schemas import ScoringError

if TYPE_CHECKING:
    from nnd.metric.cost import Estimate
    from nnd.metric.variation import Variation


def vary_choices(
    models: Sequence[str],
    data: Sequence[str],
    dimensions: str,
    *,
    alone: bool,
    **chosen: Any,  # noqa: ANN401 - options of `vary`, each of its own type
) -> "Variation":
    """Score one model on one dataset under other choices too.

    Args:
        models: As typed.
        data: As typed.
        dimensions: As typed.
        alone: Whether no option was given that only a plain evaluation takes.
        **chosen: Options of both.
    """
    from nnd.metric.variation import vary

    if not alone or len(models) > 1 or len(data) > 1:
        raise ScoringError(
            "--vary takes one --model and one --data; leave out the others, --human-scores, "
            "--system, --worker and --push-to-model-card"
        )
    return vary(models[0], find_data(data[0]), dimensions.split(","), **chosen)


def estimate_cost(
    models: Sequence[str],
    data: Sequence[str],
    *,
    alone: bool,
    **chosen: Any,  # noqa: ANN401 - as above
) -> "Estimate":
    """Return what an evaluation would cost.

    Args:
        models: As typed.
        data: As typed.
        alone: Whether no option was given that changes what is scored or by whom.
        **chosen: Options of `estimate`.
    """
    from nnd.metric import estimate

    if not alone:
        raise ScoringError("--dry-run knows the cost of a whole run; leave out --vary and --worker")
    return estimate(models, [find_data(name) for name in data], **chosen)
