"""Where the models of a sweep are scored: one after the other, or side by side on several GPUs."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .choice import score_models as score_models
else:
    __getattr__, __dir__ = lazy_exports(__name__)
