"""Differences and comparisons with chosen numbers."""

from collections.abc import Mapping
from dataclasses import replace

from nnd.metric.numbers import Comparison, ModelDifference

NO_LEAD = ModelDifference(
    n=0,
    rate=None,
    other=None,
    difference=None,
    interval=None,
    interval_reason="fewer than two independent contexts",
    p=None,
    p_holm=None,
    only_first=0,
    only_second=0,
    unscored=0,
    undecidable=0,
    contexts=0,
    clusters=0,
    needed=None,
)
"""Of no tests."""


def lead(value: float, *, p: float = 0.005, p_holm: float | None = None) -> ModelDifference:
    """A lead over a pass rate of 50 % of 40 tests, known to 5 points."""
    return replace(
        NO_LEAD,
        n=40,
        rate=0.5 + value,
        other=0.5,
        difference=value,
        interval=(value - 0.05, value + 0.05),
        p=p,
        p_holm=p_holm,
        contexts=40,
        clusters=40,
    )


def comparison(
    first: str,
    second: str,
    overall: ModelDifference,
    by: Mapping[str, Mapping[str, ModelDifference]],
) -> Comparison:
    """A comparison of two models."""
    return Comparison(
        first=first,
        second=second,
        signature_first=None,
        signature_second=None,
        n_pairs=overall.n,
        only_in_first=0,
        only_in_second=0,
        overall=overall,
        by=by,
        sentences=(),
        cautions=(),
    )
