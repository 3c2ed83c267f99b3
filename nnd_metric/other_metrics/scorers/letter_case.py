"""Letter case: what reference metrics see of it, and comparing in lower case."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

import polars as pl

from nnd.metric.other_metrics.scorers.scorer import Text, TextScorer
from nnd.schemas import ScoringError, counted

Normalise: TypeAlias = Literal["lower"]
"""What is done to candidates and references before reference metrics compare them."""

_CASED = ("bleu", "chrf")
"""Scorers that tell capital letters from small ones; ROUGE does not."""

_NAMED = 3
"""Largest number of systems that are named."""


def in_lower_case(scorers: Sequence[TextScorer]) -> list[TextScorer]:
    """Return scorers, of which reference metrics compare candidates and references in lower case.

    Likelihoods and scorers without references read texts as they are.
    """
    chosen = [each.needs_references and not each.is_likelihood for each in scorers]
    if not any(chosen):
        raise ScoringError(
            "option.conflict",
            "normalise lower is for metrics that compare with references",
            remedy="leave it out, or add one, such as bleu",
        )
    return [_lowered(each) if lower else each for each, lower in zip(scorers, chosen, strict=True)]


def _lowered(scorer: TextScorer) -> TextScorer:
    def lowered(text: Text) -> Text:
        references = tuple(each.lower() for each in text.references)
        return text._replace(candidate=text.candidate.lower(), references=references)

    definition = "; ".join(filter(None, [scorer.definition, "in lower case"]))
    return replace(
        scorer, score=lambda texts: scorer.score([*map(lowered, texts)]), definition=definition
    )


def case_differs(candidates: pl.DataFrame, scorers: Sequence[TextScorer]) -> str | None:
    """Return a sentence if only some systems write capital letters and a scorer depends on it.

    The candidates have the columns candidate, and system (several joined by `|`, or null).
    """
    cased = " and ".join(each.name for each in scorers if each.name in _CASED)
    text = pl.col("candidate")
    systems = (
        candidates.drop_nulls("system")
        .with_columns(pl.col("system").str.split("|"))
        .explode("system")
        .group_by("system")
        .agg(
            capital=(text != text.str.to_lowercase()).any(),
            small=(text != text.str.to_uppercase()).any(),
        )
        .filter(pl.col("capital") | pl.col("small"))
        .sort("system")
    )
    capital = systems.filter("capital")["system"].to_list()
    lower = systems.filter(~pl.col("capital"))["system"].to_list()
    if not (cased and capital and lower):
        return None
    sides = ((capital, "have capital letters"), (lower, "are in lower case"))
    fewer, write = min(sides, key=lambda side: len(side[0]))
    named = ", ".join(fewer) if len(fewer) <= _NAMED else counted(len(fewer), "system")
    return (
        f"Of {systems.height} systems, only the candidates of {named} {write}, which changes "
        f"{cased}; --normalise lower ignores case."
    )
