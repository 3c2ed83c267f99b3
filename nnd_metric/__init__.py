"""The metric: model and pairs in, pass rates and agreement with human scores out."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from nnd.metric.numbers import (
        CITATION as CITATION,
        DESCRIPTION as DESCRIPTION,
        INPUTS as INPUTS,
        PAPER as PAPER,
    )
    from nnd.metric.run import (
        Evaluation as Evaluation,
        Failure as Failure,
        Sweep as Sweep,
        estimate as estimate,
        evaluate as evaluate,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
