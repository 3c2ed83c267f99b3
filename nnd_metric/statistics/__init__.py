"""Intervals, correlations and significance tests: numbers in, numbers out."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .candidate_intervals import (
        mean_intervals as mean_intervals,
        pooled_samples as pooled_samples,
    )
    from .context_intervals import (
        FEW_CONTEXTS as FEW_CONTEXTS,
        ClusterInterval as ClusterInterval,
        Method as Method,
        cluster_intervals as cluster_intervals,
    )
    from .correlated import (
        Compared as Compared,
        Correlated as Correlated,
        Permutations as Permutations,
        correlate as correlate,
    )
    from .correlations import (
        STATISTICS as STATISTICS,
        kendall_tau_b as kendall_tau_b,
        mean_defined as mean_defined,
        pearson as pearson,
    )
    from .extrapolation import Extrapolation as Extrapolation, extrapolate as extrapolate
    from .interval_text import (
        ALL_AGREE as ALL_AGREE,
        do_all_agree as do_all_agree,
        percent as percent,
        rate_and_interval as rate_and_interval,
        tests_of as tests_of,
    )
    from .intervals import (
        FloatArray as FloatArray,
        Interval as Interval,
        bootstrap_ratios as bootstrap_ratios,
        interval_of_most as interval_of_most,
        wilson as wilson,
    )
    from .over_datasets import EACH_ONCE as EACH_ONCE, mean_over as mean_over
    from .permutation import permutation_p as permutation_p
    from .significance import (
        LEVEL as LEVEL,
        holm as holm,
        mcnemar_exact as mcnemar_exact,
        pairs_needed as pairs_needed,
    )
    from .system_bootstrap import FEWEST_SYSTEMS as FEWEST_SYSTEMS, draw_systems as draw_systems
    from .unpaired import Unpaired as Unpaired, unpaired_differences as unpaired_differences
else:
    __getattr__, __dir__ = lazy_exports(__name__)
