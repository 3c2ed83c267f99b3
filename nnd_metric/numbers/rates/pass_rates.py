"""Pass rates with their n and intervals, overall and by slice, from scored pairs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated

import polars as pl

from nnd.metric.data import SLICES
from nnd.metric.numbers.rates.baselines import (
    BASELINES,
    TOKEN_BASELINES,
    WINNERS,
    Baseline,
    LengthMatched,
    baseline_in,
    judge,
    matched_in,
    twice_the_lead,
)
from nnd.metric.numbers.rates.context_sums import (
    CLUSTER_NUMBER,
    CONTEXT_NUMBER,
    NUMBERED_BY,
    add_known,
    distinct_tests,
    each_once,
    number_tests,
    slices_by,
)
from nnd.metric.numbers.rates.equal_length import (
    LENGTHS,
    EqualLength,
    add_lengths,
    equal_length_in,
)
from nnd.metric.numbers.statistics.context_intervals import (
    ClusterInterval,
    Method,
    cluster_intervals,
)
from nnd.metric.numbers.statistics.intervals import Interval, wilson
from nnd.schemas import SPARSE, UNSTORED, Count, FlatKeys, Keys, Record, Share, record_frame

SLICE_NUMBERS = tuple(pl.col(name).cast(pl.Categorical) for name in SLICES)
"""The columns of SLICES in four bytes a row each, for `to_rate`."""

_CHARACTERS = ("unknown", "characters", "unknown_context", "characters_context")

_VERDICTS = (
    *("passed", "tie", "truncated", "unscored", "matched", "conditional", "won_by_more"),
    *("same_tokens", *_CHARACTERS),
    *LENGTHS,
    *BASELINES,
)


_COLUMNS = (
    *("model", "slice", "value", "n", "passes", "ties", "unscored", "undecidable"),
    *("pass_rate", "low", "high"),
    *(f"equal_length_{name}" for name in ("pass_rate", "low", "high", "slope", "n", "near")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate(Record):
    """A pass rate with its counts and intervals.

    Attributes:
        pass_rate: passes / n, or None if n is 0.
        n: Tests.
        passes: Tests passed: LL(high) > LL(low), strictly.
        ties: Tests failed with equal likelihoods.
        unscored: Tests failed because a likelihood is missing.
        undecidable: Tests failed because the tokenizer reads both texts as the same tokens: ties,
            or unscored if it reads none. None if unknown, as for scorers and in older results.
        unknown: Share of the candidates' characters that the tokenizer does not know; None as for
            `undecidable`, or without a character.
        unknown_context: The same of the characters of the contexts, test by test.
        truncated: Tests whose context was cut to fit the window; None if unknown, as for scorers.
        interval: 95 % interval over clusters of contexts, or None if fewer than two have tests.
        interval_method: How the interval was made: `logit-t`, Student's t on the log-odds scale;
            `all-agree` if all tests pass or all fail, so that each cluster counts as one test; None
            without an interval. Older results lack it: they have percentiles of a bootstrap.
        contexts: Contexts with tests. Older results lack it.
        clusters: Clusters with tests: contexts that share what the data declares, such as a
            paragraph; else each context is one. Older results lack it: they are over contexts.
        context_interval: 95 % interval over contexts, as if they were independent; None where each
            is a cluster of its own.
        wilson: 95 % Wilson interval, which treats tests as independent; for reference.
        baselines: Judges that see only the surface of the texts, or no context, on the same tests;
            None if one decides none of them or is the model itself.
        equal_length: The rate at equal numbers of tokens; None if these are unknown, as for other
            metrics and in older results.
        length_matched: The rate on tests whose candidates match in length, or None if lengths are
            unknown.
        few_tokens: Tests with a candidate of fewer than FEW_TOKENS tokens and another of a
            different number, and in how many of them the one with more tokens wins.
        interval_reason: Why there is no interval; None if there is one, and in older results. It
            holds for the lead over the baselines, too.
    """

    pass_rate: Share | None
    n: Count
    passes: Count
    ties: Count
    unscored: Count
    undecidable: Count | None = None
    unknown: Share | None = None
    unknown_context: Share | None = None
    truncated: Count | None
    interval: Interval | None
    interval_method: Method | None = None
    contexts: Count = 0
    clusters: Count = 0
    context_interval: Interval | None = None
    wilson: Interval | None
    baselines: Annotated[
        Mapping[str, Baseline | None], Keys((*BASELINES,), WINNERS, TOKEN_BASELINES)
    ]
    length_matched: LengthMatched | None
    equal_length: EqualLength | None = None
    few_tokens: Annotated[tuple[int, int], UNSTORED] = (0, 0)
    interval_reason: Annotated[str | None, SPARSE] = None


@dataclass(frozen=True, slots=True)
class PassRates(Record):
    """Pass rates of one model.

    Attributes:
        overall: Rate over distinct candidates.
        n_pairs: Pairs; the overall rate counts distinct (high, low) candidates of a context once.
        by: Column of the pairs → value → rate over its pairs.
    """

    overall: Annotated[Rate, FlatKeys()]
    n_pairs: Count
    by: Annotated[Mapping[str, Mapping[str, Rate]], Keys(SLICES), FlatKeys("by_")]


def pass_rates(scored: pl.DataFrame) -> PassRates:
    """Summarise the scored pairs of one model, rows of SCORED_SCHEMA."""
    return all_rates(to_rate([scored], *SLICE_NUMBERS))


def all_rates(rated: pl.DataFrame) -> PassRates:
    """Return a model's pass rates, overall and by slice, from `to_rate` with columns SLICES."""
    slices = {
        c: slices_by(rated.select(c, CLUSTER_NUMBER, CONTEXT_NUMBER, *_VERDICTS), c) for c in SLICES
    }
    by = {c: {value: rate_of(rows) for value, rows in own.items()} for c, own in slices.items()}
    return PassRates(rate_of(each_once(rated.drop(SLICES))), rated.height, by)


