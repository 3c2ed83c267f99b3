"""What is asked of a run: models, the pairs to score, and how they are scored."""

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import fill
from typing import Any, TypeAlias, TypedDict, TypeVar, get_args, get_type_hints

from nnd.metric.data import (
    PairData,
    PairSet,
    choose_part,
    is_several,
    load_pairs,
    name_datasets,
    no_pairs,
    only_of_one,
    read_human_scores,
)
from nnd.metric.likelihood import Loading, Model, Scoring, list_models, name_models, scoring_of_each
from nnd.metric.numbers import PublishedPasses
from nnd.metric.run.survival import Trouble
from nnd.schemas import describe_fields

_Function = TypeVar("_Function", bound=Callable[..., object])

Dataset: TypeAlias = PairData | PairSet

_OPTIONS = "    **options: The other fields of `RunRequest`."
"""The entry of all options in a docstring."""


class PartOptions(TypedDict, total=False):
    """The options that every scoring takes; their types are those of `RunRequest`."""

    columns: Mapping[str, str] | None
    cluster: str | None
    splits: Sequence[str]
    limit: int | None
    categories: Sequence[str]
    held_out: float | None
    split_seed: int
    scoring: Scoring
    loading: Loading


class RunOptions(PartOptions, total=False):
    """The options that every scoring of several models takes."""

    human_scores: PairData | None
    systems: Mapping[str, str] | None
    templates: Mapping[str, str] | None


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What is asked of a run.

    Attributes:
        models: The models, as `evaluate` takes them.
        data: The pairs, as `evaluate` takes them.
        human_scores: Your own human scores for one dataset: a Parquet file, or data that comes with
            them. None means those that come with the data.
        systems: The human-judged system that a model stands for, if its id does not name it. In
            Python, model → system; with several datasets, it applies to those with such a system.
        templates: Model → template, for models whose template is not that of `scoring`.
        columns: Columns of a table of your own whose names nnd does not know, such as
            high=good,low=bad; also context, category, and any column of ours. In Python, a mapping.
        cluster: Column of a table of your own whose values say which pairs belong together, such as
            UID of BLiMP: intervals are over these. None means the contexts, or each pair without
            one.
        splits: Only pairs of these splits of the data. Empty means test, if the others are called
            train, validation, dev or the like and no share is held out, else all.
        limit: Score at most this many tests of each dataset, for a first look: up to three of each
            context, the same in every run.
        categories: Only pairs of these error categories.
        held_out: Only the contexts that `train` and `export` hold out if this share is for
            training.
        split_seed: Seed of the split by context.
        scoring: How pairs are scored.
        loading: How models are loaded.
        published: Model → the passes that others published for it, which its result repeats.
    """

    models: Model | Sequence[Model]
    data: Any
    human_scores: PairData | None = None
    systems: Mapping[str, str] | None = None
    templates: Mapping[str, str] | None = None
    columns: Mapping[str, str] | None = None
    cluster: str | None = None
    splits: Sequence[str] = ()
    limit: int | None = None
    categories: Sequence[str] = ()
    held_out: float | None = None
    split_seed: int = 0
    scoring: Scoring = Scoring()
    loading: Loading = Loading()
    published: Mapping[str, PublishedPasses] = field(default_factory=dict)

    def named_models(self) -> dict[str, Model]:
        """Return name in the results → model."""
        models = list_models(self.models)
        return dict(zip(name_models(models, self.loading), models, strict=True))

    def datasets(self) -> dict[str, Dataset]:
        """Return name in the results → dataset.

        Names must differ, and human scores may be given for one dataset only.
        """
        data = list(self.data) if is_several(self.data) else [self.data]
        datasets = dict(zip(name_datasets(data), data, strict=True))
        if self.human_scores is not None and len(datasets) > 1:
            raise only_of_one("human_scores")
        return datasets

    def scorings(self) -> dict[str, Scoring]:
        """Return name of a model → its scoring options, checked."""
        return scoring_of_each([*self.named_models()], self.scoring, self.templates or {})

    def load(self, data: Dataset) -> PairSet:
        """Return all pairs of a dataset."""
        return load_pairs(data, columns=self.columns, cluster=self.cluster)

    def part_of(self, pairs: PairSet) -> PairSet:
        """Return the pairs that are to be scored (errors as in `choose_part`)."""
        return choose_part(
            pairs,
            splits=self.splits,
            limit=self.limit,
            categories=self.categories,
            held_out=self.held_out,
            split_seed=self.split_seed,
        )

    def read_pairs(self, trouble: Trouble) -> dict[str, PairSet]:
        """Return the pairs of each dataset that are to be scored."""
        pairs: dict[str, PairSet] = {}
        for key, data in self.datasets().items():
            with trouble.survived(None, key):
                read = self.load(data)
                if isinstance(data, str | Path) and read.pairs.is_empty():
                    raise no_pairs(read.name)
                pairs[key] = self.with_own_scores(read)
        return {key: self.part_of(whole) for key, whole in pairs.items()}

    def with_own_scores(self, pairs: PairSet) -> PairSet:
        """Return pairs with the human scores of the request, if it has any."""
        if self.human_scores is None:
            return pairs
        return replace(pairs, human_scores=read_human_scores(self.human_scores), home=None)

    def find_models(self, trouble: Trouble, done: Collection[str] = ()) -> dict[str, Model]:
        """Return the models that exist, so that a typing error shows before hours of scoring.

        Those that are `done` are left out, and not looked for.
        """
        usable: dict[str, Model] = {}
        for name, model in self.named_models().items():
            if name in done:
                continue
            with trouble.survived(name, None):
                if isinstance(model, str | Path):
                    from nnd.metric.likelihood import load_config  # noqa: PLC0415 - imports torch

                    load_config(model, self.loading)
                usable[name] = model
        return usable


def with_run_options(function: _Function) -> _Function:
    """Show the options of a function one by one: of `**options: Unpack[RunOptions]`, or of a part.

    `help` and notebooks then show each with its default, and the sentence that `RunRequest` has on
    it in the place of the docstring's `**options: …`. Options are so described once.
    """
    own = inspect.signature(function)
    (taken,) = get_args(own.parameters["options"].annotation)
    kept = [each for each in own.parameters.values() if each.kind is not each.VAR_KEYWORD]
    options = [
        each.replace(kind=each.KEYWORD_ONLY)
        for name, each in inspect.signature(RunRequest).parameters.items()
        if name in get_type_hints(taken)
    ]
    described = describe_fields(RunRequest)
    sentences = [
        fill(f"{name}: {described[name]}", 96, initial_indent=" " * 4, subsequent_indent=" " * 8)
        for name in (each.name for each in options)
    ]
    text = inspect.cleandoc(function.__doc__ or "")
    function.__doc__ = text.replace(_OPTIONS, "\n".join(sentences))
    function.__signature__ = own.replace(parameters=[*kept, *options])  # type: ignore[attr-defined]
    return function
