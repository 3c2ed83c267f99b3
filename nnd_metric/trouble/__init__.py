"""Failures that do not end a sweep."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .survival import Failure as Failure, Trouble as Trouble, reason_of as reason_of
else:
    __getattr__, __dir__ = lazy_exports(__name__)
