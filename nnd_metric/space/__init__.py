"""The metric where `evaluate` finds it: installed in its cache, or published as a Space."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .installing import (
        install_metric as install_metric,
    )
    from .metric import (
        NND as NND,
    )
    from .publishing import (
        publish_metric as publish_metric,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
