"""The content of unknown files: objects in levels, and columns of their fields."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .columns import (
        SAYS_LITTLE as SAYS_LITTLE,
        Column as Column,
        columns_of as columns_of,
        determines as determines,
        joint as joint,
        words_of as words_of,
    )
    from .levels import Level as Level, alike_objects as alike_objects, path_of as path_of
    from .reading_files import (
        SUFFIXES as SUFFIXES,
        Content as Content,
        read_content as read_content,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
