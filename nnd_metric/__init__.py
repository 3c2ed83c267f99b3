"""The metric: model and pairs in, pass rates and agreement with human scores out."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .about import (
        CITATION as CITATION,
        DESCRIPTION as DESCRIPTION,
        INPUTS as INPUTS,
        PAPER as PAPER,
    )
    from .estimation import estimate as estimate
    from .evaluation import (
        Evaluation as Evaluation,
        Sweep as Sweep,
    )
    from .sweep import evaluate as evaluate
    from .trouble import Failure as Failure
else:
    __getattr__, __dir__ = lazy_exports(__name__)
