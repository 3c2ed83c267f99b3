"""Pairs in the formats of other tools."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .export import (
        Exported as Exported,
        Target as Target,
    )
    from .prompt_rendering import (
        STORED as STORED,
        Rendering as Rendering,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
