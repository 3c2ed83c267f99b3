"""Quality as a partial order: which of two candidates is better, if this is known."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from nnd.schemas import (
        Credit as Credit,
        Gap as Gap,
        Majority as Majority,
        NoError as NoError,
        Order as Order,
        Rule as Rule,
        Rules as Rules,
        close_order as close_order,
        labels_of as labels_of,
        needs_annotators as needs_annotators,
        read_rules as read_rules,
        readable as readable,
        used_column as used_column,
    )

    from .alpha import annotator_agreement as annotator_agreement
    from .comparing import (
        GROUP as GROUP,
        Comparisons as Comparisons,
        Dropped as Dropped,
        compare as compare,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
