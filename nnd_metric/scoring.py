"""From pairs to per-pair log-likelihoods, the artefact of which everything else is a function."""

from collections.abc import Sequence

import polars as pl

from .data import PairSet, parts_of
from .encoding import Request
from .engine import Likelihoods, Scorer
from .errors import CandidateError, ScoringError
from .results import SCORED_SCHEMA
from .templates import Template, render


def score_pairs(data: PairSet, scorer: Scorer, template: Template) -> pl.DataFrame:
    """Score both candidates of every pair given its context.

    A pair is passed iff LL(high) > LL(low), strictly. Equal likelihoods are a tie; a likelihood
    that the protocol leaves undefined is null. Both are failures.

    Args:
        data: The pairs.
        scorer: An engine, or any callable of its shape.
        template: How contexts are rendered.

    Returns:
        One row per pair in the order of `data.pairs`, with the columns of SCORED_SCHEMA.

    Raises:
        ScoringError: If a context lacks a part that the template names, or the scorer cannot score
            a candidate; the message then names the pair.
    """
    pairs = data.pairs
    prompts = render(template, pairs["context"].to_list(), parts_of(pairs))
    requests = [
        (prompt.context, prompt.candidate_prefix + candidate)
        for side in ("high", "low")
        for prompt, candidate in zip(prompts, pairs[f"candidate_{side}"], strict=True)
    ]
    found = _score(scorer, requests, pairs)
    n = pairs.height
    values = pl.Series(found.log_likelihood, dtype=pl.Float64).fill_nan(None)
    high, low = values[:n], values[n:]
    columns = {
        "ll_high": high,
        "ll_low": low,
        "tokens_high": pl.Series(found.tokens[:n], dtype=pl.Int64),
        "tokens_low": pl.Series(found.tokens[n:], dtype=pl.Int64),
        "truncated": pl.Series(found.truncated[:n], dtype=pl.Boolean),
        "passed": (high > low).fill_null(value=False),
        "tie": (high == low).fill_null(value=False),
    }
    return pairs.with_columns(**columns).select(
        pl.col(name).cast(dtype) for name, dtype in SCORED_SCHEMA.items()
    )


def _score(scorer: Scorer, requests: Sequence[Request], pairs: pl.DataFrame) -> Likelihoods:
    try:
        found = scorer(requests)
    except CandidateError as error:
        candidates = [candidate for _, candidate in requests]
        row = candidates.index(error.candidate) % pairs.height  # all high, then all low
        raise ScoringError(f"pair {pairs['pair_id'][row]}: {error}") from error
    answers = {len(values) for values in (found.log_likelihood, found.tokens, found.truncated)}
    if answers != {len(requests)}:
        raise ScoringError(
            f"the scorer answers with {' or '.join(map(str, sorted(answers)))} values for "
            f"{len(requests)} requests; it must give one of each for every request"
        )
    return found
