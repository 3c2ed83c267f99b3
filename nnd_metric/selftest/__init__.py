"""A model's numbers against an independent computation: other token ids, float64, one by one."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .self_test import (
        TOLERANCE as TOLERANCE,
        ProtocolTest as ProtocolTest,
        SelfTest as SelfTest,
        Worst as Worst,
    )
    from .testing import (
        run_self_test as run_self_test,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
