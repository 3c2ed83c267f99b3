"""The result of one model on one set of pairs, from its log-likelihoods."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple

import polars as pl

from nnd.metric.data import LIMITED, TOKENS, PairSet, contexts_of, equal_texts
from nnd.metric.likelihood import Engine, Evidence, LoadedModel, Scoring, Store, Work
from nnd.metric.numbers import (
    PassRates,
    PublishedPasses,
    caveats,
    count_close,
    few_tokens,
    pass_rates,
    shorten_context,
)
from nnd.metric.run.crossings import count_crossings
from nnd.metric.run.pair_scoring import requests_of, score_suite
from nnd.metric.run.preparation import prepare
from nnd.metric.run.signature import make_signature
from nnd.metric.run.token_rows import token_rows
from nnd.metric.text import PROTOCOLS, ChatContext, Rendering, Template, find_protocol, render
from nnd.schemas import SPARSE, Count, FlatKeys, Limit, Name, Record, StoredAs

NO_BASELINE = "no baseline without contexts: "
"""Beginning of the note on a missing baseline."""

_TEXT_ALONE = "the model also reads images; it was scored with its language model, from text only"

_BY_LENGTH = (
    "the likelihoods of this model depend on the length of the row that a text is in, so each text "
    "was scored in a row of its own; tools that pad rows get other numbers"
)


@dataclass(frozen=True, slots=True)
class FirstRequest(Record):
    """A request as the model read it.

    Attributes:
        context: What was read before the candidate; of a long text, its first and its last
            characters.
        candidate: What was scored.
    """

    context: str
    candidate: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelResult(Record):
    """The result of one model.

    Attributes:
        model: Its name.
        version: Hub commit, or the SHA-256 of its weights.
        protocol: Name of the protocol: which tokens are scored, and what they are divided by.
        template: Name or text of the template that rendered contexts.
        instruction: The first 6 digits of the SHA-256 of the instruction that contexts were read
            with; None without one. Older results lack it.
        chat: How contexts were rendered as chats, or why not. Older results, which read plain text,
            lack it.
        request: The first request. Older results lack it.
        dtype: Precision of the weights.
        device: The device it ran on.
        parameters: Number of its weights, embeddings included; tied ones count once.
        quantised: The format of quantised weights, such as `bnb-nf4`; None if they are plain
            floats. Older results lack it.
        weight_bytes: Memory that the weights take, in bytes. Older results lack it.
        unquantised_bytes: Memory that they would take unquantised, in `dtype`, in bytes. Older
            results lack it.
        rates: Pass rates.
        n_whole: Number of tests of the data, if only a part of them was scored.
        notes: Caveats and notes, a sentence each.
        n_close: Tests whose margin is smaller than the deviation of the engine, so that rounding
            could change the verdict; None if the deviation is unknown.
        n_crossing: Tests whose tokens are not those of context and candidate encoded together; None
            if the two are never one text, as for encoder-decoders.
        work: How the engine computed the likelihoods.
        signature: Everything that decides the numbers, in one line.
        published: What others published for the model on these tests, if the list of runs states
            it.
    """

    model: Name
    version: Name
    protocol: Annotated[str, Limit("enum", (*PROTOCOLS,))]
    template: Name
    instruction: Annotated[str | None, Limit("pattern", "^[0-9a-f]{6}$")] = None
    chat: Rendering | None = None
    request: FirstRequest | None = None
    dtype: Name
    device: Name
    parameters: Count
    quantised: str | None = None
    weight_bytes: Count | None = None
    unquantised_bytes: Count | None = None
    rates: Annotated[PassRates, FlatKeys()]
    n_whole: Annotated[Count | None, SPARSE] = None
    notes: tuple[str, ...]
    n_close: Count | None
    n_crossing: Count | None
    work: Annotated[Work, StoredAs("engine")]
    signature: Name
    published: Annotated[PublishedPasses | None, SPARSE] = None

    def memory(self) -> str:
        """Return in words the memory of the weights, quantised and unquantised."""
        taken = f"the weights take {(self.weight_bytes or 0) / 1e6:,.1f} MB of memory"
        if self.quantised is None or self.unquantised_bytes is None:
            return taken
        before = f"{self.unquantised_bytes / 1e6:,.1f} MB as {self.dtype}"
        return f"{taken} ({self.quantised}), and {before}"


class ScoredModel(NamedTuple):
    """A result with its scored pairs: `model`, and the columns of SCORED_SCHEMA or CHILD_SCHEMA.

    `children` are the pairs of the sets of a suite, `tokens` the log-likelihoods of tokens (the
    columns of TOKENS): none unless they are kept.
    """

    result: ModelResult
    pairs: pl.DataFrame
    children: pl.DataFrame
    tokens: pl.DataFrame = pl.DataFrame(schema=TOKENS)


def evaluate_model(
    loaded: LoadedModel,
    pairs: PairSet,
    scoring: Scoring,
    store: Store | None,
    *,
    version: str | None = None,
    evidence: Evidence | None = None,
) -> ScoredModel:
    """Score pairs with one model.

    Likelihoods are stored if there is a `store`, whatever `scoring` says. `version` is the result
    of `loaded.version()`, if known: computing it may read all weights. `evidence` is what was
    learnt about the model, to which this call adds.
    """
    engine, template, choice = prepare(loaded, pairs, scoring)
    version = version or loaded.version()
    engine = replace(engine, store=store, version=version, evidence=evidence or Evidence())
    with_alone = scoring.unconditional and pairs.has_contexts  # else these are the same numbers
    scores = score_suite(pairs, engine, template, unconditional=with_alone)
    scored, children = scores.pairs, scores.children
    notes = [*choice.caveats, *([_stand_in(loaded)] if loaded.is_stand_in else [])]
    notes += [_TEXT_ALONE] if loaded.reads_images else []
    notes += [equal_texts(len(pairs.equal))] if pairs.equal else []
    notes += [LIMITED] if "limit" in dict(pairs.part) else []
    notes += [f"{NO_BASELINE}{scores.no_baseline}"] if scores.no_baseline else []
    notes += [_BY_LENGTH] if scores.work.moved_by_padding else []
    rates = pass_rates(scored)
    crossing = count_crossings(pairs, engine, template)
    work, protocol = scores.work, find_protocol(engine.protocol)
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
        chat=choice.stored(),
        n_whole=pairs.n_whole,
        instruction=template.instruction,
        request=_first_request(pairs, engine, template),
    )
    model = pl.lit(loaded.name).alias("model")
    kept = (
        token_rows(pairs, engine, template) if scoring.keep_tokens else pl.DataFrame(schema=TOKENS)
    )
    return ScoredModel(
        result, scored.select(model, pl.all()), children.select(model, pl.all()), kept
    )


def _first_request(pairs: PairSet, engine: Engine, template: Template) -> FirstRequest | None:
    first = pairs.pairs.head(1)
    requests = engine.as_read(requests_of(first, render(template, contexts_of(first))))
    for context, candidate in requests[:1]:
        pieces = context.pieces if isinstance(context, ChatContext) else context
        return FirstRequest(shorten_context("".join(pieces)), candidate)
    return None


def with_counts(
    notes: Iterable[str], rates: PassRates, crossing: int | None, protocol: str
) -> tuple[str, ...]:
    """Return notes about a model, and those that follow from counts."""
    told = [*caveats(rates.overall), *notes]
    if find_protocol(protocol).normaliser == "tokens":
        told += few_tokens(rates.overall)
    if crossing:
        told.append(
            f"in {crossing:,} of {rates.overall.n:,} tests, context and candidate encoded as one "
            "text would give other tokens where they meet; they are encoded apart"
        )
    return tuple(told)


def _stand_in(loaded: LoadedModel) -> str:
    return (
        "the checkpoint names custom code (auto_map), which was not run: it was scored as the "
        f"{type(loaded.model).__name__} of transformers, which may be a different model; use "
        "--trust-remote-code to run the custom code"
    )
