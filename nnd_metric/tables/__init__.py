"""Results as tables for a terminal."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .agreement import (
        agreement_notes as agreement_notes,
        agreement_table as agreement_table,
        correlations_table as correlations_table,
        datasets_table as datasets_table,
        extrapolation_tables as extrapolation_tables,
        points_table as points_table,
    )
    from .comparisons import (
        ahead_table as ahead_table,
        comparison_table as comparison_table,
        rates_table as rates_table,
        verdict_table as verdict_table,
    )
    from .curves import curve_table as curve_table
    from .effects import (
        category_effects_table as category_effects_table,
        effects_table as effects_table,
    )
    from .metric_details import metrics_details as metrics_details
    from .metrics import (
        metrics_by_dataset as metrics_by_dataset,
        metrics_overview as metrics_overview,
        metrics_remarks as metrics_remarks,
    )
    from .pass_rates import (
        baselines_table as baselines_table,
        counts_table as counts_table,
        pass_rate_table as pass_rate_table,
        slices_table as slices_table,
    )
    from .slices import (
        from_rest_table as from_rest_table,
        slice_rates_table as slice_rates_table,
    )
    from .sweeps import failure_table as failure_table, sweep_table as sweep_table
    from .validity import giveaways_table as giveaways_table, validity_table as validity_table
    from .variation import variation_table as variation_table
else:
    __getattr__, __dir__ = lazy_exports(__name__)
