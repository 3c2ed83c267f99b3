"""Results of models on one dataset (`Evaluation`), and on several (`Sweep`)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import polars as pl

from nnd.metric.data import (
    LIKELIHOODS,
    LIMITED,
    RESULT,
    SETS,
    STORED_SETS,
    TOKENS,
    TOKENS_FILE,
    WITH_EQUAL_TEXTS,
    PairSet,
)
from nnd.metric.numbers import (
    Agreement,
    Effects,
    Result,
    SetEffect,
    brief_caveat,
    describe_reading,
    describe_readings,
    few_clusters,
    find_protocols,
    manner_of,
    over_clusters,
    percent,
    rate_frame,
    short_names,
    tell_readings,
    tests_of,
)
from nnd.metric.run.model_cost import COST, ModelCost, cost_bytes
from nnd.metric.run.model_result import ModelResult
from nnd.metric.run.survival import Failure
from nnd.schemas import (
    SPARSE,
    UNSTORED,
    Limit,
    Printable,
    ScoringError,
    StoredAs,
    counted,
    parquet_bytes,
    write_folder,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatedModel(ModelResult):
    """The result of one model among several.

    Attributes:
        suite: The effect of each set of a suite on the pass rate, in the order of the suite, if the
            data is one.
    """

    suite: Annotated[tuple[SetEffect, ...], SPARSE] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Evaluation(Result):
    """Results of several models on the same pairs.

    Attributes:
        data: Name of the pairs.
        results: One per model, in the order of the request.
        scored: Per-pair log-likelihoods of all models: `model` and the columns of
            `SCORED_SCHEMA`; none in what `merge` returns.
        agreement: Agreement between pass rates and human scores, or None.
        agreement_reason: Why there is no agreement, or None.
        systems: Model → system it stands for, as given by the user. Older runs lack it.
        templates: Model → template the user chose for it alone. Older runs lack it.
        children: Per-pair log-likelihoods of the sets of a suite: columns of `STORED_SETS`.
        tokens: Log-likelihoods of tokens: columns of `TOKENS`; none unless they are kept.
        effects: The effects of the sets of a suite, or None if the data is not a suite.
        splits: The splits of the data that were scored; empty if it has no splits. Older runs lack
            it: they are of all splits.
        asks_agreement: Whether people judged a model, or human scores or systems were named; else
            a missing agreement is not mentioned.
        costs: What the results cost, as far as that is known.
    """

    data: Annotated[str, UNSTORED]
    results: Annotated[tuple[EvaluatedModel, ...], Limit("minItems", 1)]
    scored: Annotated[pl.DataFrame, UNSTORED]
    agreement: Agreement | None
    agreement_reason: str | None
    systems: Mapping[str, str] = field(default_factory=dict)
    templates: Mapping[str, str] = field(default_factory=dict)
    children: Annotated[pl.DataFrame, UNSTORED] = field(
        default_factory=lambda: pl.DataFrame(schema=STORED_SETS)
    )
    tokens: Annotated[pl.DataFrame, UNSTORED] = field(
        default_factory=lambda: pl.DataFrame(schema=TOKENS)
    )
    effects: Annotated[Effects | None, UNSTORED] = None
    splits: tuple[str, ...] = ()
    asks_agreement: Annotated[bool, UNSTORED] = False
    costs: Annotated[tuple[ModelCost, ...], UNSTORED] = ()

    def headline(self) -> str:
        """Return a sentence that names the model with the highest pass rate."""
        rates = {each.model: each.rates.overall for each in self.results}
        most = max(rate.passes for rate in rates.values())
        best = [model for model, rate in rates.items() if rate.passes == most]
        rate = rates[best[0]].to_dict()
        if not rate["n"]:
            return f"There are no tests in {self.data}."
        names = dict(zip(rates, short_names([*rates]), strict=True))
        passing = " and ".join(names[model] for model in best)
        bounds = rate["interval"] if len(best) == 1 else None
        interval = "" if bounds is None else f" [{percent(bounds[0])}, {percent(bounds[1])}]"
        others = f", the highest of {len(rates)} models" if len(rates) > len(best) else ""
        return (
            f"{passing} {'passes' if len(best) == 1 else 'pass'} {percent(rate['pass_rate'])} % of "
            f"{tests_of(rate['n'], self.results[0].n_whole)}{self._over()}{interval} on "
            f"{self.data}{others}."
        )

    def _over(self) -> str:
        first = self.results[0]
        return over_clusters(first.rates.overall, first.cluster)

    def best_first(self) -> list[EvaluatedModel]:
        """Return the results as people read them; ties keep the order of the request."""
        return sorted(self.results, key=lambda each: -(each.rates.overall.pass_rate or 0.0))

    def readings(self) -> str:
        """Return a sentence on how contexts were read."""
        results = self.best_first()
        names = short_names([each.model for each in results])
        readings = [describe_reading(each.to_dict()) for each in results]
        return describe_readings(dict(zip(names, readings, strict=True)))

    def languages(self) -> list[str]:
        """Return a sentence for each model that was given languages."""
        results = self.best_first()
        names = short_names([each.model for each in results])
        told = zip(names, (each.languages for each in results), strict=True)
        return [
            f"{name} was given the language{'' if len(each.given) == 1 else 's'} "
            f"{', '.join(each.given)}."
            for name, each in told
            if each is not None and each.given
        ]

    def requests(self) -> Iterator[str]:
        """Yield for each model why contexts were read as they were, and the first request."""
        for each in self.best_first():
            if each.chat is not None:
                yield f"{each.model}: {each.chat.reason}"
            if each.request is not None:
                yield f"the first request to {each.model}, up to the candidate:"
                yield each.request.context
                yield f"and the candidate: {each.request.candidate}"

    def caveats(self) -> list[str]:
        """Return which pairs were dropped, and at most one caveat for each model."""
        results = self.best_first()
        names = short_names([each.model for each in results])
        of_data = [n for n in results[0].notes if WITH_EQUAL_TEXTS in n or n == LIMITED]
        if few := few_clusters(results[0].rates.overall, results[0].cluster):
            of_data.append(few)
        of_models = [
            brief_caveat(each.rates.overall, [n for n in each.notes if n not in of_data])
            for each in results
        ]
        lines = (
            f"{name}: {caveat}" for name, caveat in zip(names, of_models, strict=True) if caveat
        )
        contexts = f"{LIMITED}, of {counted(results[0].rates.overall.contexts, 'context')}"
        return [*(contexts if note == LIMITED else note for note in of_data), *lines]

    def to_frame(self) -> pl.DataFrame:
        """Return a row per model and slice (`rate_frame`)."""
        return rate_frame({each.model: each.rates for each in self.results})

    def write(self, folder: str | Path) -> None:
        """Write a folder of result.json and log_likelihoods.parquet, or replace an older one.

        The run of a suite also has sets.parquet, the log-likelihoods of its sets; if tokens are
        kept, tokens.parquet has theirs. cost.json says what the results cost, as far as that is
        known.

        Raises:
            NNDError: If the folder holds anything that nnd did not write, or cannot be written, or
                if the rows are not in memory, as in what `merge` returns.
        """
        if self.scored.is_empty() and any(each.rates.n_pairs for each in self.results):
            raise ScoringError(
                "run.already-merged",
                "cannot write a merged run, because its rows are not in memory",
                folder,
                "copy the folder that `merge` wrote",
            )
        files = {LIKELIHOODS: parquet_bytes(self.scored)}
        if self.effects is not None:
            files[SETS] = parquet_bytes(self.children)
        if not self.tokens.is_empty():
            files[TOKENS_FILE] = parquet_bytes(self.tokens)
        costs = {COST: cost_bytes(self.costs)} if self.costs else {}
        write_folder(Path(folder), self.to_dict(), document=RESULT, files=files, unlisted=costs)


@dataclass(frozen=True, slots=True, repr=False)
class Sweep(Result):
    """Results of several models on several datasets.

    Attributes:
        evaluations: Dataset → results of the models that could be scored on it.
        pairs: Dataset → its pairs.
        failures: Models and datasets that were left out.
        folders: Dataset → the folder its results were written to, if any.
        scorers: Dataset → the scorers of a list of runs on it, if it has some.
    """

    evaluations: Annotated[dict[str, Evaluation], StoredAs("datasets")]
    pairs: Annotated[dict[str, PairSet], UNSTORED]
    failures: tuple[Failure, ...]
    folders: Annotated[dict[str, Path], UNSTORED] = field(default_factory=dict)
    scorers: Annotated[Mapping[str, Printable], SPARSE] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether every model was scored on every dataset."""
        return not self.failures

    def readings_of_one(self) -> Evaluation | None:
        """Return the readings of one model on one dataset as if they were models, else None."""
        results = [result for each in self.evaluations.values() for result in each.results]
        manners = [manner_of(result.to_dict()) for result in results]
        ways = tell_readings(manners)
        if not ways or self.failures or len(find_protocols(manners)) > 1:
            return None
        data = {(self.pairs[key].version, each.splits) for key, each in self.evaluations.items()}
        if len(data) > 1:
            return None
        named = (replace(result, model=way) for result, way in zip(results, ways, strict=True))
        first = next(iter(self.evaluations.values()))
        return replace(first, results=tuple(named), agreement=None, asks_agreement=False)

    def headline(self) -> str:
        """Return the numbers of models, datasets and failures, or the best reading of a model."""
        if (readings := self.readings_of_one()) is not None:
            best = readings.best_first()[0]
            (model,) = {each.model for found in self.evaluations.values() for each in found.results}
            alone = replace(readings, results=(replace(best, model=model),)).headline()
            count = len(self.evaluations)
            return f"{alone[:-1]} when it reads {best.model}, the highest of {count} readings."
        models = {each.model for found in self.evaluations.values() for each in found.results}
        done = f"{_count(len(models), 'model')} on {_count(len(self.evaluations), 'dataset')}"
        failed = f"; {_count(len(self.failures), 'failure')}" if self.failures else ""
        if self.scorers and not self.evaluations:
            done = f"scorers on {_count(len(self.scorers), 'dataset')}"
        return f"Results of {done}{failed}."

    def to_frame(self) -> pl.DataFrame:
        """Return a row per dataset, model and slice (`rate_frame`)."""
        frames = [
            found.to_frame().select(pl.lit(name).alias("dataset"), pl.all())
            for name, found in self.evaluations.items()
        ]
        empty = rate_frame({}).select(pl.lit("").alias("dataset"), pl.all())
        return pl.concat([empty, *frames])


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"
