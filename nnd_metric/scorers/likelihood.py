"""Log-likelihoods as scorers: BARTScore's directions, and a prompt around the context."""

import logging
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from nnd.metric.encoding import Template, render
from nnd.metric.scorers.base import Text, TextScorer
from nnd.metric.scorers.reference import Several, against_references, over_references
from nnd.schemas import ScoringError

if TYPE_CHECKING:
    from nnd.metric.encoding import Request
    from nnd.metric.engine import Scorer

Direction: TypeAlias = Literal["faithfulness", "precision", "recall", "f"]
"""Context to candidate; reference to candidate; candidate to reference; mean of the last two."""

_log = logging.getLogger(__name__)

DIRECTIONS: tuple[Direction, ...] = ("faithfulness", "precision", "recall", "f")


def prompted(name: str, engine: "Scorer", template: Template) -> TextScorer:
    """Return the log-likelihood of the candidate given the context in a template, as a scorer.

    With an instruction around the context, such as "Summarise: {context}", this is what T0-Score
    is; with the default template, what the pass rates of an NND run are made of.

    Args:
        name: What tables call it.
        engine: An engine, or any callable of its shape.
        template: How contexts are rendered.
    """

    def score(texts: Sequence[Text]) -> list[float | None]:
        prompts = render(template, [text.context for text in texts], [t.parts for t in texts])
        return _ask(
            name,
            engine,
            [
                (prompt.context, prompt.candidate_prefix + text.candidate)
                for prompt, text in zip(prompts, texts, strict=True)
            ],
        )

    return TextScorer(name, score, f'log-likelihood given the context, template "{template.name}"')


def bartscore(
    name: str, engine: "Scorer", direction: Direction, several: Several = "max"
) -> TextScorer:
    """Return a direction of BARTScore: Yuan, Neubig and Liu (2021), as a scorer.

    F is the arithmetic mean of precision and recall against one reference (`avg_f` in the released
    results).

    Args:
        name: What tables call it.
        engine: An engine with protocol `bartscore`, or any callable of its shape.
        direction: faithfulness (context to candidate), precision (reference to candidate), recall
            (candidate to reference) or f.
        several: Which of several references counts; not used by faithfulness.

    Raises:
        ScoringError: If there is no such direction.
    """
    if direction not in DIRECTIONS:
        raise ScoringError(
            f'BARTScore has no direction "{direction}", only {", ".join(DIRECTIONS)}'
        )
    if direction == "faithfulness":
        return TextScorer(
            name,
            lambda texts: _ask(name, engine, [(text.context, text.candidate) for text in texts]),
            "BARTScore, context to candidate",
        )

    def compare(pairs: Sequence[tuple[str, str]]) -> list[float | None]:
        turned = [(candidate, reference) for reference, candidate in pairs]
        if direction == "precision":
            return _ask(name, engine, pairs)
        if direction == "recall":
            return _ask(name, engine, turned)
        both = zip(_ask(name, engine, pairs), _ask(name, engine, turned), strict=True)
        return [None if p is None or r is None else (p + r) / 2 for p, r in both]

    return TextScorer(
        name,
        lambda texts: against_references(compare, texts, several),
        f"BARTScore {direction}; {over_references(several)}",
        needs_references=True,
    )


def _ask(name: str, engine: "Scorer", requests: "Sequence[Request]") -> list[float | None]:
    """Return the likelihoods; NaN, which stands for no token to score, as None."""
    found = engine(requests)
    if cut := int(found.truncated.sum()):
        _log.warning("%s: %d of %d contexts were cut to the window", name, cut, len(requests))
    return [None if math.isnan(value) else float(value) for value in found.log_likelihood]
