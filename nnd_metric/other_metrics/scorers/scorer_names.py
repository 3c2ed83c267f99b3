"""Scorers by name, as in `nnd metrics --scorer NAME`."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from nnd.metric.other_metrics.scorers.evaluate_library import evaluated
from nnd.metric.other_metrics.scorers.likelihood_scorers import DIRECTIONS, Direction, likelihood
from nnd.metric.other_metrics.scorers.reference_scorers import (
    BERTSCORE,
    ENGLISH_BERT,
    Several,
    bertscore,
    bleu,
    check_several,
    chrf,
    rouge,
)
from nnd.metric.other_metrics.scorers.scorer import Text, TextScorer, length, overlap
from nnd.metric.text import LanguageOptions, Template, ToldContext, find_plain_template
from nnd.schemas import Instruction, ScoringError, did_you_mean

if TYPE_CHECKING:
    from nnd.metric.likelihood import Likelihoods, LoadedModel
    from nnd.metric.text import Request

    _Load: TypeAlias = Callable[[str], LoadedModel]

AnyScorer: TypeAlias = str | TextScorer | Callable[[Sequence[Text]], Sequence[float | None]]
"""A scorer as a name, a named scorer, or a function."""

WITHOUT_REFERENCES = {
    "length": TextScorer("length", length, "characters of the candidate"),
    "overlap": TextScorer(
        "overlap",
        overlap,
        "share of the candidate's words (characters, without spaces) that occur in the context",
    ),
}

_CONSTANT = TextScorer(
    "constant", lambda texts: [0.0] * len(texts), "the same number for every candidate"
)

WITH_REFERENCES: dict[str, Callable[[Several], TextScorer]] = {
    **{kind: partial(rouge, kind) for kind in ("rouge1", "rouge2", "rouge3", "rougeL")},
    "bleu": bleu,
    "chrf": chrf,
}

EVALUATE, REWARD = "evaluate", "reward"

_PROTOCOLS = {"bartscore": "bartscore", "prompted": "native"}

LIKELIHOODS: dict[str, tuple[str, Direction]] = {
    "prompted": ("native", "faithfulness"),
    **{
        f"{family}_{direction}": (protocol, direction)
        for family, protocol in _PROTOCOLS.items()
        for direction in DIRECTIONS
    },
}
"""Name → protocol and direction; a model follows, as in `bartscore_f=facebook/bart-base`."""


def plain_names(texts: Iterable[Text]) -> list[str]:
    """Return the scorers that need no model; those with references only if there are any."""
    have = any(text.references for text in texts)
    return [*(WITH_REFERENCES if have else ()), *WITHOUT_REFERENCES]


def with_trivial(scorers: Sequence[TextScorer]) -> list[TextScorer]:
    """Add a constant and length to scorers, unless they are among them."""
    names = {scorer.name for scorer in scorers}
    trivial = (_CONSTANT, WITHOUT_REFERENCES["length"])
    return [*scorers, *(each for each in trivial if each.name not in names)]


def find_scorers(
    scorers: Iterable[AnyScorer],
    *,
    several: Several = "max",
    template: str = "default",
    prefix: str = "",
    instruction: Instruction | None = None,
    languages: LanguageOptions | None = None,
) -> list[TextScorer]:
    """Return scorers, those that are given by name and others.

    Args:
        scorers: Functions, named scorers, or names: one of WITHOUT_REFERENCES or WITH_REFERENCES;
            `bertscore` or `bertscore=MODEL`; one of LIKELIHOODS with a model, such as
            `bartscore_f=facebook/bart-base`; `reward=MODEL[:label]` (`reward_models`); or
            `evaluate=NAME[:key]` (`evaluated`). Models are loaded when they are used, one at a
            time.
        several: How several references count: "max", "mean" or "first".
        template: For LIKELIHOODS: a name, or a text with {placeholders} (see `templates`).
        prefix: For LIKELIHOODS: text before the predicted text, which is scored with it.
        instruction: The instruction of the data, for the template `instruction`, and for reward
            models.
        languages: For LIKELIHOODS of multilingual models: the languages that the data does not say,
            or not exactly enough.

    Raises:
        ScoringError: If a name is unknown, or lacks its model, or a prompt was given that no scorer
            uses, or something is not a scorer; when used, if the model cannot be loaded.
    """
    check_several(several)
    entries = list(scorers)
    names = [entry.partition("=")[0] for entry in entries if isinstance(entry, str)]
    models_are_used = any(name in LIKELIHOODS for name in names)
    if (template != "default" or prefix) and not models_are_used:
        raise ScoringError(
            "option.conflict",
            "none of the scorers uses a template or prefix",
            remedy="leave them out, or add a scorer that does, such as prompted=MODEL or "
            "bartscore_f=MODEL",
        )
    with_model = partial(
        _with_model,
        several=several,
        template=find_plain_template(template, instruction),
        prefix=prefix,
        languages=languages,
        load=lru_cache(maxsize=1)(_load_model),  # scorers with the same model are adjacent
    )
    return [
        _reward(entry, instruction)
        if isinstance(entry, str) and entry.startswith(f"{REWARD}=")
        else _find(entry, several, with_model)
        for entry in entries
    ]


def _find(
    entry: AnyScorer, several: Several, with_model: Callable[[str], TextScorer]
) -> TextScorer:
    if isinstance(entry, TextScorer):
        return entry
    if callable(entry):
        return TextScorer(getattr(entry, "__name__", type(entry).__name__), entry)
    if not isinstance(entry, str):
        raise ScoringError(
            "option.unknown-value",
            f"{entry!r} is not a scorer",
            remedy="give a name, a function of texts, or a TextScorer",
        )
    name, _, given = entry.partition("=")
    if entry in WITHOUT_REFERENCES:
        return WITHOUT_REFERENCES[entry]
    if entry in WITH_REFERENCES:
        return WITH_REFERENCES[entry](several)
    if name == BERTSCORE:
        return bertscore(given or ENGLISH_BERT, several=several)
    if given and name in (EVALUATE, *LIKELIHOODS):
        return evaluated(given, several) if name == EVALUATE else with_model(entry)
    if name in (REWARD, *LIKELIHOODS):
        raise ScoringError(
            "option.needs-another",
            f'scorer "{name}" needs a model',
            remedy=f"write {name}=MODEL, with a Hub id or a folder",
        )
    known = (*WITH_REFERENCES, *WITHOUT_REFERENCES, BERTSCORE)
    models = (f"{each}=MODEL" for each in (REWARD, *LIKELIHOODS))
    raise ScoringError(
        "option.unknown-value",
        f'unknown scorer "{entry}"{did_you_mean(entry, [*known, *models])}',
        remedy=f"choose from {', '.join(known)}, {EVALUATE}=NAME, {REWARD}=MODEL, "
        "bartscore_DIRECTION=MODEL, prompted_DIRECTION=MODEL "
        f"(a DIRECTION is {', '.join(DIRECTIONS)})",
    )


def _with_model(
    entry: str,
    *,
    several: Several,
    template: Template,
    prefix: str,
    languages: LanguageOptions | None,
    load: "_Load",
) -> TextScorer:
    """Return a scorer whose model is loaded at first use."""
    name, _, model = entry.partition("=")
    protocol, direction = LIKELIHOODS[name]
    engine = _LazyEngine(lambda: load(model), protocol, template.separator)
    scorer = likelihood(
        entry,
        engine,
        direction,
        template=template,
        prefix=prefix,
        several=several,
        languages=languages,
    )
    return replace(scorer, made_with=engine.made_with)


@dataclass(slots=True)
class _LazyEngine:
    """An engine whose model is loaded at first use, and what it did so far."""

    load: "Callable[[], LoadedModel]"
    protocol: str
    separator: str
    used: str = ""
    asked: int = 0
    cut: int = 0
    languages: set[str] = field(default_factory=set)

    @property
    def loaded(self) -> "LoadedModel":
        return self.load()

    def __call__(self, requests: "Sequence[Request]") -> "Likelihoods":
        from nnd.metric.likelihood import (  # noqa: PLC0415 - torch is slow to load, and ROUGE needs none
            Engine,
        )

        loaded = self.loaded
        version = loaded.version()[:7]
        self.used = f"{loaded.name}@{version}, protocol {self.protocol}, {loaded.dtype}"
        found = Engine(loaded, protocol=self.protocol, separator=self.separator)(requests)
        self.asked += len(requests)
        self.cut += int(found.truncated.sum())
        told = (context for context, _ in requests if isinstance(context, ToldContext))
        self.languages |= {str(each.languages) for each in told}
        return found

    def made_with(self) -> str:
        """Return the version of the model, and the languages of the texts, and what was cut."""
        languages = ", ".join(sorted(self.languages))
        spoken = [f"languages {languages}"] if languages else []
        cut = [f"{self.cut:,} of {self.asked:,} texts cut to the window"] if self.cut else []
        return ", ".join([self.used, *spoken, *cut])


def _reward(entry: str, instruction: Instruction | None) -> TextScorer:
    """Return a reward model as a scorer; it is loaded when it is used, and then let go."""
    given = entry.partition("=")[2]
    model, label = given, ""
    if ":" in given and not Path(given).exists():
        model, _, label = given.rpartition(":")
    used = ""

    def score(texts: Sequence[Text]) -> list[float | None]:
        nonlocal used
        from nnd.metric.likelihood import load_classifier  # noqa: PLC0415 - torch is slow to load
        from nnd.metric.other_metrics.scorers.reward_models import rewards  # noqa: PLC0415

        loaded = load_classifier(model)
        values, cut = rewards(loaded, texts, instruction, label)
        used = f"{loaded.name}@{loaded.version()[:7]}, {loaded.dtype}"
        used += f", {cut:,} of {len(texts):,} contexts cut to the window" if cut else ""
        return values

    definition = "logit of a classifier that reads context and candidate as a chat"
    return TextScorer(entry, score, definition, made_with=lambda: used)


def _load_model(model: str) -> "LoadedModel":
    from nnd.metric.likelihood import load_model, pin_version  # noqa: PLC0415

    return pin_version(load_model(model), remember=False)
