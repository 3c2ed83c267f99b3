"""A run as one HTML page, and as figures for papers."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .page import report as report
else:
    __getattr__, __dir__ = lazy_exports(__name__)
