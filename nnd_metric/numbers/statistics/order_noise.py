"""Do the contexts suffice to say how systems differ?

The noise in the rates of systems lowers their correlation with anything. If it is a large part of
their differences, no resample shows how high the correlation would be without it: in simulations
(5 to 16 systems, 12 to 400 contexts), 95 % intervals of r and tau contained the true value in 70 to
85 % of the sets where the reliability of the rates was 0.3 to 0.7, and in 94 to 99 % where it was
above `LEAST_RELIABILITY`. Below that there is no interval.

    reliability = 1 - noise / variance of the rates over systems

where the noise is the same variance of the changes of the rates in resampled contexts (Spearman
1904, The proof and measurement of association between two things, American Journal of Psychology
15, 72-101; by analysis of variance, Fleiss 1986, The design and analysis of clinical experiments,
chapter 1).
"""

import numpy as np
import numpy.typing as npt

from nnd.metric.numbers.statistics.intervals import MOSTLY_UNDEFINED, ONE_CONTEXT, FloatArray

LEAST_RELIABILITY = 0.8

UNKNOWN = "the contexts are unknown"
ALIKE = "the systems differ too little for so few contexts"
CONSTANT = "all contexts agree"


def reason_against_order(values: npt.ArrayLike, resampled: FloatArray) -> str | None:
    """Return why numbers of systems have no interval of their order or correlation, or None.

    `values` are the numbers, [systems], `resampled` the same on resampled contexts, [resamples,
    systems]; nan where undefined.
    """
    if not resampled.size:
        return UNKNOWN
    if np.size(values) < 2:  # noqa: PLR2004 - one system has no order
        return UNKNOWN
    undefined = np.isnan(resampled)
    if undefined.all(axis=0).any():
        return ONE_CONTEXT
    known = ~undefined.any(axis=1)
    if known.mean() < 0.5:  # noqa: PLR2004 - a half
        return MOSTLY_UNDEFINED
    numbers = np.asarray(values, dtype=np.float64)
    changes = resampled[known] - numbers
    noise = float(changes.var(axis=1, ddof=1).mean())
    if not changes.any():
        return CONSTANT
    spread = float(numbers.var(ddof=1))
    return ALIKE if noise > (1 - LEAST_RELIABILITY) * spread else None
