"""Pass rates while a model trains: the callback, its history and its curves."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .callback import NNDCallback as NNDCallback
    from .curves import Curves as Curves, curve as curve
else:
    __getattr__, __dir__ = lazy_exports(__name__)
