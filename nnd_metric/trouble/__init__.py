"""What goes wrong in a sweep, and does not end it."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .survival import Failure as Failure, Trouble as Trouble, reason_of as reason_of
else:
    __getattr__, __dir__ = lazy_exports(__name__)
