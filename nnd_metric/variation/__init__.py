"""The effect of choices on verdicts: the same pairs under other protocols, dtypes and texts."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .outcome import LeftOut as LeftOut, Variant as Variant, Variation as Variation
    from .over_choices import vary as vary
else:
    __getattr__, __dir__ = lazy_exports(__name__)
