"""Attention over one packed row: no request sees another, and each device has its kernel."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .blocks import attend_blocks as attend_blocks
    from .fastest import choose_fastest as choose_fastest
    from .interface import (
        attend as attend,
        laid_out as laid_out,
        packed_attention as packed_attention,
    )
    from .kernel import (
        Asked as Asked,
        CannotPackError as CannotPackError,
        Choose as Choose,
        Kernel as Kernel,
    )
    from .layout import Layout as Layout, to_device as to_device
else:
    __getattr__, __dir__ = lazy_exports(__name__)
