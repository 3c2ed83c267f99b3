"""Agreement of pass rates with human scores."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .manners import with_manners as with_manners
    from .measures import FEWEST_MODELS as FEWEST_MODELS, try_agreement as try_agreement
    from .outcome import Agreement as Agreement
    from .over_datasets import Agreements as Agreements
    from .runs import agree as agree
    from .stored import (
        agree_rated as agree_rated,
        agree_scored as agree_scored,
        category_column as category_column,
        read_scored as read_scored,
        stored_systems as stored_systems,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
