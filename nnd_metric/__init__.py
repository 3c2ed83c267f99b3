"""The metric: model and pairs in, pass rates and agreement with human scores out."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .evaluation import Evaluation as Evaluation, evaluate_models as evaluate_models
    from .sweep import (
        Failure as Failure,
        Sweep as Sweep,
        name_datasets as name_datasets,
        sweep as sweep,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
