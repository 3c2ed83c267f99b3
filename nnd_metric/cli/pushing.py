"""Results of `nnd evaluate` added to the cards of their models. Imports are local."""

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nnd.schemas import ScoringError

if TYPE_CHECKING:
    from nnd.metric.run import Sweep


def check_pushable_run(models: Sequence[str], typed: Mapping[str, Any]) -> None:
    """Refuse results that cannot go into a card, before the libraries of models are loaded."""
    from nnd.converters.hub import check_pushable
    from nnd.metric.likelihood import split_revision

    if not typed.keys().isdisjoint(("limit", "held_out", "checkpoints", "categories", "splits")):
        raise ScoringError(
            "hub.model-card",
            "--push-to-model-card publishes only results of whole datasets and finished models",
            remedy="leave out --split, --limit, --held-out, --category and --checkpoints",
        )
    if not typed.keys().isdisjoint(("loading_adapter", "loading_quantise")):
        raise ScoringError(
            "hub.model-card",
            "--push-to-model-card publishes only results of the model's own weights",
            remedy="leave out --adapter and --quantise",
        )
    for name, own in map(split_revision, models):
        check_pushable([name], own or typed.get("loading_revision"))


def push_run(found: "Sweep", models: Sequence[str]) -> None:
    """Send results to the cards of their models; messages go to stderr if --json is used.

    If the Hub refuses some of them, the others are sent before the error.
    """
    from nnd.cards import ScoredOn
    from nnd.converters.hub import push_results
    from nnd.metric.likelihood import name_models
    from nnd.schemas import PublishError

    names = name_models(models)
    of_models: dict[str, dict[ScoredOn, dict[str, Any]]] = {}
    for name, evaluation in found.evaluations.items():
        pairs = found.pairs[name]
        is_on_hub = "/" in pairs.name  # the name of a folder has no slash
        commit = (pairs.home or "").rpartition("@")[2] if is_on_hub else None
        split = dict(pairs.part).get("split")
        for result in evaluation.results:
            if result.model not in names:
                continue  # it was in the earlier run
            on = of_models.setdefault(result.model, {})
            on[ScoredOn(pairs.name, commit, split)] = result.to_dict()
    failed = []
    for model, results in of_models.items():
        try:
            pushed = push_results(model, results)
        except PublishError as error:
            failed.append(error)
            continue
        where = pushed.pull_request or "its card"
        print(
            f"{model}: pull request {where}"
            if pushed.sent
            else f"{model}: {where} has these results already",
            file=sys.stderr,
        )
    if len(failed) == 1:
        raise failed[0]
    if failed:
        problems = [": ".join(filter(None, (each.where, each.what))) for each in failed]
        remedies = dict.fromkeys(each.remedy for each in failed)
        raise PublishError(failed[0].code, "; ".join(problems), remedy="; ".join(remedies))
