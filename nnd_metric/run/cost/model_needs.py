"""The work of one model on some sets of pairs, from the engine's plan, without running it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from nnd.metric.data import PairSet
from nnd.metric.likelihood import (
    Engine,
    Likelihoods,
    LoadedModel,
    Scoring,
    choose_budget,
    encode_for,
    most_rows,
    paths_of,
)
from nnd.metric.run.cost.flops import needed_flops
from nnd.metric.run.pair_scoring import score_suite
from nnd.metric.run.preparation import prepare
from nnd.metric.text import Encoded, Request, find_protocol
from nnd.schemas import Record


@dataclass(frozen=True, slots=True)
class Need(Record):
    """The work of one model on one set of pairs.

    Attributes:
        tests: Number of pairs, those of a suite's sets included.
        tokens: Positions that enter the model, those of the baseline included.
        flops: Floating-point operations (`needed_flops`).
        baseline_tokens: The part of the tokens that is saved without the baseline.
        baseline_flops: The part of the operations that is saved without the baseline.
        seconds: How long it takes; None if the speed is unknown.
    """

    tests: int
    tokens: int
    flops: int
    baseline_tokens: int
    baseline_flops: int
    seconds: float | None = None


def find_needs(
    loaded: LoadedModel, pairs: Mapping[str, PairSet], scoring: Scoring
) -> Iterator[tuple[str, Need, list[Encoded]]]:
    """Yield each dataset, the work of a model on it through its fastest path, and the requests.

    Requests that the store keeps from one dataset are not counted again for the next: a candidate
    without its context is read once for all datasets. Likelihoods stored by earlier runs are
    ignored.
    """
    stored: set[Encoded] = set()
    for name, data in pairs.items():
        engine, template, _ = prepare(loaded, data, scoring)
        asked = _RequestRecorder(engine)
        with_alone = scoring.unconditional and data.has_contexts
        score_suite(data, asked, template, unconditional=with_alone)
        without = sorted(asked.given - stored)
        whole = sorted((asked.given | asked.alone) - stored)
        tokens, flops = _tokens(loaded, whole, scoring), needed_flops(loaded, whole)
        tests = data.pairs.height + sum(each.pairs.height for each in data.sets)
        saved = tokens - _tokens(loaded, without, scoring)
        yield (
            name,
            Need(
                tests=tests,
                tokens=tokens,
                flops=flops,
                baseline_tokens=saved,
                baseline_flops=flops - needed_flops(loaded, without),
            ),
            whole,
        )
        if scoring.cache:
            stored.update(whole)


class _RequestRecorder:
    """A scorer that records the requests to an engine, and returns zeros.

    `given` has the requests with contexts (under `pmi`, also those that are subtracted), `alone`
    those of the baseline only.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.given, self.alone = set[Encoded](), set[Encoded]()

    def __call__(self, requests: Sequence[Request]) -> Likelihoods:
        engine, protocol = self._engine, find_protocol(self._engine.protocol)
        distinct = dict.fromkeys(requests)
        asked: list[Request] = [request for request in distinct if request[0] is not None]
        if protocol.minus_alone:
            asked += [(None, candidate) for _, candidate in asked]
        baseline = [request for request in distinct if request[0] is None]
        readings = engine.as_read([*asked, *baseline])
        encoded = encode_for(engine, readings)
        given, alone = (
            {row for row in chain.from_iterable(some) if any(row.scored)}
            for some in (encoded[: len(asked)], encoded[len(asked) :])
        )
        self.given, self.alone = given, alone - given
        n = len(requests)
        return Likelihoods(np.zeros(n), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.bool_))


def _tokens(loaded: LoadedModel, rows: Sequence[Encoded], scoring: Scoring) -> int:
    """Return the positions that enter the model."""
    budget = scoring.token_budget or choose_budget(loaded)
    batches = paths_of(loaded)[0].plan(rows, budget, most_rows(loaded))
    return sum(batch.tokens for batch in batches)
