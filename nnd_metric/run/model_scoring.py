"""The scoring of one model on one set of pairs, from texts to its result."""

from contextlib import suppress
from dataclasses import replace
from itertools import chain

import polars as pl

from nnd.metric.data import LIMITED, TOKENS, PairSet, contexts_of, equal_texts
from nnd.metric.likelihood import Engine, Evidence, LoadedModel, Scoring, Store, listening
from nnd.metric.numbers import count_close, pass_rates, shorten_context
from nnd.metric.run.cost.flop_shapes import flop_shape
from nnd.metric.run.cost.flops import needed_flops
from nnd.metric.run.cost.measured_speeds import keep_speed, speed_key
from nnd.metric.run.crossings import count_crossings
from nnd.metric.run.model_result import (
    NO_BASELINE,
    FirstRequest,
    ModelResult,
    ScoredModel,
    with_counts,
)
from nnd.metric.run.pair_scoring import requests_of, score_suite
from nnd.metric.run.preparation import prepare
from nnd.metric.run.signature import make_signature
from nnd.metric.run.token_rows import token_rows
from nnd.metric.text import ChatContext, Template, ToldContext, ToldLanguages, find_protocol, render
from nnd.schemas import StoredContext

_TEXT_ALONE = "the model also reads images; it was scored with its language model, from text only"

_BY_LENGTH = (
    "the likelihoods of this model depend on the length of the row that a text is in, so each text "
    "was scored in a row of its own; tools that pad rows get other numbers"
)


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

    Likelihoods, and the speed, are stored if there is a `store`, whatever `scoring` says. `version`
    is the result of `loaded.version()`, if known: computing it may read all weights. `evidence` is
    what was learnt about the model, to which this call adds.
    """
    engine, template, choice = prepare(loaded, pairs, scoring)
    version = version or loaded.version()
    engine = replace(engine, store=store, version=version, evidence=evidence or Evidence())
    with_alone = scoring.unconditional and pairs.has_contexts  # else these are the same numbers
    with listening() as heard:
        scores = score_suite(pairs, engine, template, unconditional=with_alone)
    if store is not None:
        with suppress(Exception):  # the operations of some architectures cannot be counted
            operations = needed_flops(flop_shape(loaded), engine.read)
            keep_speed(speed_key(loaded), operations, scores.work.seconds)
    scored, children = scores.pairs, scores.children
    notes = [*choice.caveats, *([_stand_in(loaded)] if loaded.is_stand_in else [])]
    notes += dict.fromkeys((*loaded.changes().sentences(), *loaded.notes, *heard))
    notes += [_TEXT_ALONE] if loaded.reads_images else []
    notes += [equal_texts(len(pairs.equal))] if pairs.equal else []
    notes += [LIMITED] if "limit" in dict(pairs.part) else []
    notes += [f"{NO_BASELINE}{scores.no_baseline}"] if scores.no_baseline else []
    notes += [_BY_LENGTH] if scores.work.moved_by_padding else []
    languages, of_languages = _languages(pairs, template)
    notes += of_languages
    told = () if languages is None else languages.given
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
        signature=make_signature(version, pairs, engine, template, rates, languages=told),
        quantised=loaded.quantised,
        weight_bytes=loaded.weight_bytes,
        unquantised_bytes=loaded.parameters * loaded.model.dtype.itemsize,
        chat=choice.stored(),
        cluster=pairs.cluster,
        n_whole=pairs.n_whole,
        instruction=template.instruction,
        languages=languages,
        request=_first_request(pairs, engine, template),
    )
    model = pl.lit(loaded.name).alias("model")
    kept = (
        token_rows(pairs, engine, template) if scoring.keep_tokens else pl.DataFrame(schema=TOKENS)
    )
    return ScoredModel(
        result, scored.select(model, pl.all()), children.select(model, pl.all()), kept
    )


def _languages(pairs: PairSet, template: Template) -> tuple[ToldLanguages | None, list[str]]:
    """Return the languages that a model was given, and notes on them."""
    teller = template.languages
    if teller is None:
        return None, []
    every = [pairs.pairs, *(each.pairs for each in pairs.sets)]
    contexts = [*dict.fromkeys(map(_only_languages, chain.from_iterable(map(contexts_of, every))))]
    told = {str(languages) for each in contexts if (languages := teller.told(each)) is not None}
    return ToldLanguages(tuple(sorted(told)), teller.asked), teller.notes(contexts)


def _only_languages(context: StoredContext) -> StoredContext:
    return StoredContext("", language=context.language, context_language=context.context_language)


def _first_request(pairs: PairSet, engine: Engine, template: Template) -> FirstRequest | None:
    first = pairs.pairs.head(1)
    requests = engine.encoder.as_read(requests_of(first, render(template, contexts_of(first))))
    for context, candidate in requests[:1]:
        pieces = context.pieces if isinstance(context, ChatContext) else context
        if isinstance(pieces, ToldContext):
            pieces = f"{pieces.languages.token} {''.join(pieces.text or '')}".lstrip()
        return FirstRequest(shorten_context("".join(pieces)), candidate)
    return None


def _stand_in(loaded: LoadedModel) -> str:
    return (
        "the checkpoint names custom code (auto_map), which was not run: it was scored as the "
        f"{type(loaded.model).__name__} of transformers, which may be a different model; use "
        "--trust-remote-code to run the custom code"
    )
