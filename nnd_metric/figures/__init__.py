"""The figures: pass rates, their differences, their agreement with human scores."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .agreement import draw_agreement as draw_agreement
    from .comparison import (
        Side as Side,
        draw_comparison as draw_comparison,
        draw_comparisons as draw_comparisons,
    )
    from .effects import draw_effects as draw_effects
    from .extrapolation import draw_extrapolation as draw_extrapolation
    from .flips import draw_flips as draw_flips
    from .forest import IN_WORDS as IN_WORDS, draw_forest as draw_forest
    from .groups import (
        Group as Group,
        find_groups as find_groups,
        main_column as main_column,
        main_groups as main_groups,
    )
    from .heat_map import draw_heat_map as draw_heat_map
    from .points import Points as Points
    from .scaling import draw_scaling as draw_scaling, in_short as in_short
else:
    __getattr__, __dir__ = lazy_exports(__name__)
