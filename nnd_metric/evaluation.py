"""The main job: models and pairs in, pass rates and agreement with humans out."""

import io
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from nnd.metric.agreement import Agreement, agree_scored
from nnd.metric.data import PairData, PairSet, match_systems, read_human_scores, read_pairs
from nnd.metric.encoding import Keep, Request, Template, find_protocol, find_template
from nnd.metric.engine import Engine, Likelihoods, Store, Work, default_store
from nnd.metric.models import LoadedModel, load_config, load_model
from nnd.metric.results import (
    LIKELIHOODS,
    RESULT,
    PassRates,
    caveats,
    count_close,
    make_signature,
    pass_rates,
    score_alone,
    score_pairs,
)
from nnd.schemas import ScoringError, ScoringWarning, write_whole

Model: TypeAlias = str | Path | LoadedModel


@dataclass(frozen=True, slots=True)
class ModelResult:
    """What one model did.

    Attributes:
        model: Its name.
        version: Hub commit, or the SHA-256 of its weights.
        protocol: Name of the protocol.
        template: Name or text of the template.
        dtype: Precision of the weights.
        device: Where it ran.
        parameters: Number of its weights (`LoadedModel.parameters`).
        rates: Pass rates.
        notes: What to know before believing them, a sentence each.
        n_close: Tests whose margin is smaller than the deviation that `work` tells: those that
            rounding could turn. None where no deviation is known.
        work: What the engine did.
        signature: All that decides the numbers, in one line.
    """

    model: str
    version: str
    protocol: str
    template: str
    dtype: str
    device: str
    parameters: int
    rates: PassRates
    notes: tuple[str, ...]
    n_close: int | None
    work: Work
    signature: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values (`result.schema.json`, a model result)."""
        return {
            "model": self.model,
            "version": self.version,
            "protocol": self.protocol,
            "template": self.template,
            "dtype": self.dtype,
            "device": self.device,
            "parameters": self.parameters,
            **self.rates.to_dict(),
            "notes": list(self.notes),
            "n_close": self.n_close,
            "engine": self.work.to_dict(),
            "signature": self.signature,
        }


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What several models did on the same pairs.

    Attributes:
        results: One per model, in the order asked for.
        scored: Per-pair log-likelihoods of all models: `model` and the columns of
            `results.SCORED_SCHEMA`.
        agreement: Between pass rates and human scores, or None.
        agreement_reason: Why there is no agreement, or None.
    """

    results: tuple[ModelResult, ...]
    scored: pl.DataFrame
    agreement: Agreement | None
    agreement_reason: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values (`result.schema.json`)."""
        return {
            "results": [result.to_dict() for result in self.results],
            "agreement": None if self.agreement is None else self.agreement.to_dict(),
            "agreement_reason": self.agreement_reason,
        }

    def write(self, folder: str | Path) -> None:
        """Write result.json and log_likelihoods.parquet into an existing folder."""
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False)
        buffer = io.BytesIO()  # a full disk is then a plain OSError with the file's name
        self.scored.write_parquet(buffer)
        write_whole(Path(folder) / LIKELIHOODS, buffer.getvalue())
        write_whole(Path(folder) / RESULT, f"{text}\n")


def evaluate_models(
    models: Model | Sequence[Model],
    data: PairData | PairSet,
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
) -> Evaluation:
    """Score pairs with models; return pass rates and their agreement with human scores.

    Args:
        models: Hub ids, folders, or loaded models (`models.wrap_model`); one or several.
        data: Pairs (see `data.read_pairs`).
        protocol: Which tokens are scored and what they are divided by (see `protocols`).
        template: Name of a template, or a text with {placeholders} (see `templates`).
        keep: Which part of a context survives a cut to the window; None means the beginning for
            encoder-decoders and the end for decoder-only models.
        human_scores: Human scores per system; None means those that come with the data.
        systems: Model → system it stands for, where the model's id does not say it.
        unconditional: Whether candidates are scored without their contexts too, as a baseline.
        token_budget: Tokens held at once; None means what memory allows.
        cache: Whether likelihoods are kept as they come, and those that an earlier run of the same
            model kept are taken (see `store`).
        revision: Branch, tag or commit of every model named by Hub id.
        dtype: A torch dtype by name; None means float32 on CPU, the checkpoint's elsewhere.
        device: A torch device; None means the best there is.
        trust_remote_code: Whether code that lies beside the weights may run.

    Returns:
        One result per model, all per-pair log-likelihoods, and, for two or more models matched to
        systems, the agreement.

    Raises:
        ScoringError: If data or a model cannot be used; the message says which and why.
    """
    asked = [models] if isinstance(models, str | Path | LoadedModel) else list(models)
    names = name_models(asked)
    find_protocol(protocol)
    chosen = find_template(template)
    pairs = data if isinstance(data, PairSet) else read_pairs(data)
    people = pairs.human_scores if human_scores is None else read_human_scores(human_scores)
    # A slip in a name shows now, not after the hours that the other models take.
    if people is not None:
        match_systems(names, people, systems)
    for model in asked:
        if not isinstance(model, LoadedModel):
            load_config(model, revision=revision, trust_remote_code=trust_remote_code)
    results: list[ModelResult] = []
    frames: list[pl.DataFrame] = []
    load = partial(
        load_model,
        revision=revision,
        dtype=dtype,
        device=device,
        trust_remote_code=trust_remote_code,
    )
    with _store() if cache else nullcontext() as store:
        for model in asked:  # no name holds a model after its turn: two may not fit into memory
            result, scored = _evaluate_one(
                Engine(
                    model if isinstance(model, LoadedModel) else load(model),
                    protocol=protocol,
                    separator=chosen.separator,
                    keep=keep,
                    token_budget=token_budget,
                    store=store,
                ),
                pairs,
                chosen,
                unconditional=unconditional,
            )
            results.append(result)
            frames.append(scored)
    everything = pl.concat(frames)
    agreement, reason = agree_scored(everything, people, systems=systems)
    return Evaluation(tuple(results), everything, agreement, reason)


def name_models(models: Sequence[Model]) -> list[str]:
    """Return what results call some models.

    Raises:
        ScoringError: If there is none, or one is named twice.
    """
    names = [model.name if isinstance(model, LoadedModel) else str(model) for model in models]
    if not names:
        raise ScoringError("there is no model to evaluate; name at least one")
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ScoringError(f'model "{repeated[0]}" is named twice; name each once')
    return names


def _evaluate_one(
    engine: Engine, pairs: PairSet, template: Template, *, unconditional: bool
) -> tuple[ModelResult, pl.DataFrame]:
    loaded = engine.loaded
    version = loaded.version()
    engine = replace(engine, version=version)
    works: list[Work] = []

    def scorer(requests: Sequence[Request]) -> Likelihoods:
        found = engine(requests)
        works.append(found.work)
        return found

    scored = score_pairs(pairs, scorer, template)
    notes: list[str] = []
    if unconditional:
        alone = score_alone(pairs, engine, template)
        scored = scored.with_columns(alone.log_likelihoods)
        notes += [f"no baseline without contexts: {alone.reason}"] if alone.reason else []
    rates = pass_rates(scored)
    work, summed = works[0], find_protocol(engine.protocol).normaliser == "one"
    result = ModelResult(
        model=loaded.name,
        version=version,
        protocol=engine.protocol,
        template=template.name,
        dtype=loaded.dtype,
        device=str(loaded.model.device),
        parameters=loaded.parameters,
        rates=rates,
        notes=(*caveats(rates.overall), *notes),
        n_close=None
        if work.deviation is None
        else count_close(scored, work.deviation, summed=summed),
        work=work,
        signature=make_signature(version, pairs, engine, template, rates),
    )
    return result, scored.select(pl.lit(loaded.name).alias("model"), pl.all())


@contextmanager
def _store() -> Iterator[Store | None]:
    warn = partial(warnings.warn, category=ScoringWarning, stacklevel=2)
    try:
        path = default_store()
    except RuntimeError:  # a user without a home, as in many a container
        warn("there is no home folder to keep likelihoods in; set NND_CACHE to a folder")
        yield None
        return
    with Store(path, warn=warn) as store:
        yield store
