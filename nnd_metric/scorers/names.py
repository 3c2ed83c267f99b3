"""Scorers by name: what `nnd metrics --scorer NAME` can mean."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, TypeAlias

from nnd.metric.scorers.base import Text, TextScorer, length, overlap
from nnd.metric.scorers.reference import Several, bertscore, bleu, check_several, chrf, rouge
from nnd.schemas import ScoringError, did_you_mean

if TYPE_CHECKING:
    from nnd.metric.encoding import Request
    from nnd.metric.engine import Likelihoods
    from nnd.metric.models import LoadedModel
    from nnd.metric.scorers.likelihood import Direction

    _Load: TypeAlias = Callable[[str], LoadedModel]

WITHOUT_REFERENCES = {
    "length": TextScorer("length", length, "characters of the candidate"),
    "overlap": TextScorer(
        "overlap", overlap, "share of the candidate's words that are in the context"
    ),
}

WITH_REFERENCES: dict[str, Callable[[Several], TextScorer]] = {
    **{kind: partial(rouge, kind) for kind in ("rouge1", "rouge2", "rouge3", "rougeL")},
    "bleu": bleu,
    "chrf": chrf,
}

BERTSCORE, PROMPTED = "bertscore", "prompted"

BARTSCORES: dict[str, "Direction"] = {
    "bartscore_faithfulness": "faithfulness",
    "bartscore_precision": "precision",
    "bartscore_recall": "recall",
    "bartscore_f": "f",
}
"""With their direction."""


def plain_names(texts: Iterable[Text]) -> list[str]:
    """Return the scorers that need no model, without those that lack references."""
    have = any(text.references for text in texts)
    return [*(WITH_REFERENCES if have else ()), *WITHOUT_REFERENCES]


def find_scorers(
    names: Iterable[str], *, several: Several = "max", template: str = "default"
) -> list[TextScorer]:
    """Return the scorers of some names.

    Args:
        names: One of WITHOUT_REFERENCES or WITH_REFERENCES; `bertscore` or `bertscore=MODEL`; or
            `prompted` or one of BARTSCORES with a model, such as `bartscore_f=facebook/bart-base`.
            Models are loaded when they are used, one at a time.
        several: Which of several references counts: "max", "mean" or "first".
        template: Of `prompted`: a name, or a text with {placeholders} (see `templates`).

    Raises:
        ScoringError: If a name is not known, or lacks its model; when used, if the model cannot be
            loaded.
    """
    check_several(several)
    load = lru_cache(maxsize=1)(_load_model)  # several scorers of one model stand together
    return [_find(name, several, template, load) for name in names]


def _find(entry: str, several: Several, template: str, load: "_Load") -> TextScorer:
    name, _, model = entry.partition("=")
    if entry in WITHOUT_REFERENCES:
        return WITHOUT_REFERENCES[entry]
    if entry in WITH_REFERENCES:
        return WITH_REFERENCES[entry](several)
    if name == BERTSCORE:
        return bertscore(model, several=several) if model else bertscore(several=several)
    if name in (*BARTSCORES, PROMPTED) and model:
        return _with_model(entry, several, template, load)
    if name in (*BARTSCORES, PROMPTED):
        raise ScoringError(f'scorer "{name}" needs a model: {name}=MODEL, a Hub id or a folder')
    models = (f"{each}=MODEL" for each in (*BARTSCORES, PROMPTED))
    known = (*WITH_REFERENCES, *WITHOUT_REFERENCES, BERTSCORE, *models)
    raise ScoringError(
        f'there is no scorer "{entry}"{did_you_mean(entry, known)}; choose from {", ".join(known)}'
    )


def _with_model(entry: str, several: Several, template: str, load: "_Load") -> TextScorer:
    """Return a scorer whose model is loaded when it is first asked, not before."""
    from nnd.metric.encoding import find_template  # noqa: PLC0415
    from nnd.metric.engine import Engine  # noqa: PLC0415 - torch is slow to load, and ROUGE needs none
    from nnd.metric.scorers.likelihood import bartscore, prompted  # noqa: PLC0415

    name, _, model = entry.partition("=")
    chosen = find_template(template if name == PROMPTED else "default")
    protocol = "native" if name == PROMPTED else "bartscore"

    used = ""

    def engine(requests: "Sequence[Request]") -> "Likelihoods":
        nonlocal used
        loaded = load(model)
        used = used or f"{loaded.name}@{loaded.version()[:7]}, protocol {protocol}, {loaded.dtype}"
        return Engine(loaded, protocol=protocol, separator=chosen.separator)(requests)

    if name == PROMPTED:
        scorer = prompted(entry, engine, chosen)
    else:
        scorer = bartscore(entry, engine, BARTSCORES[name], several)
    return replace(scorer, made_with=lambda: used)


def _load_model(model: str) -> "LoadedModel":
    from nnd.metric.models import load_model  # noqa: PLC0415

    return load_model(model)
