"""The summary of scored models on the same pairs, which every run and every merge ends with."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import polars as pl

from nnd.metric.data import STORED, STORED_SETS, TOKENS, PairSet, are_judged, choices_for
from nnd.metric.numbers import Agreement, agree_scored, find_effects
from nnd.metric.run.evaluation import EvaluatedModel, Evaluation
from nnd.metric.run.model_result import ModelResult, ScoredModel


def summarise_scored(
    data: PairSet,
    models: Sequence[ScoredModel],
    *,
    systems: Mapping[str, str],
    templates: Mapping[str, str],
    asks_agreement: bool = False,
) -> Evaluation:
    """Return what is known of some models whose rows are in memory (arguments of `summarise`)."""
    rows = pl.concat(each.pairs.select(*STORED) for each in models)
    judgements = data.judgements() if len(models) > 1 else None
    found = summarise(
        data,
        [each.result for each in models],
        pl.concat(each.children.select(*STORED_SETS) for each in models),
        ((each.result.model, each.pairs) for each in models),
        lambda own: agree_scored(rows, data.human_scores, systems=own, judgements=judgements),
        systems=systems,
        templates=templates,
        scored=rows,
        tokens=pl.concat(each.tokens for each in models),
        asks_agreement=asks_agreement,
    )
    return replace(found, costs=tuple(each.cost for each in models if each.cost is not None))


def summarise(
    data: PairSet,
    results: Sequence[ModelResult],
    children: pl.DataFrame,
    parents: Iterable[tuple[str, pl.DataFrame]],
    agree: Callable[[Mapping[str, str]], tuple[Agreement | None, str | None]],
    *,
    systems: Mapping[str, str],
    templates: Mapping[str, str],
    scored: pl.DataFrame,
    tokens: pl.DataFrame | None = None,
    asks_agreement: bool = False,
) -> Evaluation:
    """Return what is known of several models on the same pairs.

    Args:
        data: The pairs; their texts are not read.
        results: The results of the models.
        children: Scored pairs of the sets of a suite: columns of `STORED_SETS`.
        parents: Each model, with the human pairs as it scored them: the columns of PARENTS.
        agree: Computes the agreement with people for model → system, or says why there is none.
        systems: Model → system, as the user chose.
        templates: Model → template, as the user chose; other models may be named.
        scored: Scored pairs of all models: columns of `STORED`; none if they are too many.
        tokens: Stored tokens of all models: columns of `TOKENS`; None if they are not kept.
        asks_agreement: Whether the user asked for agreement with people (`Evaluation`).
    """
    people, names = data.human_scores, [each.model for each in results]
    own = {} if people is None else choices_for(people, systems, names)
    agreement, reason = agree(own)
    effects = find_effects(data.sets, parents, children)
    suites = {} if effects is None else effects.by_model
    return Evaluation(
        data=data.title,
        results=tuple(
            EvaluatedModel.extend(each, suite=suites.get(each.model, ())) for each in results
        ),
        scored=scored,
        tokens=pl.DataFrame(schema=TOKENS) if tokens is None else tokens,
        agreement=agreement,
        agreement_reason=reason,
        systems=own,
        templates={model: text for model, text in templates.items() if model in names},
        children=children,
        effects=effects,
        splits=data.splits,
        asks_agreement=asks_agreement or are_judged(names, people, own),
    )