def to_rate(scored: Iterable[pl.DataFrame], *columns: str | pl.Expr) -> pl.DataFrame:
    """Return the columns for rates, with numbers instead of ids, which take most memory.

    They are `columns`, the numbers of clusters, contexts and tests (`number_tests`), the verdicts
    of the model and of every baseline (`judge`), and the candidates' own tokens. `scored` holds
    rows of SCORED_SCHEMA for one model, in one or more pieces, of which only the needed columns are
    kept in memory.
    """
    judged = (
        judge(add_lengths(rows)).with_columns(pl.col(_CHARACTERS).cast(pl.UInt32))
        for rows in scored
    )
    rated = pl.concat(rows.select(*columns, *_VERDICTS, *NUMBERED_BY) for rows in judged)
    return rated.drop(NUMBERED_BY).hstack(number_tests(rated))


def rate_of(rated: pl.DataFrame) -> Rate:
    """Return the pass rate of some rows of `to_rate`."""
    n, passes = rated.height, int(rated["passed"].sum())
    own, matched, leads = _intervals(rated)
    contexts = rated[CONTEXT_NUMBER].n_unique()
    return Rate(
        n=n,
        passes=passes,
        ties=int(rated["tie"].sum()),
        unscored=int(rated["unscored"].sum()),
        undecidable=add_known(rated["same_tokens"]),
        unknown=_share(rated["unknown"], rated["characters"]),
        unknown_context=_share(rated["unknown_context"], rated["characters_context"]),
        truncated=add_known(rated["truncated"]),
        pass_rate=passes / n if n else None,
        interval=own.bounds,
        interval_method=own.method,
        interval_reason=own.reason,
        contexts=contexts,
        clusters=own.contexts,
        context_interval=None if contexts == own.contexts else _over_contexts(rated),
        wilson=wilson(passes, n),
        baselines={
            name: baseline_in(rated, name, lead.bounds)
            for name, lead in zip(BASELINES, leads, strict=True)
        },
        length_matched=matched_in(rated, matched),
        equal_length=equal_length_in(rated),
        few_tokens=(n - rated["won_by_more"].null_count(), int(rated["won_by_more"].sum())),
    )


def _share(part: pl.Series, whole: pl.Series) -> float | None:
    """Return the share of a whole, or None if it is unknown, or of nothing."""
    some, every = add_known(part), add_known(whole)
    return None if some is None or not every else some / every


def _intervals(
    rated: pl.DataFrame,
) -> tuple[ClusterInterval, ClusterInterval, list[ClusterInterval]]:
    """Return the intervals of the pass rate, the rate where matched, the leads over BASELINES."""
    passed, matched = pl.col("passed").cast(pl.Int8), pl.col("matched").cast(pl.Int8)
    leads = {name: twice_the_lead(name) for name in BASELINES}
    sums = rated.group_by(CLUSTER_NUMBER).agg(
        pl.len().alias("tests"),
        passed.sum(),
        matched.sum(),
        (passed * matched).sum().alias("passed_matched"),
        *(lead.sum().alias(name) for name, lead in leads.items()),
        *((lead**2).sum().alias(f"{name}_squared") for name, lead in leads.items()),
    )
    return (
        _interval(sums["passed"], sums["passed"], sums["tests"]),
        _interval(sums["passed_matched"], sums["passed_matched"], sums["matched"]),
        [
            _interval(sums[name] / 2, sums[f"{name}_squared"] / 4, sums["tests"], lowest=-1)
            for name in BASELINES
        ],
    )


def _over_contexts(rated: pl.DataFrame) -> Interval | None:
    sums = rated.group_by(CONTEXT_NUMBER).agg(pl.len().alias("tests"), pl.col("passed").sum())
    return _interval(sums["passed"], sums["passed"], sums["tests"]).bounds


def _interval(
    sums: pl.Series, squares: pl.Series, tests: pl.Series, *, lowest: float = 0
) -> ClusterInterval:
    matrices = (column.to_numpy()[:, None] for column in (sums, squares, tests))
    return cluster_intervals(*matrices, lowest=lowest)[0]


def count_close(scored: pl.DataFrame, deviation: float, *, summed: bool = False) -> int:
    """Count the tests whose margin is smaller than a deviation, which could change the verdict.

    The deviation is how far a log-likelihood may be off, in nats per scored token. `summed` says
    that log-likelihoods are sums over tokens, not means.
    """
    return distinct_tests(scored).filter(is_close(deviation, summed=summed)).height


def is_close(deviation: float, *, summed: bool = False) -> pl.Expr:
    """Return whether a margin is smaller than a deviation (arguments as in `count_close`)."""
    tokens = pl.max_horizontal("tokens_high", "tokens_low") if summed else pl.lit(1)
    return (pl.col("ll_high") - pl.col("ll_low")).abs() < deviation * tokens


def rate_frame(models: Mapping[str, PassRates]) -> pl.DataFrame:
    """Return a row per model and slice.

    Returns:
        model, slice ("overall", or the column of SLICES), value ("overall", or the slice's value),
        n, passes, ties, unscored, undecidable, pass_rate, low and high (the 95 % interval over
        contexts); the same at equal length (equal_length_pass_rate, _low, _high) with the slope of
        the fit, its tests and how many are near equality (_slope, _n, _near; `EqualLength`).
    """
    rows = (
        ({"model": model, "slice": column, "value": value}, rate)
        for model, rates in models.items()
        for column, by in {"overall": {"overall": rates.overall}, **rates.by}.items()
        for value, rate in by.items()
    )
    return record_frame(_COLUMNS, rows, Rate)
