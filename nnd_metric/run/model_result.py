"""The result of one model on one set of pairs, from its log-likelihoods."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import polars as pl

from nnd.metric.data import LIMITED, PairSet, contexts_of, equal_texts
from nnd.metric.likelihood import Engine, LoadedModel, Proof, Scoring, Store, Work
from nnd.metric.numbers import (
    PassRates,
    caveats,
    count_close,
    few_tokens,
    pass_rates,
    shorten_request,
)
from nnd.metric.run.crossings import count_crossings
from nnd.metric.run.pair_scoring import requests_of, score_suite
from nnd.metric.run.preparation import prepare
from nnd.metric.run.signature import make_signature
from nnd.metric.text import ChatContext, Template, find_protocol, render

NO_BASELINE = "no baseline without contexts: "
"""Beginning of the note on a missing baseline."""

_TEXT_ALONE = "the model also reads images; it was scored with its language model, from text only"

_BY_LENGTH = (
    "the likelihoods of this model depend on the length of the row that a text is in, so each text "
    "was scored in a row of its own; tools that pad rows get other numbers"
)


@dataclass(frozen=True, slots=True)
class ModelResult:
    """The result of one model.

    Attributes:
        model: Its name.
        version: Hub commit, or the SHA-256 of its weights.
        protocol: Name of the protocol.
        template: Name or text of the template.
        dtype: Precision of the weights.
        device: The device it ran on.
        parameters: Number of its weights (`LoadedModel.parameters`).
        rates: Pass rates.
        notes: Caveats and notes, a sentence each.
        n_close: Tests whose margin is smaller than the deviation in `work`, so that rounding could
            change the verdict. None if the deviation is unknown.
        n_crossing: Tests whose tokens are not those of context and candidate encoded together
            (`count_crossings`). None if the two are never one text.
        work: The work of the engine.
        signature: Everything that decides the numbers, in one line.
        quantised: The format of quantised weights, e.g. `bnb-nf4`, or None.
        weight_bytes: Memory that the weights take; None in older runs.
        unquantised_bytes: Memory that they would take unquantised, in `dtype`; None in older runs.
        chat: How contexts were rendered as chats, or why not (`ChatChoice.to_dict`); None in
            results of older versions, which read plain text.
        n_whole: Number of tests of the data of which a part was scored; None if all were.
        instruction: Digest of the instruction that contexts were read with, or None.
        request: The first request as the model read it (`shorten_request`); None in older runs.
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
    n_crossing: int | None
    work: Work
    signature: str
    quantised: str | None = None
    weight_bytes: int | None = None
    unquantised_bytes: int | None = None
    chat: Mapping[str, Any] | None = None
    n_whole: int | None = None
    instruction: str | None = None
    request: Mapping[str, str] | None = None

    def memory(self) -> str:
        """Return in words the memory of the weights, quantised and unquantised."""
        taken = f"the weights take {(self.weight_bytes or 0) / 1e6:,.1f} MB of memory"
        if self.quantised is None or self.unquantised_bytes is None:
            return taken
        before = f"{self.unquantised_bytes / 1e6:,.1f} MB as {self.dtype}"
        return f"{taken} ({self.quantised}), and {before}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values (`result.schema.json`, a model result)."""
        return {
            "model": self.model,
            "version": self.version,
            "protocol": self.protocol,
            "template": self.template,
            "instruction": self.instruction,
            "chat": None if self.chat is None else dict(self.chat),
            "request": None if self.request is None else dict(self.request),
            "dtype": self.dtype,
            "device": self.device,
            "parameters": self.parameters,
            "quantised": self.quantised,
            "weight_bytes": self.weight_bytes,
            "unquantised_bytes": self.unquantised_bytes,
            **self.rates.to_dict(),
            **({} if self.n_whole is None else {"n_whole": self.n_whole}),
            "notes": list(self.notes),
            "n_close": self.n_close,
            "n_crossing": self.n_crossing,
            "engine": self.work.to_dict(),
            "signature": self.signature,
        }


def stored_result(stored: Mapping[str, Any], rates: PassRates) -> ModelResult:
    """Return a result from a run, with rates that are computed again.

    Args:
        stored: `ModelResult.to_dict`, read from a file.
        rates: The rates of its scored pairs.

    Raises:
        KeyError, TypeError: If fields of a result are missing.
    """
    engine = stored["engine"]
    done = (engine["path"], tuple(engine["switched_off"]), engine["deviation"])
    facts = {each.name: stored[each.name] for each in fields(ModelResult) if each.name in stored}
    return ModelResult(
        **facts | {"notes": tuple(stored["notes"])},
        rates=rates,
        work=Work(*done, tokens=0, requests=0, stored=0, token_budget=0),
    )


