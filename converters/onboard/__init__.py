"""Adding a source: guessing its columns, writing its folder, checking it."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .check.source_checks import (
        check_source as check_source,
    )
    from .scaffold.scaffolding import (
        new_source as new_source,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
