"""Several models on several datasets: each model loaded once, and no failure ends the others' work.

A sweep resumes by being run again: likelihoods that an earlier one has computed are in the store
(`store`), so that finished work costs little more than loading the model, and what is written is
always what the models and the data are now.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from nnd.metric.agreement import agree_scored
from nnd.metric.data import (
    PairData,
    PairSet,
    match_systems,
    names_in,
    read_human_scores,
    read_pairs,
)
from nnd.metric.encoding import Keep, find_protocol, find_template
from nnd.metric.evaluation import Evaluation, Model, evaluate_models, name_models
from nnd.metric.models import LoadedModel, load_config, load_model
from nnd.schemas import ScoringError, ScoringWarning


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that a sweep had to do without.

    Attributes:
        model: The model, or None where a dataset cannot be read.
        dataset: The dataset, or None where a model cannot be loaded.
        reason: Why.
    """

    model: str | None
    dataset: str | None
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {"model": self.model, "dataset": self.dataset, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Sweep:
    """What several models did on several datasets.

    Attributes:
        evaluations: Dataset → what the models did on it that could be scored.
        pairs: Dataset → its pairs.
        failures: What could not be done.
    """

    evaluations: dict[str, Evaluation]
    pairs: dict[str, PairSet]
    failures: tuple[Failure, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values: an `Evaluation` for each dataset, and the failures."""
        return {
            "datasets": {name: found.to_dict() for name, found in self.evaluations.items()},
            "failures": [failure.to_dict() for failure in self.failures],
        }


def sweep(
    models: Sequence[Model],
    datasets: Sequence[PairData | PairSet],
    finished: Callable[[str, Evaluation], None] | None = None,
    *,
    protocol: str = "native",
    template: str = "default",
    keep: Keep | None = None,
    human_scores: PairData | None = None,
    systems: Mapping[str, str] | None = None,
    unconditional: bool = True,
    token_budget: int | None = None,
    cache: bool = True,
    revision: str | None = None,
    dtype: str | None = None,
    device: str | None = None,
    trust_remote_code: bool = False,
) -> Sweep:
    """Score the pairs of several datasets with several models, each loaded once.

    A model that cannot be loaded, a dataset that cannot be read, and a dataset that a model cannot
    score are told in a warning as they come, and left out. A single model on a single dataset that
    fails is an error.

    Args:
        models: Hub ids, folders, or loaded models.
        datasets: Pairs (see `data.read_pairs`).
        finished: Called at the end with the name and the evaluation of every dataset that has one;
            so, too, when the sweep is interrupted, with the models that were done by then. It is
            the place to write results (`Evaluation.write`).
        protocol: This and the other options are as for `evaluation.evaluate_models`.
        template: Name of a template, or a text with {placeholders}.
        keep: Which part of a context survives a cut to the window.
        human_scores: Human scores of the one dataset; None means those that come with each.
        systems: Model → system it stands for, in those datasets that have such a system.
        unconditional: Whether candidates are scored without their contexts too, as a baseline.
        token_budget: Tokens held at once; None means what memory allows.
        cache: Whether likelihoods are kept, and those of earlier runs taken.
        revision: Branch, tag or commit of every model named by Hub id.
        dtype: A torch dtype by name.
        device: A torch device.
        trust_remote_code: Whether code that lies beside the weights may run.

    Raises:
        ScoringError: If an option cannot be used, a model is named twice, or two datasets have one
            name; or if the only model fails on the only dataset.
    """
    names, keys = name_models(models), name_datasets(datasets)
    find_protocol(protocol)
    find_template(template)
    if human_scores is not None and len(keys) > 1:
        raise ScoringError(
            "human scores are of one dataset, and there are several; leave human_scores "
            "(--human-scores) out: those that come with each dataset are taken"
        )
    trouble = _Trouble(alone=len(names) == len(keys) == 1, failures=[])
    pairs = _read(keys, datasets, human_scores, trouble)
    _check_systems(names, pairs, systems or {})
    # A slip in a name shows now, not after the hours that the other models take.
    usable: dict[str, Model] = {}
    for name, model in zip(names, models, strict=True):
        with trouble.survived(name, None):
            if not isinstance(model, LoadedModel):
                load_config(model, revision=revision, trust_remote_code=trust_remote_code)
            usable[name] = model
    load = partial(
        load_model,
        revision=revision,
        dtype=dtype,
        device=device,
        trust_remote_code=trust_remote_code,
    )
    score = partial(
        evaluate_models,
        protocol=protocol,
        template=template,
        keep=keep,
        unconditional=unconditional,
        token_budget=token_budget,
        cache=cache,
    )
    done: dict[str, list[Evaluation]] = {key: [] for key in pairs}
    evaluations: dict[str, Evaluation] = {}
    try:
        for name, model in usable.items():  # no name here holds a model after its turn
            with trouble.survived(name, None):
                _score_all(
                    model if isinstance(model, LoadedModel) else load(model),
                    pairs,
                    score,
                    done,
                    trouble,
                )
    finally:  # what was done by then is kept when a sweep is interrupted
        for key, found in done.items():
            if found:
                evaluations[key] = _join(found, pairs[key].human_scores, systems or {})
                if finished is not None:
                    finished(key, evaluations[key])
    return Sweep(evaluations, pairs, tuple(trouble.failures))


def name_datasets(datasets: Sequence[PairData | PairSet]) -> list[str]:
    """Return what a sweep calls some datasets: names that folders can have.

    Raises:
        ScoringError: If there is none, or two have one name.
    """
    names = [_name(data) for data in datasets]
    if not names:
        raise ScoringError("there is no dataset to evaluate on; name at least one")
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise ScoringError(
            f'two datasets are called "{repeated[0]}"; name each once, or rename the folder of one'
        )
    return names


def _name(data: PairData | PairSet) -> str:
    if isinstance(data, PairSet):
        return data.name.replace("/", "--")
    if not isinstance(data, str | Path):
        return "frame" if isinstance(data, pl.DataFrame) else "dataset"
    path = Path(data)
    if path.is_dir():
        return path.resolve().name
    if path.is_file():
        return path.stem
    organisation, slash, name = str(data).partition("@")[0].rpartition("/")
    on_the_hub = slash and organisation.strip("./") and "/" not in organisation
    return f"{organisation}--{name}" if on_the_hub else name


@dataclass(frozen=True, slots=True)
class _Trouble:
    """What went wrong so far; `alone` says that there is nothing else to go on with."""

    alone: bool
    failures: list[Failure]

    @contextmanager
    def survived(self, model: str | None, dataset: str | None) -> Iterator[None]:
        """Note what goes wrong inside, and go on."""
        try:
            yield
        except Exception as error:  # models and their own code fail in any way
            if self.alone:
                raise
            reason = str(error) if isinstance(error, ScoringError) else repr(error)
            self.failures.append(Failure(model, dataset, reason))
            what = " on ".join(name for name in (model, dataset) if name is not None)
            told = reason if reason.startswith(what) else f"{what}: {reason}"
            warnings.warn(f"{told}; going on without it", ScoringWarning, stacklevel=2)


def _read(
    keys: Sequence[str],
    datasets: Sequence[PairData | PairSet],
    human_scores: PairData | None,
    trouble: _Trouble,
) -> dict[str, PairSet]:
    pairs: dict[str, PairSet] = {}
    for key, data in zip(keys, datasets, strict=True):
        with trouble.survived(None, key):
            found = data if isinstance(data, PairSet) else read_pairs(data)
            if human_scores is not None:
                found = replace(found, human_scores=read_human_scores(human_scores))
            pairs[key] = found
    return pairs


def _score_all(
    loaded: LoadedModel,
    pairs: Mapping[str, PairSet],
    score: Callable[[LoadedModel, PairSet], Evaluation],
    done: Mapping[str, list[Evaluation]],
    trouble: _Trouble,
) -> None:
    """Score every dataset with one model; agreement waits for the others."""
    for key, data in pairs.items():
        with trouble.survived(loaded.name, key):
            done[key].append(score(loaded, replace(data, human_scores=None)))


def _join(
    found: Sequence[Evaluation], people: pl.DataFrame | None, systems: Mapping[str, str]
) -> Evaluation:
    """Return the evaluation of several models from those of each."""
    results = tuple(result for each in found for result in each.results)
    scored = pl.concat([each.scored for each in found])
    names = [result.model for result in results]
    own = {} if people is None else _systems_in(people, systems, names)
    agreement, reason = agree_scored(scored, people, systems=own)
    return Evaluation(results, scored, agreement, reason)


def _check_systems(
    names: Sequence[str], pairs: Mapping[str, PairSet], systems: Mapping[str, str]
) -> None:
    """Find a mistake in `systems` before the long work."""
    judged = [each.human_scores for each in pairs.values() if each.human_scores is not None]
    known = [system for people in judged for system in names_in(people, "system")]
    unknown = [system for system in systems.values() if system not in known]
    if judged and unknown:
        raise ScoringError(f'there is no system "{unknown[0]}"; known: {", ".join(known)}')
    for people in judged:
        own = _systems_in(people, systems, [*systems])
        match_systems(names, people, own)


def _systems_in(
    people: pl.DataFrame, systems: Mapping[str, str], models: Sequence[str]
) -> dict[str, str]:
    """Return those choices that are of some models and of systems that were judged here."""
    known = names_in(people, "system")
    return {
        model: system for model, system in systems.items() if model in models and system in known
    }
