"""What the columns of a file mean."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .aspects import Measure as Measure
    from .columns import Column as Column
    from .content import Content as Content, read_content as read_content
    from .direction import more_is_better as more_is_better
    from .guessing import Guess as Guess, guess as guess, samples as samples
    from .levels import Field as Field
    from .questions import Answers as Answers, Ask as Ask, Question as Question
    from .words import ANNOTATOR as ANNOTATOR, COUNTED as COUNTED, slug as slug
else:
    __getattr__, __dir__ = lazy_exports(__name__)
