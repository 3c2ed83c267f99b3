"""Checking a source as a reviewer would."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .checks import check_source as check_source
    from .outcome import Check as Check
    from .report import CheckReport as CheckReport
else:
    __getattr__, __dir__ = lazy_exports(__name__)
