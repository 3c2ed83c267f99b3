"""The self-test: some pairs, scored by the engine and by an independent computation.

Not shared with the engine: token ids (`plain_reading`), batches, caches, masks, what is divided by
what (`exact_numbers`), and float64. Shared with it: the loaded weights, the choice of templates and
chats with the texts that follow, and the widening of weights to float64 (`in_float64`).
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import polars as pl

from nnd.metric.data import PairSet, choose_part, contexts_of
from nnd.metric.likelihood import (
    Engine,
    LoadedModel,
    Scoring,
    evaluation_mode,
    has_float64,
    in_float64,
)
from nnd.metric.run import Preparation, SuiteScores, prepare, requests_of, score_suite
from nnd.metric.selftest.exact_numbers import ExactNumbers, divisor_of
from nnd.metric.selftest.plain_reading import PlainReader, PlainRow
from nnd.metric.selftest.self_test import TOLERANCE, ProtocolTest, SelfTest, Worst
from nnd.metric.text import Context, Encoded, Request, ToldContext, find_protocol, render
from nnd.schemas import ScoringError, counted

CAUSAL = ("native", "laban2022", "sum", "bytes", "pmi")
"""Protocols of models that predict the next token; encoder-decoders have bartscore, too."""

_NOT_THIS_MODEL = "protocol.another-model"


def run_self_test(
    loaded: LoadedModel, data: PairSet, protocols: Sequence[str], pairs: int
) -> SelfTest:
    """Compare the engine's numbers on some pairs with those of an independent computation.

    Without `protocols`, all that the model and the data can have are tested. Pairs with a cut
    context, or a text that spells a special token, are left out: no other tool has a counterpart.

    Raises:
        ScoringError: If there are no such pairs, the model has no float64 (`check_exact`), or a
            protocol that was asked for does not fit.
    """
    _check_exact(loaded)
    for protocol in protocols:
        find_protocol(protocol)
    chosen = replace(choose_part(data, limit=pairs), sets=())
    usual = (*CAUSAL, "bartscore") if loaded.is_encoder_decoder else CAUSAL
    prepared: dict[str, Preparation] = {}
    notes = []
    for protocol in protocols or usual:
        try:
            prepared[protocol] = prepare(loaded, chosen, Scoring(protocol=protocol))
            _rows(prepared[protocol].engine, _requests(chosen, prepared[protocol]))
        except ScoringError as error:
            if protocols or error.code != _NOT_THIS_MODEL:
                raise
            prepared.pop(protocol, None)
            notes.append(f"{protocol} is left out: {error.what}.")
    if not prepared:
        raise ScoringError(_NOT_THIS_MODEL, " ".join(notes), loaded.name)
    whole, left_out = _comparable(chosen, prepared)
    found = {
        name: score_suite(whole, each.engine, each.template) for name, each in prepared.items()
    }
    with _exactly(loaded):
        exact = ExactNumbers(loaded)
        tests = tuple(
            _compare(whole, prepared[name], scored, exact) for name, scored in found.items()
        )
    return SelfTest(
        loaded.name,
        loaded.version(),
        whole.name,
        whole.pairs.height,
        TOLERANCE,
        tests,
        (*notes, *left_out),
    )


def _check_exact(loaded: LoadedModel) -> None:
    if loaded.is_masked:
        raise ScoringError(
            "model.not-a-language-model",
            "the self-test is for models that predict the next token, and this one predicts "
            "hidden ones",
            loaded.name,
            "name a causal model or an encoder-decoder",
        )
    if not has_float64(loaded):
        what = f"weights quantised as {loaded.quantised}" if loaded.is_compressed else loaded.dtype
        raise ScoringError(
            "model.no-float64",
            f"the self-test computes in float64, and this model cannot: it has {what} on "
            f"{loaded.device.type}",
            loaded.name,
        )


@contextmanager
def _exactly(loaded: LoadedModel) -> Iterator[None]:
    """Let a model compute in float64; say so if its code cannot."""
    try:
        with evaluation_mode(loaded.model), in_float64(loaded.model):
            yield
    except (RuntimeError, TypeError, ValueError, NotImplementedError) as error:
        reason = " ".join(str(error).split()).partition(". ")[0]
        raise ScoringError(
            "model.no-float64",
            f"the model's own code fails in float64: {reason}",
            loaded.name,
            "this model has no self-test",
        ) from error


def _requests(data: PairSet, prepared: Preparation) -> list[Request]:
    requests = requests_of(data.pairs, render(prepared.template, contexts_of(data.pairs)))
    if any(isinstance(context, ToldContext) for context, _ in requests):
        raise ScoringError(
            _NOT_THIS_MODEL,
            "the self-test cannot give a model the language of a text",
            prepared.engine.loaded.name,
            "name a model that is not given it",
        )
    return requests


def _rows(engine: Engine, requests: Sequence[Request]) -> list[Encoded]:
    """Return what the engine reads of each request."""
    return [row for (row,) in engine.encoder.encode(engine.encoder.as_read(requests))]


def _comparable(data: PairSet, prepared: dict[str, Preparation]) -> tuple[PairSet, tuple[str, ...]]:
    """Return the pairs that other tools would read alike, and why others are left out."""
    cut, spelt = set[str](), set[str]()
    ids = data.pairs["pair_id"].to_list()
    for each in prepared.values():
        requests = _requests(data, each)
        special = {str(tok) for tok in each.engine.loaded.tokenizer.all_special_tokens}
        rows = _rows(each.engine, requests)
        for number, (row, (context, candidate)) in enumerate(zip(rows, requests, strict=True)):
            pair = ids[number % len(ids)]
            if row.truncated:
                cut.add(pair)
            elif any(token in text for token in special for text in _data_in(context, candidate)):
                spelt.add(pair)
    kept = data.pairs.filter(~pl.col("pair_id").is_in([*cut, *spelt]))
    if kept.is_empty():
        raise ScoringError(
            "data.no-pairs",
            "the context of each pair has to be cut to the model's window, or a text spells a "
            "special token",
            data.name,
            "name data with shorter texts",
        )
    reasons = {"is cut to the model's window": cut, "spells a special token": spelt - cut}
    notes = (
        f"{counted(len(pairs), 'pair')} left out, of which a text {reason}."
        for reason, pairs in reasons.items()
        if pairs
    )
    return replace(data, pairs=kept), tuple(notes)


def _data_in(context: Context | None, candidate: str) -> tuple[str, ...]:
    """Return the texts of a request that are data; a template may write special tokens."""
    if isinstance(context, tuple):
        return (*context[1::2], candidate)
    return (candidate,) if context is None else (str(context), candidate)


def _compare(
    data: PairSet, prepared: Preparation, found: SuiteScores, exact: ExactNumbers
) -> ProtocolTest:
    requests, engine, scored = _requests(data, prepared), prepared.engine, found.pairs
    protocol = engine.protocol
    reader = PlainReader(engine.loaded, protocol, engine.separator, engine.chat)
    plain = [reader.read(_text(context), candidate) for context, candidate in requests]
    numbers = []
    for row, (context, candidate) in zip(plain, requests, strict=True):
        number = exact.log_likelihood(row, protocol, candidate)
        if protocol == "pmi" and context is not None:
            number -= exact.log_likelihood(reader.read(None, candidate), protocol, candidate)
        numbers.append(number)
    ours = [*scored["ll_high"], *scored["ll_low"]]
    gaps = [
        _gap(mine, number, row, protocol, candidate)
        for mine, number, row, (_, candidate) in zip(ours, numbers, plain, requests, strict=True)
    ]
    ids = sum(
        not _is_same(row, read, in_two=engine.loaded.is_encoder_decoder)
        for row, read in zip(plain, _rows(engine, requests), strict=True)
    )
    n = data.pairs.height
    verdicts = [high > low for high, low in zip(numbers[:n], numbers[n:], strict=True)]
    most = max(range(2 * n), key=lambda number: gaps[number] or 0.0)
    return ProtocolTest(
        protocol=protocol,
        path=found.work.path,
        requests=2 * n,
        difference=gaps[most],
        ids_differ=ids,
        verdicts_differ=sum(a != b for a, b in zip(scored["passed"], verdicts, strict=True)),
        as_one=sum(row.as_one for row in plain),
        worst=None
        if gaps[most] is None
        else Worst(
            data.pairs["pair_id"][most % n],
            "high" if most < n else "low",
            ours[most],
            numbers[most],
        ),
    )


def _text(context: Context | None) -> str | None:
    return "".join(context) if isinstance(context, tuple) else context  # type: ignore[return-value]


def _gap(
    ours: float | None, number: float, row: PlainRow, protocol: str, candidate: str
) -> float | None:
    """Return the difference in nats per scored token; None where one of them is undefined."""
    if ours is None or math.isnan(number):
        return None
    return abs(ours - number) * divisor_of(row, protocol, candidate) / row.scored.count(True)


def _is_same(row: PlainRow, read: Encoded, *, in_two: bool) -> bool:
    """Whether the engine reads, predicts and scores the same ids."""
    if (row.targets, row.scored) != (read.targets, read.scored):
        return False
    if not in_two:
        return row.context + row.targets[:-1] == read.context + read.inputs
    starts = row.start is None or read.inputs == (row.start, *row.targets[:-1])
    return row.context == read.context and starts
