"""The linter of data cards: every count is computed again."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .checks import check_card as check_card
else:
    __getattr__, __dir__ = lazy_exports(__name__)
