"""Training a model on pairs, and watching the pass rate of any training."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .callback import (
        NNDCallback as NNDCallback,
    )
    from .curves import (
        curve as curve,
    )
    from .fine_tuning import (
        train as train,
    )
    from .objective import (
        Lora as Lora,
        Objective as Objective,
        Schedule as Schedule,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
