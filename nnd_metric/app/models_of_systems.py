"""The models behind the judged systems of a dataset, as far as they can be scored here."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from nnd.metric.app.any_data import find_data
from nnd.metric.data import find_place, names_in, read_human_scores
from nnd.metric.likelihood import Loading
from nnd.metric.run import check_scorable
from nnd.schemas import (
    MANIFEST,
    JudgedSystem,
    Printable,
    Record,
    ScoringError,
    counted,
    find_manifest,
    listed,
    read_systems,
    text_table,
)

if TYPE_CHECKING:
    from rich.table import Table

Certainty: TypeAlias = Literal["exact", "likely", "guess"]
_CERTAINTIES: tuple[Certainty, ...] = get_args(Certainty)


@dataclass(frozen=True, slots=True)
class SkippedSystem(Record):
    """A judged system whose model is not scored.

    Attributes:
        system: The system.
        model: The Hub id of its model.
        reason: Why it is not scored.
    """

    system: str
    model: str
    reason: str


@dataclass(frozen=True, slots=True, repr=False)
class JudgedModels(Printable):
    """The models behind the judged systems of a dataset.

    `evaluate(models, data, systems=systems, templates=templates)` scores them.

    Attributes:
        data: The dataset: a folder, or ORG/name on the Hub.
        models: The models that can be scored.
        systems: Name of a model in the results → the system that it stands for.
        templates: Name of a model → the template that it was trained on, where one is stated.
        skipped: The systems whose models are public but cannot be scored, or not in this way.
        without_model: The systems without a public model.
    """

    data: str
    models: tuple[str, ...]
    systems: Mapping[str, str]
    templates: Mapping[str, str]
    skipped: tuple[SkippedSystem, ...]
    without_model: tuple[str, ...]

    def headline(self) -> str:
        """Return how many of the judged systems are scored."""
        n = len(self.systems) + len(self.skipped) + len(self.without_model)
        return f"{len(self.systems)} of {counted(n, 'judged system')} can be scored here."

    def table(self) -> "Table | None":
        """Return the systems that are skipped, with the reason."""
        rows = [(each.system, f"{each.model}: {each.reason}") for each in self.skipped]
        return text_table(("skipped", "reason"), rows, prose=["reason"]) if rows else None

    def remarks(self) -> list[str]:
        """Return the systems without a public model."""
        names = listed([*self.without_model], 20)
        return [f"No public model: {names}."] if self.without_model else []


def judged_models(
    judged: str | Path,
    *,
    set_name: str | None = None,
    certainty: Certainty = "exact",
    any_size: bool = False,
    loading: Loading = Loading(),
) -> JudgedModels:
    """Find the models behind the judged systems of a dataset that can be scored on this machine.

    Configurations and tokenizers are loaded, but no weights.

    Args:
        judged: Score the models behind the judged systems of this dataset, each with the template
            that it was trained on: a built-in source, a converted folder, or ORG/name[@revision] on
            the Hub.
        set_name: Which set of the built-in source that --judged names. None means the main one.
        certainty: How certain it must be that a model is the one that was judged: exact, likely or
            guess, which includes the others.
        any_size: Whether to also score models that are larger than the memory of this machine.
        loading: How models are loaded.

    Raises:
        ScoringError: If the data does not say which systems were judged, or none can be scored.
    """
    data = find_data(str(judged), set_name)
    people = {*names_in(read_human_scores(data), "system")}
    systems = _read_systems(data)
    models: dict[str, str] = {}
    templates, skipped = {}, []
    for name, system in systems.items():
        model = system.checkpoint
        if model is None:
            continue
        reason = _why_unwanted(system, certainty)
        reason = reason or (None if name in people else "people did not judge it in this data")
        if reason is None and model in models:
            reason = f"its model also stands for {models[model]}"
        if reason is None:
            try:
                check_scorable(model, loading, any_size=any_size)
            except ScoringError as error:
                reason = str(error).removeprefix(f"{model}: ")
        if reason is not None:
            skipped.append(SkippedSystem(name, model, reason))
            continue
        models[model] = name
        if system.template is not None:
            templates[loading.called(model)] = system.template
    without = tuple(name for name, system in systems.items() if system.checkpoint is None)
    stands_for = {loading.called(model): name for model, name in models.items()}
    found = JudgedModels(data, (*models,), stands_for, templates, tuple(skipped), without)
    if not models:
        raise ScoringError(
            "judged.none-loads", f"none of the judged systems can be scored: {_why(found)}", judged
        )
    return found


def _read_systems(data: str) -> dict[str, JudgedSystem]:
    """Return the judged systems that the manifest of a dataset names."""
    source = find_manifest(find_place(data, [MANIFEST]).path).get("source")
    if not isinstance(source, Mapping) or "systems" not in source:
        raise ScoringError(
            "judged.none-loads",
            "the data does not say which systems were judged",
            data,
            "name a built-in source or a folder that `nnd convert` wrote, or name models "
            "with --model",
        )
    return {name: system for name, system in read_systems(source).items() if name != "*"}


def _why_unwanted(system: JudgedSystem, certainty: Certainty) -> str | None:
    """Return why a model is not scored wherever it fits, or None."""
    evidence = f": {system.evidence}" if system.evidence else ""
    if _CERTAINTIES.index(system.certainty) > _CERTAINTIES.index(certainty):
        how = "only likely" if system.certainty == "likely" else "a guess"
        return f"that this model was judged is {how}{evidence}"
    if not system.is_template_known:
        return f"its template is not known{evidence}"
    return None


def _why(found: JudgedModels) -> str:
    """Return why no model can be scored, each reason once."""
    models: dict[str, list[str]] = {}
    for each in found.skipped:
        models.setdefault(each.reason, []).append(each.model)
    if not models:
        return "none has a public model; name models with --model"
    return "; ".join(f"{listed(names, 3)}: {reason}" for reason, names in models.items())
