"""Suites: the effect of each set on the pass rate of a model."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .effects import (
        PARENTS as PARENTS,
        UNPAIRED as UNPAIRED,
        Effect as Effect,
        SetEffect as SetEffect,
        find_effects as find_effects,
    )
    from .outcome import Effects as Effects, all_effects as all_effects
else:
    __getattr__, __dir__ = lazy_exports(__name__)
