"""NND compared with other metrics: how far each agrees with human judgements."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .on_datasets import metrics as metrics
    from .outcome import MetricTable as MetricTable, MetricTables as MetricTables
else:
    __getattr__, __dir__ = lazy_exports(__name__)
