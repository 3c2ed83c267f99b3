"""A new source from an annotation file: guesses its columns and writes its folder."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .guess import Answers as Answers, Ask as Ask, Guess as Guess, Question as Question
    from .scaffold import NewSource as NewSource, new_source as new_source
else:
    __getattr__, __dir__ = lazy_exports(__name__)
