"""The log-likelihood of each token of a candidate, and its place in the text.

They are computed by a pass of their own, padded or one by one, because the store keeps sums only.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nnd.metric.likelihood.engine.engine import Engine
from nnd.metric.likelihood.engine.head import most_rows
from nnd.metric.likelihood.engine.memory import choose_budget
from nnd.metric.likelihood.engine.model_state import as_found
from nnd.metric.likelihood.engine.padded_paths import score_tokens
from nnd.metric.likelihood.engine.paths import ALONE, paths_of
from nnd.metric.likelihood.engine.precision import multiplying
from nnd.metric.likelihood.models.load_model import evaluation_mode
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.text import Encoded, Request, TokenPlace, place_tokens
from nnd.schemas import check_not_forked


class TokenLikelihoods(NamedTuple):
    """The scored tokens of a candidate, in order.

    Attributes:
        log_likelihood: float32 [tokens], log P of each, whatever the protocol divides by.
        places: Where each is in the candidate; None for tokens that are not in it.
    """

    log_likelihood: npt.NDArray[np.float32]
    places: list[TokenPlace | None]


def token_likelihoods(engine: Engine, requests: Sequence[Request]) -> list[TokenLikelihoods]:
    """Return the log-likelihood of each scored token of each request.

    Under `pmi` they are those with the context. Errors are those of the engine.
    """
    check_not_forked()
    readings = engine.encoder.as_read(requests)
    distinct = list(dict.fromkeys(readings))
    encoded = engine.encoder.encode(distinct)
    rows = sorted({row for own in encoded for row in own if True in row.scored})
    if engine.loaded.is_masked:  # each row has one scored token
        values = [np.array([value]) for value in engine.sum_rows(rows)[0]]
    else:
        proof = engine.evidence.proof
        is_alone = proof is not None and proof.path == ALONE.name
        with evaluation_mode(engine.loaded.model), multiplying(engine.matmul):
            values = _score_each(engine.loaded, rows, engine.token_budget, alone=is_alone)
    value_of = dict(zip(rows, values, strict=True))
    contexts = [context for context, _ in distinct]
    found = {
        reading: TokenLikelihoods(
            np.concatenate(
                [np.empty(0), *(value_of[row] for row in own if row in value_of)]
            ).astype(np.float32),
            places,
        )
        for reading, own, places in zip(
            distinct,
            encoded,
            place_tokens(
                engine.loaded.tokenizer,
                contexts,
                [candidate for _, candidate in distinct],
                [_scored_ids(own) for own in encoded],
                engine.separator,
            ),
            strict=True,
        )
    }
    return [found[reading] for reading in readings]


def _scored_ids(rows: Sequence[Encoded]) -> tuple[int, ...]:
    return tuple(
        token
        for row in rows
        for token, is_scored in zip(row.targets, row.scored, strict=True)
        if is_scored
    )


def _score_each(
    loaded: LoadedModel, rows: Sequence[Encoded], budget: int | None, *, alone: bool
) -> list[npt.NDArray[np.float64]]:
    *_, plain, last = paths_of(loaded)
    plan = (last if alone else plain).plan
    values: dict[int, npt.NDArray[np.float64]] = {}
    for batch in plan(rows, budget or choose_budget(loaded), most_rows(loaded)):
        with as_found(loaded.model):
            scores = score_tokens(loaded, [rows[number] for number in batch.requests])
        found = (each.cpu().double().numpy() for each in scores)
        values |= zip(batch.requests, found, strict=True)
    return [values[number] for number in range(len(rows))]
