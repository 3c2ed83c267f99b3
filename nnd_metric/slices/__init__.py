"""Slices of scored pairs: where models fail, without running them again."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .conditions import where_true as where_true
    from .naming import (
        NamedSlice as NamedSlice,
        find_slices as find_slices,
        slice_names as slice_names,
    )
    from .outcome import Slices as Slices
    from .runs import slice_runs as slice_runs
else:
    __getattr__, __dir__ = lazy_exports(__name__)
