"""The figures of a report, one a module."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .chosen import Figures as Figures, draw_figures as draw_figures
    from .forest import IN_WORDS as IN_WORDS
    from .scaling import in_short as in_short
else:
    __getattr__, __dir__ = lazy_exports(__name__)
