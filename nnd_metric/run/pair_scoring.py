"""From pairs to per-pair log-likelihoods, from which everything else is computed."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from nnd.metric.data import (
    ALONE_SCHEMA,
    CHILD_SCHEMA,
    READING_SCHEMA,
    SCORED_SCHEMA,
    PairSet,
    contexts_of,
)
from nnd.metric.likelihood import Likelihoods, Scorer, TokenReading, Work
from nnd.metric.numbers import measure
from nnd.metric.text import Prompt, Request, Template, left_out, render
from nnd.schemas import DISTINCT, CandidateError, ScoringError, collector_paused


class SuiteScores(NamedTuple):
    """The scores of pairs and of the sets of a suite.

    Attributes:
        pairs: A row per pair in the order of `data.pairs`, with the columns of SCORED_SCHEMA.
        children: A row per pair of the sets, with the columns of CHILD_SCHEMA.
        no_baseline: Why the requested columns of ALONE_SCHEMA are null, or None.
    """

    pairs: pl.DataFrame
    children: pl.DataFrame
    no_baseline: str | None
    work: Work


def score_pairs(data: PairSet, scorer: Scorer, template: Template) -> pl.DataFrame:
    """Score both candidates of every pair given its context.

    A pair is passed iff LL(high) > LL(low), strictly. Equal likelihoods are a tie; an undefined
    likelihood is null. Both count as failures. Two texts of the same tokens are a tie, too, where a
    protocol divides the same sum by their bytes.

    Returns one row per pair in the order of `data.pairs`, with the columns of SCORED_SCHEMA; those
    of ALONE_SCHEMA are null, and `score_suite` fills them. An error of the scorer names the pair.
    """
    return score_suite(replace(data, sets=()), scorer, template).pairs


def score_suite(
    data: PairSet, scorer: Scorer, template: Template, *, unconditional: bool = False
) -> SuiteScores:
    """Score pairs, those of the sets, and the baseline without contexts in one call of the scorer.

    If `unconditional`, the candidates of `data.pairs` are also scored without their contexts. Their
    text is the same; the rendered context is omitted. If a scorer refuses, it is called again
    without the baseline.
    """
    n, members = data.pairs.height, _members(data)
    pairs = _with_others(data.pairs, members)
    prompts = render(template, contexts_of(pairs))
    given = requests_of(pairs, prompts)
    alone: list[Request] = []
    if unconditional:
        alone = [
            (left_out(context), text) for context, text in requests_of(data.pairs, prompts[:n])
        ]
    likelihoods, no_baseline = _score_both(scorer, given, alone, pairs)
    values = pl.Series(likelihoods.log_likelihood, dtype=pl.Float64).fill_nan(None)
    scored = _as_rows(pairs, likelihoods, values)
    children = members.select("set", "parent_id", "pair_id").join(
        scored.unique("pair_id", keep="first"), on="pair_id", maintain_order="left"
    )
    children = children.with_columns(distinct=pl.struct("set", *DISTINCT).is_first_distinct())
    scored = scored.head(n).with_columns(distinct=pl.struct(DISTINCT).is_first_distinct())
    if len(values) > len(given):
        high, low = values[-2 * n : -n], values[-n:]
        scored = scored.with_columns(ll_alone_high=high, ll_alone_low=low)
    children = children.select(CHILD_SCHEMA.names())
    return SuiteScores(scored, children, no_baseline, likelihoods.work)


def _members(data: PairSet) -> pl.DataFrame:
    """Return the pairs of all sets, each with the name of its `set`."""
    sets = [each.pairs.with_columns(set=pl.lit(each.name)) for each in data.sets]
    return pl.concat(sets, how="diagonal") if sets else pl.DataFrame(schema=CHILD_SCHEMA)


def _with_others(pairs: pl.DataFrame, members: pl.DataFrame) -> pl.DataFrame:
    """Return pairs, and below them those of sets that are not among them, each once."""
    if members.is_empty():
        return pairs
    known = pairs["pair_id"].implode()
    others = members.filter(~pl.col("pair_id").is_in(known)).unique("pair_id", maintain_order=True)
    return pl.concat([pairs, others.drop("set")], how="diagonal")


def _as_rows(pairs: pl.DataFrame, found: Likelihoods, values: pl.Series) -> pl.DataFrame:
    """Return a row per pair with the columns of SCORED_SCHEMA; those of ALONE_SCHEMA are null."""
    n = pairs.height
    high, low = values[:n], values[n : 2 * n]
    divisors = [None] * (2 * n) if found.divisors is None else found.divisors
    read = _reading(pairs, found.reading)
    same = read["same_tokens"].fill_null(value=False)
    columns = {
        "ll_high": high,
        "ll_low": low,
        "tokens_high": pl.Series(found.tokens[:n], dtype=pl.Int64),
        "tokens_low": pl.Series(found.tokens[n : 2 * n], dtype=pl.Int64),
        "divisor_high": pl.Series(divisors[:n], dtype=pl.Int64),
        "divisor_low": pl.Series(divisors[n : 2 * n], dtype=pl.Int64),
        "end_tokens": pl.repeat(found.end_tokens, n, dtype=pl.Int64, eager=True),
        "truncated": pl.Series(found.truncated[:n], dtype=pl.Boolean),
        "passed": ((high > low) & ~same).fill_null(value=False),
        "tie": ((high == low) | (same & high.is_not_null())).fill_null(value=False),
    }
    nothing = {name: pl.lit(None, dtype) for name, dtype in ALONE_SCHEMA.items()}
    nothing["distinct"] = pl.lit(None, pl.Boolean)  # among which rows is not known here
    everything = pairs.with_columns(**columns, **nothing).with_columns(*measure(pairs), *read)
    return everything.select(pl.col(name).cast(dtype) for name, dtype in SCORED_SCHEMA.items())


def _reading(pairs: pl.DataFrame, found: TokenReading | None) -> pl.DataFrame:
    """Return the columns of READING_SCHEMA; null without a tokenizer."""
    n = pairs.height
    if found is None:
        return pl.DataFrame({name: [None] * n for name in READING_SCHEMA}, READING_SCHEMA)
    high, low = (TokenReading(*(column[at : at + n] for column in found)) for at in (0, n))
    columns = {
        "same_tokens": high.tokens == low.tokens,
        "unknown_high": high.unknown,
        "unknown_low": low.unknown,
        "unknown_context": high.unknown_context,
        "characters_context": high.context,
    }
    # What a template puts before a candidate may be unknown, too.
    most = pairs.select(
        pl.col(f"candidate_{side}").str.len_chars().cast(pl.Int64).alias(f"unknown_{side}")
        for side in ("high", "low")
    )
    return pl.DataFrame(columns, READING_SCHEMA).with_columns(
        pl.min_horizontal(name, most[name]).alias(name) for name in most.columns
    )


@collector_paused()
def requests_of(pairs: pl.DataFrame, prompts: Sequence[Prompt]) -> list[Request]:
    """Return the requests to a scorer: all good candidates, then all bad ones."""
    return [
        (prompt.context, prompt.candidate_prefix + candidate)
        for side in ("high", "low")
        for prompt, candidate in zip(prompts, pairs[f"candidate_{side}"], strict=True)
    ]


def _score_both(
    scorer: Scorer, given: list[Request], alone: list[Request], pairs: pl.DataFrame
) -> tuple[Likelihoods, str | None]:
    """Score candidates with and without contexts; if that fails, only with contexts."""
    try:
        return _score(scorer, given + alone, pairs), None
    except ScoringError as error:
        if not alone:
            raise
        reason = str(error)
    return _score(scorer, given, pairs), reason


def _score(scorer: Scorer, requests: Sequence[Request], pairs: pl.DataFrame) -> Likelihoods:
    try:
        likelihoods = scorer(requests)
    except CandidateError as error:
        candidates = [candidate for _, candidate in requests]
        row = candidates.index(error.candidate) % pairs.height  # all high, then all low
        raise error.inside(f"pair {pairs['pair_id'][row]}", ScoringError) from error
    answers = {
        len(values)
        for values in (likelihoods.log_likelihood, likelihoods.tokens, likelihoods.truncated)
    }
    if answers != {len(requests)}:
        raise ScoringError(
            "scorer.values",
            f"the scorer returned {' or '.join(map(str, sorted(answers)))} values for "
            f"{len(requests)} requests",
            remedy="it must return one of each for every request",
        )
    return likelihoods
