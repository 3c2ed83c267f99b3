"""Results of `nnd evaluate` sent to their models' cards. Imports are inside, as in `cli`."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nnd.schemas import ScoringError

if TYPE_CHECKING:
    from nnd.metric import Sweep


def check_pushable_run(
    models: Sequence[str], revision: str | None, *, part: bool, changed: bool
) -> None:
    """Refuse results that no card takes, before the libraries of models are loaded."""
    from nnd.converters.publish import check_pushable
    from nnd.metric.models import split_revision

    if part:
        raise ScoringError(
            "--push-to-model-card: a part of the data, or of a training, gives no result to "
            "publish; leave out --limit, --held-out, --category and --checkpoints"
        )
    if changed:
        raise ScoringError(
            "--push-to-model-card: the results are not those of the model's own weights; leave out "
            "--adapter and --quantise"
        )
    for name, own in map(split_revision, models):
        check_pushable([name], own or revision)


def push_run(found: "Sweep", models: Sequence[str]) -> None:
    """Send results to their models; the lines about it leave standard output to --json.

    Raises:
        PublishError: If the Hub did not take some of them, once the others have been sent.
    """
    from nnd.cards import ScoredOn
    from nnd.converters.publish import push_results
    from nnd.schemas import PublishError

    of_models: dict[str, dict[ScoredOn, dict[str, Any]]] = {}
    for name, evaluation in found.evaluations.items():
        pairs = found.pairs[name]
        commit = pairs.version if "/" in pairs.name else None  # a folder's name has no slash
        for result in evaluation.results:
            if result.model not in models:
                continue  # it was in the run before
            on = of_models.setdefault(result.model, {})
            on[ScoredOn(pairs.name, commit)] = result.to_dict()
    failed = []
    for model, results in of_models.items():
        try:
            pushed = push_results(model, results)
        except PublishError as error:
            failed.append(str(error))
            continue
        where = pushed.pull_request or "its card"
        print(
            f"{model}: pull request {where}"
            if pushed.sent
            else f"{model}: {where} has these results already",
            file=sys.stderr,
        )
    if failed:
        raise PublishError("; ".join(failed))
