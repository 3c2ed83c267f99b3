"""What a report shows, gathered from stored runs."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .gathered import Content as Content, gather as gather
    from .groups import Group as Group, main_column as main_column, main_groups as main_groups
    from .models import Evaluated as Evaluated
    from .pairs import pack_pairs as pack_pairs
    from .points import Points as Points
else:
    __getattr__, __dir__ = lazy_exports(__name__)
