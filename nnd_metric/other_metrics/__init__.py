"""NND compared with other metrics: their scores, and how far each agrees with human judgements."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .candidate_correlations import (
        CandidateAgreement as CandidateAgreement,
        MeanJudgement as MeanJudgement,
    )
    from .common_basis import (
        CommonBasis as CommonBasis,
    )
    from .metric_differences import (
        MetricDifference as MetricDifference,
    )
    from .metric_table import (
        MetricRow as MetricRow,
        MetricTable as MetricTable,
        MetricTables as MetricTables,
    )
    from .on_datasets import (
        metrics as metrics,
    )
    from .scorers.references import (
        match_references as match_references,
        read_reference_table as read_reference_table,
        read_references as read_references,
        reference_column as reference_column,
        reference_rows as reference_rows,
        references_in as references_in,
    )
    from .scorers.scorer import (
        Text as Text,
        TextScorer as TextScorer,
    )
    from .scorers.scorer_names import (
        find_scorers as find_scorers,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
