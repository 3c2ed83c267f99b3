"""The HTML page of a report."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .write import report as report
else:
    __getattr__, __dir__ = lazy_exports(__name__)
