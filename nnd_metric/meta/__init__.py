"""NND beside other metrics, and how far each agrees with human judgements."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .judged import read_judged as read_judged
    from .table import compare_metrics as compare_metrics
else:
    __getattr__, __dir__ = lazy_exports(__name__)
