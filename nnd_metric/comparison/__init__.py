"""Models compared on the pairs that all of them were scored on."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .entries import Entry as Entry, group_runs as group_runs
    from .models import compare as compare, compare_entries as compare_entries
    from .outcome import Comparison as Comparison, Comparisons as Comparisons
    from .ranking import mean_ranking as mean_ranking
    from .validity import Validity as Validity
else:
    __getattr__, __dir__ = lazy_exports(__name__)
