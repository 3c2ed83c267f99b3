"""The work of one model on some sets of pairs, from the engine's plan, without running it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from nnd.metric.data import PairSet
from nnd.metric.likelihood import Likelihoods, Scoring
from nnd.metric.run.cost.flops import needed_flops
from nnd.metric.run.cost.model_outline import OutlinedModel
from nnd.metric.run.pair_scoring import score_suite
from nnd.metric.run.wording import choose_wording
from nnd.metric.text import Encoded, Request, RequestEncoder, find_protocol, is_alone, left_out
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
    model: OutlinedModel, pairs: Mapping[str, PairSet], scoring: Scoring
) -> Iterator[tuple[str, Need, list[Encoded]]]:
    """Yield each dataset, the work of a model on it through its fastest path, and the requests.

    Requests that the store keeps from one dataset are not counted again for the next: a candidate
    without its context is read once for all datasets. Likelihoods stored by earlier runs are
    ignored.
    """
    stored: set[Encoded] = set()
    for name, data in pairs.items():
        template, chat = choose_wording(model.text, data, scoring)
        encoder = RequestEncoder(
            model.text, scoring.protocol, chat.separator, chat.template, scoring.keep
        )
        asked = _RequestRecorder(encoder)
        with_alone = scoring.unconditional and data.has_contexts
        score_suite(data, asked, template, unconditional=with_alone)
        without = sorted(asked.given - stored)
        whole = sorted((asked.given | asked.alone) - stored)
        tokens, flops = _tokens(model, whole), needed_flops(model.outline.flops, whole)
        tests = data.pairs.height + sum(each.pairs.height for each in data.sets)
        yield (
            name,
            Need(
                tests=tests,
                tokens=tokens,
                flops=flops,
                baseline_tokens=tokens - _tokens(model, without),
                baseline_flops=flops - needed_flops(model.outline.flops, without),
            ),
            whole,
        )
        if scoring.cache:
            stored.update(whole)


class _RequestRecorder:
    """A scorer that records what a model would read, and returns zeros.

    `given` has the requests with contexts (under `pmi`, also those that are subtracted), `alone`
    those of the baseline only.
    """

    def __init__(self, encoder: RequestEncoder) -> None:
        self._encoder = encoder
        self.given, self.alone = set[Encoded](), set[Encoded]()

    def __call__(self, requests: Sequence[Request]) -> Likelihoods:
        distinct = dict.fromkeys(requests)
        asked: list[Request] = [request for request in distinct if not is_alone(request[0])]
        if find_protocol(self._encoder.protocol).minus_alone:
            asked += [(left_out(context), candidate) for context, candidate in asked]
        baseline = [request for request in distinct if is_alone(request[0])]
        encoded = self._encoder.encode(self._encoder.as_read([*asked, *baseline]))
        given, alone = (
            {row for row in chain.from_iterable(some) if any(row.scored)}
            for some in (encoded[: len(asked)], encoded[len(asked) :])
        )
        self.given, self.alone = given, alone - given
        n = len(requests)
        return Likelihoods(np.zeros(n), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.bool_))


def _tokens(model: OutlinedModel, rows: Sequence[Encoded]) -> int:
    """Return the positions that enter the model."""
    outline = model.outline
    return sum(batch.tokens for batch in model.plan(rows, outline.budget, outline.logit_rows))
