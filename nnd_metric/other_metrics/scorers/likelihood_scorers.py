"""Log-likelihoods as scorers: BARTScore, T0-Score, and any model with a prompt.

Yuan, Neubig and Liu (2021), BARTScore: a text is as good as a model finds it likely, given another.

    faithfulness   candidate given the context
    precision      candidate given a reference
    recall         reference given the candidate
    f              (P + R) / 2 of precision and recall against one reference; `avg_f` there
    f_harmonic     2PR / (P + R) of the same; `harm_f` there is PR / (P + R), half of it, which
                   correlates and ranks alike

Log-likelihoods are negative, so their harmonic mean is nearer to the better of the two, unlike that
of shares. With several references, F is computed for each; Yuan et al. take the maxima of P and R
separately.

A multilingual model is given the languages of both texts: those of context and candidate, and a
reference has that of the candidate.

A prompt goes around the text that is read (the template, whose {context} stands for it) or before
the text that is predicted (the prefix). As with BARTScore-PROMPT, a prefix is scored with the text:
the mean is over its tokens, too. The text that is read is never scored. An instruction around the
context makes the equivalent of T0-Score for any instructed model: that of the data (the template
`instruction`), or one of your own, such as "Summarise: {context}".
"""

import logging
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from nnd.metric.other_metrics.scorers.reference_scorers import (
    Several,
    against_references,
    by_group,
    over,
)
from nnd.metric.other_metrics.scorers.scorer import Text, TextScorer
from nnd.metric.text import (
    LanguageOptions,
    LanguageTeller,
    Template,
    find_template,
    language_teller,
    render,
)
from nnd.schemas import ScoringError, StoredContext

if TYPE_CHECKING:
    from nnd.metric.likelihood import Scorer

Direction: TypeAlias = Literal["faithfulness", "precision", "recall", "f", "f_harmonic"]
"""What is predicted from what (module docstring)."""

_log = logging.getLogger(__name__)

DIRECTIONS: tuple[Direction, ...] = get_args(Direction)


def _text(candidate: str, context: str, language: str | None) -> Text:
    return Text(candidate, context, language=language, context_language=language)


def likelihood(
    name: str,
    engine: "Scorer",
    direction: Direction = "faithfulness",
    *,
    template: Template | None = None,
    prefix: str = "",
    several: Several = "max",
    languages: LanguageOptions | None = None,
) -> TextScorer:
    """Return the log-likelihood of one text given another as a scorer.

    Args:
        name: What tables call it.
        engine: An engine (BARTScore's has protocol `bartscore`), or any callable of its shape. Its
            model, `loaded`, is given the languages of texts if it can be.
        direction: The direction of the prediction (module docstring).
        template: Template of the text that is read; None leaves it unchanged. Parts of the context
            can be placeholders for faithfulness only.
        prefix: Text before the predicted text, which is scored with it.
        several: How several references count; ignored by faithfulness.
        languages: What the user says of languages where the data does not, or not exactly.

    Raises:
        ScoringError: If the direction is unknown; when used, if a placeholder of the template
            has no text.
    """
    if direction not in DIRECTIONS:
        raise ScoringError(
            "option.unknown-value",
            f'unknown direction "{direction}"',
            remedy=f"choose from {', '.join(DIRECTIONS)}",
        )
    rendered = template or find_template("default")
    asked = languages or LanguageOptions()
    if direction != "faithfulness":  # a reference is in the language of the candidate
        asked = replace(asked, context_language=asked.language)

    def ask(texts: Sequence[Text]) -> list[float | None]:
        """Return the likelihood of candidates given contexts; NaN, for no token, as None."""
        contexts = [
            StoredContext(
                text.context, text.parts, text.kinds, text.language, text.context_language
            )
            for text in texts
        ]
        teller = _teller(engine, asked, rendered)
        prompts = render(replace(rendered, languages=teller), contexts)
        for note in teller.notes(contexts) if teller else ():
            _log.warning("%s: %s", name, note)
        found = engine(
            [
                (prompt.context, prefix + prompt.candidate_prefix + text.candidate)
                for prompt, text in zip(prompts, texts, strict=True)
            ]
        )
        if cut := int(found.truncated.sum()):
            _log.warning("%s: %d of %d contexts were cut to the window", name, cut, len(texts))
        return [None if math.isnan(value) else float(value) for value in found.log_likelihood]

    def compare(language: str | None, pairs: Sequence[tuple[str, str]]) -> list[float | None]:
        precision = [_text(candidate, reference, language) for reference, candidate in pairs]
        recall = [_text(reference, candidate, language) for reference, candidate in pairs]
        if direction in ("precision", "recall"):
            return ask(precision if direction == "precision" else recall)
        both = zip(ask(precision), ask(recall), strict=True)
        harmonic = direction == "f_harmonic"
        return [None if p is None or r is None else _mean(p, r, harmonic=harmonic) for p, r in both]

    def score(texts: Sequence[Text]) -> list[float | None]:
        is_told = _teller(engine, asked, rendered) is not None
        return by_group(
            texts,
            [text.language if is_told else None for text in texts],
            lambda language, own: against_references(partial(compare, language), own, several),
        )

    definition = _define(direction, rendered, prefix)
    if direction == "faithfulness":
        return TextScorer(name, ask, definition, is_likelihood=True)
    definition = f"{definition}; {over(several)}"
    return TextScorer(name, score, definition, needs_references=True, is_likelihood=True)


def _teller(engine: "Scorer", asked: LanguageOptions, template: Template) -> LanguageTeller | None:
    loaded = getattr(engine, "loaded", None)
    return loaded and language_teller(loaded, asked, template.literals)


def _define(direction: Direction, template: Template, prefix: str) -> str:
    prompts = [f'template "{template.name}"'] if template.variants else []
    if template.instruction is not None:
        prompts = [f'template "{template.name}" ({template.instruction})']
    prompts += [f'"{prefix}" before what is predicted'] if prefix else []
    what = f"log-likelihood, {direction}"
    if direction == "faithfulness":
        what = "log-likelihood of the candidate given the context"
    return "; ".join([what, *prompts])


def _mean(p: float, r: float, *, harmonic: bool) -> float:
    if harmonic:
        return 2 * p * r / (p + r) if p + r else 0.0
    return (p + r) / 2
