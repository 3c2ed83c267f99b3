"""The points of a figure of agreement: pass rates and human scores."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Points:
    """The models of one category.

    Attributes:
        category: "overall", or the category.
        judged: Model → its rate (`results.Rate.to_dict`) and its human score.
        unjudged: Model → its rate, for models that were not judged.
        agreement: The agreement in the category (`agreement.CategoryAgreement`).
    """

    category: str
    judged: Mapping[str, tuple[Mapping[str, Any], float]]
    unjudged: Mapping[str, Mapping[str, Any]]
    agreement: Mapping[str, Any]
