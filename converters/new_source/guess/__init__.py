"""Guessing what the columns of a file mean."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .guessing import (
        UNUSED as UNUSED,
        Guess as Guess,
        every_column as every_column,
        guess as guess,
    )
    from .looking import samples as samples
    from .measures import MARKS as MARKS, Measure as Measure
    from .quality import UNSPECIFIED as UNSPECIFIED
    from .questions import Answers as Answers, Ask as Ask, Question as Question
    from .shapes import without_tags as without_tags
    from .unread import not_read as not_read
    from .words import slug as slug
else:
    __getattr__, __dir__ = lazy_exports(__name__)