class Scored(NamedTuple):
    """A result with its scored pairs.

    Attributes:
        result: The result.
        pairs: Per-pair log-likelihoods: `model` and the columns of SCORED_SCHEMA.
        children: Log-likelihoods of the sets of a suite: `model` and the columns of CHILD_SCHEMA.
    """

    result: ModelResult
    pairs: pl.DataFrame
    children: pl.DataFrame


def evaluate_model(
    loaded: LoadedModel,
    pairs: PairSet,
    scoring: Scoring,
    store: Store | None,
    *,
    version: str | None = None,
    proofs: list[Proof] | None = None,
) -> Scored:
    """Score pairs with one model.

    Args:
        loaded: The model.
        pairs: The pairs.
        scoring: How they are scored; only `store` decides whether likelihoods are stored.
        store: Where likelihoods are stored, or None.
        version: The result of `loaded.version()`, if known: computing it may read all weights.
        proofs: The last proof of the model, if any; it is replaced by the one of this call.

    Raises:
        ScoringError: If the model cannot score the pairs.
    """
    engine, template, choice = prepare(loaded, pairs, scoring)
    version = version or loaded.version()
    proofs = [] if proofs is None else proofs
    engine = replace(engine, store=store, version=version, proofs=proofs)
    found = score_suite(pairs, engine, template, unconditional=scoring.unconditional)
    scored, children = found.pairs, found.children
    notes = [*choice.caveats, *([_stand_in(loaded)] if loaded.is_stand_in else [])]
    notes += [_TEXT_ALONE] if loaded.reads_images else []
    notes += [equal_texts(len(pairs.equal))] if pairs.equal else []
    notes += [LIMITED] if "limit" in dict(pairs.part) else []
    notes += [f"{NO_BASELINE}{found.no_baseline}"] if found.no_baseline else []
    notes += [_BY_LENGTH] if found.work.moved_by_padding else []
    rates = pass_rates(scored)
    crossing = count_crossings(pairs, engine, template)
    work, protocol = found.work, find_protocol(engine.protocol)
    if work.deviation is not None and protocol.minus_alone:
        work = replace(work, deviation=2 * work.deviation)  # for a difference of log-likelihoods
    result = ModelResult(
        model=loaded.name,
        version=version,
        protocol=engine.protocol,
        template=template.name,
        dtype=loaded.dtype,
        device=str(loaded.device),
        parameters=loaded.parameters,
        rates=rates,
        notes=with_counts(notes, rates, crossing, protocol.name),
        n_close=None
        if work.deviation is None
        else count_close(scored, work.deviation, summed=protocol.normaliser == "one"),
        n_crossing=crossing,
        work=work,
        signature=make_signature(version, pairs, engine, template, rates),
        quantised=loaded.quantised,
        weight_bytes=loaded.weight_bytes,
        unquantised_bytes=loaded.parameters * loaded.model.dtype.itemsize,
        chat=choice.to_dict(),
        n_whole=pairs.n_whole,
        instruction=template.instruction,
        request=_first_request(pairs, engine, template),
    )
    model = pl.lit(loaded.name).alias("model")
    return Scored(result, scored.select(model, pl.all()), children.select(model, pl.all()))


def _first_request(pairs: PairSet, engine: Engine, template: Template) -> Mapping[str, str] | None:
    first = pairs.pairs.head(1)
    requests = engine.as_read(requests_of(first, render(template, contexts_of(first))))
    for context, candidate in requests[:1]:
        pieces = context.pieces if isinstance(context, ChatContext) else context
        return shorten_request("".join(pieces), candidate)
    return None


def with_counts(
    notes: Iterable[str], rates: PassRates, crossing: int | None, protocol: str
) -> tuple[str, ...]:
    """Return notes about a model, and those that follow from counts."""
    found = [*caveats(rates.overall), *notes]
    if find_protocol(protocol).normaliser == "tokens":
        found += few_tokens(rates.overall)
    if crossing:
        found.append(
            f"in {crossing:,} of {rates.overall.n:,} tests, context and candidate encoded as one "
            "text would give other tokens where they meet; they are encoded apart"
        )
    return tuple(found)


def _stand_in(loaded: LoadedModel) -> str:
    return (
        "the checkpoint names custom code (auto_map), which was not run: it was scored as the "
        f"{type(loaded.model).__name__} of transformers, which may be a different model; use "
        "--trust-remote-code to run the custom code"
    )
