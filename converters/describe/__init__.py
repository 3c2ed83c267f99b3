"""Descriptions of the texts of pairs: better and worse candidates side by side."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .outcome import Description as Description
    from .overlap import best_rouge as best_rouge
    from .sides import describe_pairs as describe_pairs, report_texts as report_texts
else:
    __getattr__, __dir__ = lazy_exports(__name__)
