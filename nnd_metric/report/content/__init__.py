"""What a report shows, gathered from stored runs."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .datasets import gather_each as gather_each
    from .drawn import Figures as Figures, draw_figures as draw_figures
    from .gathered import Compared as Compared, Content as Content
    from .models import Evaluated as Evaluated
    from .pairs import MOST_PAIRS as MOST_PAIRS, pack_pairs as pack_pairs
else:
    __getattr__, __dir__ = lazy_exports(__name__)
