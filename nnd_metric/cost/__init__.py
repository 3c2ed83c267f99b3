"""What scoring costs, known before it starts: tokens, operations, memory and time."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .flops import needed_flops as needed_flops
    from .needs import Need as Need, find_needs as find_needs
    from .outcome import Estimate as Estimate, ModelEstimate as ModelEstimate
    from .speeds import keep_speed as keep_speed, known_speed as known_speed
else:
    __getattr__, __dir__ = lazy_exports(__name__)
