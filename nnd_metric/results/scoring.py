"""From pairs to per-pair log-likelihoods, the artefact of which everything else is a function."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from nnd.metric.data import PairSet, parts_of
from nnd.metric.encoding import (
    Prompt,
    Request,
    Template,
    render,
)
from nnd.metric.engine import Likelihoods, Scorer
from nnd.metric.results.rates import ALONE_SCHEMA, SCORED_SCHEMA
from nnd.metric.results.surface import measure
from nnd.schemas import CandidateError, ScoringError

CHILD_SCHEMA = pl.Schema({"set": pl.String(), "parent_id": pl.String(), **SCORED_SCHEMA})
"""Columns of the scored pairs of a suite's sets; parent_id is null in slices and samples."""


class Alone(NamedTuple):
    """What a scorer says of candidates without their contexts.

    Attributes:
        log_likelihoods: One row per pair, with the columns of `results.ALONE_SCHEMA`; all null
            where the scorer needs a context.
        reason: Why they are null, or None.
    """

    log_likelihoods: pl.DataFrame
    reason: str | None


def score_pairs(data: PairSet, scorer: Scorer, template: Template) -> pl.DataFrame:
    """Score both candidates of every pair given its context.

    A pair is passed iff LL(high) > LL(low), strictly. Equal likelihoods are a tie; a likelihood
    that the protocol leaves undefined is null. Both are failures.

    Args:
        data: The pairs.
        scorer: An engine, or any callable of its shape.
        template: How contexts are rendered.

    Returns:
        One row per pair in the order of `data.pairs`, with the columns of SCORED_SCHEMA; those of
        ALONE_SCHEMA are null, and `score_alone` has them.

    Raises:
        ScoringError: If a context lacks a part that the template names, or the scorer cannot score
            a candidate; the message then names the pair.
    """
    pairs = data.pairs
    prompts = render(template, pairs["context"].to_list(), parts_of(pairs))
    found = _score(scorer, requests_of(pairs, prompts), pairs)
    n = pairs.height
    high, low = _halves(found)
    columns = {
        "ll_high": high,
        "ll_low": low,
        "tokens_high": pl.Series(found.tokens[:n], dtype=pl.Int64),
        "tokens_low": pl.Series(found.tokens[n:], dtype=pl.Int64),
        "truncated": pl.Series(found.truncated[:n], dtype=pl.Boolean),
        "passed": (high > low).fill_null(value=False),
        "tie": (high == low).fill_null(value=False),
    }
    nothing = {name: pl.lit(None, dtype) for name, dtype in ALONE_SCHEMA.items()}
    everything = pairs.with_columns(**columns, **nothing).with_columns(measure(pairs))
    return everything.select(pl.col(name).cast(dtype) for name, dtype in SCORED_SCHEMA.items())


def score_suite(
    data: PairSet, scorer: Scorer, template: Template
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Score pairs and, in the same call of the scorer, those of the sets (as `score_pairs`).

    Returns:
        The rows of `data.pairs`, and those of its sets, with the columns of CHILD_SCHEMA.
    """
    sets = [each.pairs.with_columns(set=pl.lit(each.name)) for each in data.sets]
    if not sets:
        return score_pairs(data, scorer, template), pl.DataFrame(schema=CHILD_SCHEMA)
    members = pl.concat(sets, how="diagonal")
    known = data.pairs["pair_id"].implode()
    others = members.filter(~pl.col("pair_id").is_in(known)).unique("pair_id", maintain_order=True)
    together = pl.concat([data.pairs, others.drop("set")], how="diagonal")
    scored = score_pairs(replace(data, pairs=together), scorer, template)
    of_pairs = scored.unique("pair_id", keep="first")
    children = members.select("set", "parent_id", "pair_id").join(
        of_pairs, on="pair_id", maintain_order="left"
    )
    return scored.head(data.pairs.height), children.select(CHILD_SCHEMA.names())


def score_alone(data: PairSet, scorer: Scorer, template: Template) -> Alone:
    """Score both candidates of every pair without the context: the unconditional baseline.

    The scored text is the one that `score_pairs` scores; the rendered context gives way to none.

    Args:
        data: The pairs.
        scorer: An engine, or any callable of its shape.
        template: Says what stands before candidates.
    """
    pairs = data.pairs
    prompts = render(template, pairs["context"].to_list(), parts_of(pairs))
    alone = [prompt._replace(context="") for prompt in prompts]
    try:
        values = _halves(_score(scorer, requests_of(pairs, alone), pairs))
    except ScoringError as error:
        return Alone(pl.DataFrame(schema=ALONE_SCHEMA).clear(pairs.height), str(error))
    return Alone(pl.DataFrame(dict(zip(ALONE_SCHEMA, values, strict=True))), None)


def requests_of(pairs: pl.DataFrame, prompts: Sequence[Prompt]) -> list[Request]:
    """Return what a scorer is asked: all good candidates, then all bad ones."""
    return [
        (prompt.context, prompt.candidate_prefix + candidate)
        for side in ("high", "low")
        for prompt, candidate in zip(prompts, pairs[f"candidate_{side}"], strict=True)
    ]


def _halves(found: Likelihoods) -> tuple[pl.Series, pl.Series]:
    """Return the likelihoods of the good and of the bad candidates, null where undefined."""
    values = pl.Series(found.log_likelihood, dtype=pl.Float64).fill_nan(None)
    n = len(values) // 2
    return values[:n], values[n:]


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
