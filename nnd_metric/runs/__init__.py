"""Lists of runs: sweeps defined in a file, which can be kept, resumed and cited."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .entries import RunEntry as RunEntry, read_entries as read_entries
    from .scored import check_entries as check_entries, score_entries as score_entries
else:
    __getattr__, __dir__ = lazy_exports(__name__)
